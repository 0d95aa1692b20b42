//! What handlers have applied: by it, the operator's own writes are told from others', and a quarrel over a child
//! from drift that is mended once.
#![cfg_attr(
    not(feature = "kube"),
    allow(dead_code, reason = "nothing is applied in memory")
)]
use crate::world::{Change, request_backoff};
use std::{
    any::Any,
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// A child of an object: kind, namespace and name.
pub(crate) type ChildKey = (&'static str, String, String);

/// What an object's handlers have applied: by it, own writes are told from others'.
#[derive(Debug, Default)]
pub(crate) struct Applied(Mutex<HashMap<ChildKey, Last>>);

/// The last time that a child was applied.
#[derive(Clone, Debug)]
pub(crate) struct Last {
    /// Of what was applied.
    pub hash: u64,
    /// The version that it was answered with, and the whole answer.
    pub version: u64,
    pub answer: Arc<dyn Any + Send + Sync>,
    /// Times in a row that it made something undone that somebody else had made of the child, and the last of them.
    mends: u32,
    mended: Option<Instant>,
}

/// So many times drift is mended at once; then whoever undoes it is met more and more slowly.
const PROMPT_MENDS: u32 = 3;
/// Drift after so long a time is not the same quarrel.
const QUARREL: Duration = Duration::from_secs(60);

impl Applied {
    /// What was applied last.
    pub fn last(&self, child: &ChildKey) -> Option<Last> {
        self.locked().get(child).cloned()
    }
    /// Something was applied and answered; `mended`: it was applied before, and somebody had changed it.
    pub fn record(
        &self,
        child: ChildKey,
        hash: u64,
        version: u64,
        answer: Arc<dyn Any + Send + Sync>,
        mended: bool,
    ) {
        let mut children = self.locked();
        let former = children.get(&child);
        let (mut mends, mut last) = former.map_or((0, None), |former| (former.mends, former.mended));
        if mended {
            let is_new = last.is_none_or(|last| last.elapsed() > QUARREL);
            mends = if is_new { 1 } else { mends.saturating_add(1) };
            last = Some(Instant::now());
        }
        let last = Last {
            hash,
            version,
            answer,
            mends,
            mended: last,
        };
        children.insert(child, last);
    }
    pub fn forget(&self, child: &ChildKey) {
        self.locked().remove(child);
    }
    /// What was applied of a kind, and the versions that it was answered with.
    pub fn of_kind(&self, kind: &str) -> Vec<(ChildKey, u64)> {
        let of_kind = |(key, last): (&ChildKey, &Last)| (key.0 == kind).then(|| (key.clone(), last.version));
        let mut found: Vec<_> = self.locked().iter().filter_map(of_kind).collect();
        found.sort();
        found
    }
    /// After which time a change is to be noticed; `None` when it is one of our own, or older.
    pub fn notice(&self, change: &Change, random: u64) -> Option<Duration> {
        let last = change.child.as_ref().and_then(|(child, version)| {
            let last = self.last(child)?;
            let is_own = *version <= last.version;
            Some((last, is_own))
        });
        match last {
            Some((_, true)) => None,
            Some((last, false)) if last.mends > PROMPT_MENDS => {
                let since = last.mended.map_or(Duration::MAX, |last| last.elapsed());
                Some(request_backoff(last.mends - PROMPT_MENDS, random).saturating_sub(since))
            }
            _ => Some(Duration::ZERO),
        }
    }
    fn locked(&self) -> std::sync::MutexGuard<'_, HashMap<ChildKey, Last>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Watch;

    #[tokio::test(start_paused = true)]
    async fn own_writes_are_not_noticed_and_a_quarrel_slows_down() {
        let applied = Applied::default();
        let child: ChildKey = ("v1.ConfigMap", "default".to_owned(), "one".to_owned());
        let noticed = |version: u64| {
            let change = Change {
                names: vec![Watch::Owned],
                child: Some((child.clone(), version)),
            };
            applied.notice(&change, 0)
        };
        assert_eq!(noticed(1), Some(Duration::ZERO), "nobody applied it here");
        applied.record(child.clone(), 7, 2, Arc::new(()), false);
        assert_eq!(noticed(2), None);
        assert_eq!(noticed(3), Some(Duration::ZERO));
        for version in 3..7 {
            applied.record(child.clone(), 7, version, Arc::new(()), true);
        }
        let slowed = noticed(9).expect("it drifted");
        assert!(slowed > Duration::from_millis(100), "{slowed:?}");
        tokio::time::advance(QUARREL + Duration::from_secs(1)).await;
        applied.record(child.clone(), 7, 9, Arc::new(()), true);
        assert_eq!(noticed(10), Some(Duration::ZERO));
    }
}
