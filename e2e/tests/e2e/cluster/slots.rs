//! How many API servers run at once.
//!
//! One takes half a gigabyte of memory and some seconds of a processor for its start, and it works even when nobody asks it
//! anything. With a server for each test that wants its own, the later a test ran, the slower the machine was.

use std::sync::{Condvar, Mutex};

/// How many servers there are beside the one that tests share.
const SLOTS: usize = 2;

static TAKEN: Mutex<usize> = Mutex::new(0);
static FREED: Condvar = Condvar::new();

/// The permission to run an API server, until it is dropped. A test that waits for a second one while it has the first may wait
/// forever.
pub struct Slot(());

impl Slot {
    /// Waits for the end of another server if there are too many.
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
