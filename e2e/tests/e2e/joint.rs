//! Fixtures that several tests share and that have to end before the process of all tests does, such as an API server.

use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A value that the first test creates and that is dropped with its last user. Later tests create it again.
pub struct Joint<T>(Mutex<Weak<T>>);

impl<T> Joint<T> {
    pub const fn new() -> Joint<T> {
        Joint(Mutex::new(Weak::new()))
    }

    /// Returns the existing value, or calls `make` while all other tests wait.
    pub fn get(&self, make: impl FnOnce() -> Option<T>) -> Option<Arc<T>> {
        // A panic while a test creates the value poisons the lock, and the next test tries again.
        let mut there = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(there) = there.upgrade() {
            return Some(there);
        }
        let made = Arc::new(make()?);
        *there = Arc::downgrade(&made);
        Some(made)
    }
}

#[test]
fn what_is_used_together_ends_with_its_last_user_and_is_made_anew() {
    static JOINT: Joint<u8> = Joint::new();
    let first = JOINT.get(|| Some(1)).expect("it is made");
    let second = JOINT.get(|| unreachable!("there is one")).expect("there is one");
    let watched = Arc::downgrade(&first);
    drop(first);
    assert_eq!(watched.upgrade().as_deref(), Some(&1));
    drop(second);
    assert_eq!(watched.upgrade(), None);
    assert_eq!(JOINT.get(|| None), None);
    assert_eq!(JOINT.get(|| Some(2)).as_deref(), Some(&2));
}
