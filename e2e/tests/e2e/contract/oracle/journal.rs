//! The writes to each object, without the parts that differ from run to run: times, versions and entries.

use super::{Oracle, View};
use std::collections::BTreeMap;

/// The writes to each object, by its kind and name.
pub type Journal = BTreeMap<String, Vec<String>>;

impl Oracle {
    /// The writes to each object.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Records a write, if the recorded parts have changed.
    pub(super) fn note(&mut self, before: View, now: View, is_gone: bool) {
        let written = |object: View| {
            let held = if object.has_finalizer(&self.finalizer) {
                "held"
            } else {
                "free"
            };
            let deleted = if object.is_deleted() { " deleted" } else { "" };
            format!(
                "{held}{deleted} {} attempts {} generation {} observed {}",
                object.text("/status/state"),
                object.attempts(),
                object.generation(),
                object.observed(),
            )
        };
        let line = if is_gone { "gone".to_owned() } else { written(now) };
        if is_gone || before.0.is_null() || line != written(before) {
            let key = format!("{} {}", self.kind.resource.kind.as_str(), now.name());
            self.journal.entry(key).or_default().push(line);
        }
    }
}
