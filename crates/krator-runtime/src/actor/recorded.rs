//! Remembers the events of an entry, so that a repeated run does not record them again.
use crate::{lock::Lock as _, machine::Event, status::EntryId};
use std::{
    collections::VecDeque,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::Mutex,
};

/// How many different events of an entry are remembered. A handler whose notes contain a counter records
/// more, and then an early event may be recorded again.
const REMEMBERED: usize = 32;

/// Hashes of the events of one entry. Hashes are enough, because events are best effort, and save memory.
#[derive(Debug, Default)]
pub(super) struct RecordedEvents(Mutex<(Option<EntryId>, VecDeque<u64>)>);

impl RecordedEvents {
    /// Returns `self` unless no event is remembered.
    pub fn unless_empty(self: Box<Self>) -> Option<Box<Self>> {
        let is_empty = self.0.locked().1.is_empty();
        (!is_empty).then_some(self)
    }

    /// Prepares for a run of a handler in this entry.
    pub fn begin(&self, entry: EntryId) {
        let mut recorded = self.0.locked();
        if recorded.0 != Some(entry) {
            *recorded = (Some(entry), VecDeque::new());
        }
    }

    /// Whether the event is new in this entry. It is remembered from now on.
    pub fn is_new(&self, event: &Event) -> bool {
        let mut hasher = DefaultHasher::new();
        event.hash(&mut hasher);
        let hash = hasher.finish();
        let known = &mut self.0.locked().1;
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
        let recorded = RecordedEvents::default();
        let event = |note: &str| Event::warning("Seen", note);
        recorded.begin(EntryId::new(1));
        assert!(recorded.is_new(&event("one")));
        assert!(!recorded.is_new(&event("one")));
        assert!(recorded.is_new(&event("two")));
        recorded.begin(EntryId::new(1));
        assert!(!recorded.is_new(&event("two")));
        recorded.begin(EntryId::new(2));
        assert!(recorded.is_new(&event("one")));
    }

    #[test]
    fn a_handler_that_counts_takes_no_more_memory_than_others() {
        let recorded = RecordedEvents::default();
        recorded.begin(EntryId::new(1));
        for count in 0..1000 {
            assert!(recorded.is_new(&Event::warning("Counted", count.to_string())));
        }
        assert_eq!(recorded.0.locked().1.len(), REMEMBERED);
    }
}
