//! Mutexes whose data stays usable when a thread has panicked while it held the lock: the runtime catches panics of handlers,
//! and no lock of the runtime is held while its data is half changed.
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) trait Lock<T> {
    /// Locks the mutex, also after a panic.
    fn locked(&self) -> MutexGuard<'_, T>;
}

impl<T> Lock<T> for Mutex<T> {
    fn locked(&self) -> MutexGuard<'_, T> {
        self.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
