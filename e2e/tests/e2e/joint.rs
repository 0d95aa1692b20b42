//! What several tests use together and what has to end before the process of all tests does, such as an API server.

use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Something that the first test makes that needs it, and that ends with the last one that has it. A test that comes later makes
/// it anew.
pub struct Joint<T>(Mutex<Weak<T>>);

impl<T> Joint<T> {
    pub const fn new() -> Joint<T> {
        Joint(Mutex::new(Weak::new()))
    }

    /// What there is, or else what `make` makes while all others wait.
    pub fn get(&self, make: impl FnOnce() -> Option<T>) -> Option<Arc<T>> {
        // When a test panics while it makes one, the next test tries again.
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
