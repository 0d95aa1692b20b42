//! Which events a handler has recorded, so that the same event again during one entry is one event.
use crate::{machine::Event, status::EntryId};
use std::{
    collections::VecDeque,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::{Mutex, MutexGuard, PoisonError},
};

/// How many different events of one entry are remembered. A handler that counts in its notes records more than that, and
/// then a repetition of an early one is recorded again.
const REMEMBERED: usize = 32;

/// The events of one entry, by their hashes: events are best effort, and objects are many.
#[derive(Debug, Default)]
pub(super) struct Told(Mutex<(Option<EntryId>, VecDeque<u64>)>);

impl Told {
    fn locked(&self) -> MutexGuard<'_, (Option<EntryId>, VecDeque<u64>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same, unless there is no event to remember.
    pub fn unless_empty(self: Box<Self>) -> Option<Box<Self>> {
        let is_empty = self.locked().1.is_empty();
        (!is_empty).then_some(self)
    }

    /// A handler is about to run in this entry.
    pub fn begin(&self, entry: EntryId) {
        let mut told = self.locked();
        if told.0 != Some(entry) {
            *told = (Some(entry), VecDeque::new());
        }
    }

    /// Whether the event was not recorded before in this entry. It counts as recorded from now on.
    pub fn is_new(&self, event: &Event) -> bool {
        let mut hasher = DefaultHasher::new();
        event.hash(&mut hasher);
        let hash = hasher.finish();
        let known = &mut self.locked().1;
        if known.contains(&hash) {
            return false;
        }
        if known.len() == REMEMBERED {
            known.pop_front();
        }
        known.push_back(hash);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_event_is_new_once_in_each_entry() {
        let told = Told::default();
        let event = |note: &str| Event::warning("Seen", note);
        told.begin(EntryId::new(1));
        assert!(told.is_new(&event("one")));
        assert!(!told.is_new(&event("one")));
        assert!(told.is_new(&event("two")));
        told.begin(EntryId::new(1));
        assert!(!told.is_new(&event("two")));
        told.begin(EntryId::new(2));
        assert!(told.is_new(&event("one")));
    }

    #[test]
    fn a_handler_that_counts_takes_no_more_memory_than_others() {
        let told = Told::default();
        told.begin(EntryId::new(1));
        for count in 0..1000 {
            assert!(told.is_new(&Event::warning("Counted", count.to_string())));
        }
        assert_eq!(told.locked().1.len(), REMEMBERED);
    }
}
