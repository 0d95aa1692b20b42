//! A limit on the number of API servers at once.
//!
//! A server takes half a gigabyte of memory, some seconds of CPU time for its start, and some CPU time even without
//! requests. Without a limit, the machine becomes slower with each test that has its own server.

use std::sync::{Condvar, Mutex};

/// The maximum number of servers beside the shared one.
const SLOTS: usize = 2;

static TAKEN: Mutex<usize> = Mutex::new(0);
static FREED: Condvar = Condvar::new();

/// The permission to run an API server, until it is dropped. A test that waits for a second permission while it holds
/// the first may wait forever.
pub struct Slot(());

impl Slot {
    /// Waits until fewer servers than the maximum are running.
    pub fn wait() -> Slot {
        let taken = TAKEN.lock().expect("nobody panics with the lock");
        let mut taken = FREED
            .wait_while(taken, |taken| *taken >= SLOTS)
            .expect("nobody panics with the lock");
        *taken += 1;
        Slot(())
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        *TAKEN.lock().expect("nobody panics with the lock") -= 1;
        FREED.notify_one();
    }
}
