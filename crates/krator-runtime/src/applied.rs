//! The children that the handlers of one object have applied and deleted. This record distinguishes the
//! operator's own writes from those of others, and a single correction of drift from contention with another
//! writer.
#![cfg_attr(
    not(feature = "kube"),
    allow(dead_code, reason = "nothing is applied in memory")
)]
use crate::{graph::Retry, lock::Lock as _};
use std::{
    any::TypeId,
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::time::Instant;

/// Identifies a child of an object: its kind, namespace and name.
pub(crate) type ChildKey = (&'static str, String, String);

/// The children that the handlers of one object have applied.
#[derive(Debug, Default)]
pub(crate) struct Applied {
    children: Mutex<HashMap<ChildKey, LastApply>>,
    /// The type, the namespace and the name of each child that the current run has applied, or has tried to.
    in_this_run: Mutex<HashSet<(TypeId, String, String)>>,
    /// Children that were deleted but may still be in the cache, with their last versions.
    deleted: Mutex<HashMap<Deleted, u64>>,
}

/// A child that a handler has deleted. Its name may belong to another object by now.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Deleted {
    pub child: ChildKey,
    pub uid: String,
}

/// The last apply of a child.
#[derive(Clone, Debug)]
pub(crate) struct LastApply {
    /// The hash of the applied body.
    pub hash: u64,
    /// The resource version of the answer.
    pub version: u64,
    /// The answer, packed as compressed text.
    pub answer: Arc<[u8]>,
    /// The number of consecutive applies that undid changes of another writer.
    corrections: u32,
    last_correction: Option<Instant>,
}

/// The number of prompt corrections of drift; further ones are contention, and are delayed.
const PROMPT_CORRECTIONS: u32 = 3;
/// Drift this long after the last correction counts as new, not as contention.
const CONTENTION_WINDOW: Duration = Duration::from_secs(60);

impl Applied {
    /// Returns `self` at the end of a run, unless no child is known. A request that the handler has spawned
    /// may still add a child after the run.
    pub fn unless_empty(self: Arc<Self>) -> Option<Arc<Self>> {
        let is_known = Arc::strong_count(&self) > 1
            || !self.children.locked().is_empty()
            || !self.deleted.locked().is_empty();
        is_known.then_some(self)
    }
    /// Begins a run of a handler. Runs of one object never overlap.
    pub fn begin_run(&self) {
        self.in_this_run.locked().clear();
    }
    /// Records that the current run applies a child; pruning then keeps it even after a failure.
    pub fn applies<K: 'static>(&self, namespace: &str, name: &str) {
        let child = (TypeId::of::<K>(), namespace.to_owned(), name.to_owned());
        self.in_this_run.locked().insert(child);
    }
    /// Whether the current run has applied a child, or has tried to.
    pub fn is_of_this_run<K: 'static>(&self, namespace: String, name: String) -> bool {
        self.in_this_run
            .locked()
            .contains(&(TypeId::of::<K>(), namespace, name))
    }
    /// The last apply of a child.
    pub fn last(&self, child: &ChildKey) -> Option<LastApply> {
        self.children.locked().get(child).cloned()
    }
    /// Records an apply. `corrected` means that the same body had been applied before, and another writer had
    /// changed the child since.
    pub fn record(&self, child: ChildKey, hash: u64, version: u64, answer: Arc<[u8]>, corrected: bool) {
        let mut children = self.children.locked();
        let former = children.get(&child);
        let (mut corrections, mut last_correction) =
            former.map_or((0, None), |former| (former.corrections, former.last_correction));
        if corrected {
            let is_new = last_correction.is_none_or(|last| last.elapsed() > CONTENTION_WINDOW);
            corrections = if is_new { 1 } else { corrections.saturating_add(1) };
            last_correction = Some(Instant::now());
        }
        let last = LastApply {
            hash,
            version,
            answer,
            corrections,
            last_correction,
        };
        children.insert(child, last);
    }
    pub fn forget(&self, child: &ChildKey) {
        self.children.locked().remove(child);
    }
    /// Records the deletion of this version of a child, before the request, whose answer may be lost.
    pub fn deletes(&self, deleted: Deleted, version: u64) {
        self.forget(&deleted.child);
        self.deleted.locked().insert(deleted, version);
    }
    pub fn forget_deleted(&self, deleted: &Deleted) {
        self.deleted.locked().remove(deleted);
    }
    /// The deleted children of a kind that may still be in the cache, sorted.
    pub fn deleted_of_kind(&self, kind: &str) -> Vec<(Deleted, u64)> {
        let deleted = self.deleted.locked();
        let of_kind = deleted.iter().filter(|(deleted, _)| deleted.child.0 == kind);
        let mut found: Vec<_> = of_kind
            .map(|(deleted, version)| (deleted.clone(), *version))
            .collect();
        found.sort();
        found
    }
    /// The applied children of a kind, and the resource versions of the answers.
    pub fn of_kind(&self, kind: &str) -> Vec<(ChildKey, u64)> {
        let of_kind =
            |(key, last): (&ChildKey, &LastApply)| (key.0 == kind).then(|| (key.clone(), last.version));
        let mut found: Vec<_> = self.children.locked().iter().filter_map(of_kind).collect();
        found.sort();
        found
    }
    /// The delay after which the object reacts to this version of a child. `None` if the version was applied
    /// here, or is older.
    pub fn reaction_delay(&self, child: &ChildKey, version: u64, random: u64) -> Option<Duration> {
        let Some(last) = self.last(child) else {
            return Some(Duration::ZERO);
        };
        if version <= last.version {
            return None;
        }
        let excess = last.corrections.saturating_sub(PROMPT_CORRECTIONS);
        if excess == 0 {
            return Some(Duration::ZERO);
        }
        let since = last.last_correction.map_or(Duration::MAX, |last| last.elapsed());
        Some(Retry::OF_REQUESTS.delay(excess, random).saturating_sub(since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn own_writes_cause_no_reaction_and_contention_slows_it_down() {
        let applied = Applied::default();
        let child: ChildKey = ("v1.ConfigMap", "default".to_owned(), "one".to_owned());
        let delay = |version: u64| applied.reaction_delay(&child, version, 0);
        assert_eq!(delay(1), Some(Duration::ZERO), "it was not applied here");
        applied.record(child.clone(), 7, 2, Arc::default(), false);
        assert_eq!(delay(2), None);
        assert_eq!(delay(3), Some(Duration::ZERO));
        for version in 3..7 {
            applied.record(child.clone(), 7, version, Arc::default(), true);
        }
        let slowed = delay(9).expect("somebody else has changed it");
        assert!(slowed > Duration::from_millis(100), "{slowed:?}");
        tokio::time::advance(CONTENTION_WINDOW + Duration::from_secs(1)).await;
        applied.record(child.clone(), 7, 9, Arc::default(), true);
        assert_eq!(delay(10), Some(Duration::ZERO));
    }
}
