//! The interface between an actor and its environment: it reads and writes its object through a [`World`],
//! and is notified through a [`WorkQueue`].
use crate::{
    applied::ChildKey,
    engine::{Claim, Ended, Moved, Now},
    error::{Class, Error, Result},
    graph::{StateId, Watch},
    lock::Lock as _,
    machine::{Event, Machine, ManifestOf, Object, RelatedObject, SharedOf, StatusOf},
    poll_times::{PollTimes, Slow},
    status::Condition,
};
use std::{
    any::Any,
    future::Future,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{sync::Notify, time::Instant};

/// The environment of an actor. One implementation talks to an API server, another one keeps a single object in memory.
pub(crate) trait World<M: Machine>: Send + Sync {
    /// The current time.
    fn now(&self) -> Now;
    /// The instant at which [`Now::elapsed`] is this much, for timers to wait for.
    fn instant(&self, elapsed: Duration) -> Instant;
    /// The state that all objects of the kind share.
    fn shared(&self) -> &Arc<SharedOf<M>>;
    /// Whether this process may act. It must not while another replica leads.
    fn may_act(&self) -> bool {
        true
    }
    /// Makes the memory of an object before its first run in this process.
    fn initialize(&self, manifest: &ManifestOf<M>) -> impl Future<Output = Result<M::ObjectState>> + Send;
    /// Finds what a handler may read of objects of other kinds that concern this one, before it runs.
    ///
    /// # Errors
    ///
    /// If the API server refuses a read or does not answer. It is handled like an error of the handler.
    fn find(&self, _: &ManifestOf<M>) -> impl Future<Output = Result<Vec<RelatedObject>>> + Send {
        std::future::ready(Ok(Vec::new()))
    }
    /// Replaces the status of this version of the object, and returns the object as stored then.
    fn write_status(&self, manifest: &ManifestOf<M>, status: &StatusOf<M>) -> impl Written<M>;
    /// A number that changes when the server may keep other fields of a status than before.
    fn schema_epoch(&self) -> u64 {
        0
    }
    /// Reports that the server has pruned a written status.
    fn pruned(&self, _: &ManifestOf<M>) {}
    /// Sets one condition of this version of the object and nothing else, beside what the other writes have set, and returns
    /// the object as stored then. The next status that is written takes the condition over.
    fn write_condition(&self, manifest: &ManifestOf<M>, condition: &Condition) -> impl Written<M>;
    /// Adds the finalizer to this version of the object, or removes it, and returns the object as stored then.
    fn set_finalizer(&self, manifest: &ManifestOf<M>, finalizer: &str, present: bool) -> impl Written<M>;
    /// Ends the children that outlive the deletion path: deletes those that go last, and releases those that stay. The
    /// object keeps its finalizer until this has succeeded, so it may be called again.
    ///
    /// # Errors
    ///
    /// If a request fails. What was done until then stays done.
    fn end_children(&self, _: &ManifestOf<M>) -> impl Future<Output = Result<()>> + Send {
        std::future::ready(Ok(()))
    }
    /// Deletes this object, but not a later one of the same name.
    fn delete(&self, manifest: &ManifestOf<M>) -> impl Future<Output = Result<(), WriteError>> + Send;
    /// Reads the object as stored now; `None` if it is gone.
    fn read(
        &self,
        manifest: &ManifestOf<M>,
    ) -> impl Future<Output = Result<Option<Arc<ManifestOf<M>>>>> + Send;
    /// The kind of the objects, for the log.
    fn kind(&self) -> &str;
    /// Takes notice of what an object takes of the limits of its kind, and returns whether they have places for it in the state that
    /// it asks for. `is_unsure` says that a write of its entry may have happened.
    fn claim(&self, manifest: &ManifestOf<M>, claim: Claim, is_unsure: bool) -> bool;
    /// Takes notice of an entry into a state. Each is reported once: when it is stored, or with the next one that is, if
    /// its state has no checkpoint. An entry that was undone before it was stored is not reported.
    fn moved(&self, manifest: &ManifestOf<M>, moved: &Moved<'_>);
    /// Reports a measurement for an objective that has ended without an entry into a state.
    fn measured(&self, _: Ended) {}
    /// Takes notice of a run of a handler that has ended, or could not begin. `took` says how long the handler ran; `None` if
    /// it did not.
    fn ran(&self, state: StateId, took: Option<Duration>, end: RunEnd) {
        let _ = (state, took, end);
    }
    /// How the handlers of a state are polled; `None` if it does not matter how long they take.
    fn poll_times(&self, _: StateId) -> Option<&Arc<PollTimes>> {
        None
    }
    /// Reports a slow poll of a handler.
    fn polled(&self, _: StateId, _: Slow, _: Duration) {}
    /// Records an event about the object; best effort.
    fn publish(&self, manifest: &ManifestOf<M>, event: Event);
    /// The backend for access to objects of other kinds; see [`Context`](crate::Context).
    fn backend(&self) -> &(dyn Any + Send + Sync);
}

/// How a run ended.
#[cfg_attr(
    not(feature = "kube"),
    allow(dead_code, reason = "only a cluster counts errors")
)]
pub(crate) enum RunEnd {
    Done,
    Failed(Class),
    /// The handler was dropped: by a deletion, a timeout, another operator, or the end of the process.
    Interrupted,
}

/// A write in progress. It resolves to the object as stored afterwards.
pub(crate) trait Written<M: Machine>:
    Future<Output = Result<Arc<ManifestOf<M>>, WriteError>> + Send
{
}
impl<M: Machine, F: Future<Output = Result<Arc<ManifestOf<M>>, WriteError>> + Send> Written<M> for F {}

/// Why a write failed.
#[derive(Debug)]
#[cfg_attr(
    not(feature = "kube"),
    allow(dead_code, reason = "a world in memory rejects nothing")
)]
pub(crate) enum WriteError {
    /// Another version of the object is stored by now.
    Conflict,
    /// The object no longer exists.
    Gone,
    /// The API server rejects what was to be written.
    Invalid(Error),
    /// Anything else; the write may have happened.
    Other(Error),
}

/// A change of another object that states may wait for.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    /// The names of the object in `wait.watch`.
    pub names: Vec<Watch>,
    /// If the object is a child: which one, and its new version.
    pub child: Option<(ChildKey, u64)>,
}

/// A version of the object that was observed. It is decoded lazily, because most observations are echoes of the
/// operator's own writes, which are dropped by their version.
pub(crate) struct ObservedObject<T> {
    pub version: u64,
    decode: Box<dyn FnOnce() -> Option<Arc<T>> + Send>,
}

impl<T> ObservedObject<T> {
    pub fn new(version: u64, decode: impl FnOnce() -> Option<Arc<T>> + Send + 'static) -> Self {
        Self {
            version,
            decode: Box::new(decode),
        }
    }
    /// The object; `None` if it could not be decoded, which has been reported then.
    pub fn decode(self) -> Option<Arc<T>> {
        (self.decode)()
    }
}

impl<T: Object> From<Arc<T>> for ObservedObject<T> {
    fn from(object: Arc<T>) -> Self {
        Self::new(object.version(), move || Some(object))
    }
}

/// The queue of an actor, for what is observed while its handler runs.
pub(crate) struct WorkQueue<T> {
    queued: Mutex<Queued<T>>,
    arrived: Notify,
}

/// Observations that an actor has not handled yet.
pub(crate) struct Queued<T> {
    /// The latest version of the object.
    pub object: Option<ObservedObject<T>>,
    /// The number of the latest version that was observed. It stays when the observations are taken.
    #[cfg(feature = "kube")]
    pub observed: u64,
    pub changes: Vec<Change>,
    /// The object no longer exists.
    pub gone: bool,
    /// The process is about to end, so no further run may start.
    pub stop: bool,
    /// The limits have places for the object in the state that it asks for.
    #[cfg(feature = "kube")]
    pub has_turn: bool,
    /// The state to which somebody at the page leads the object, if its handler is not written.
    #[cfg(feature = "dev")]
    pub by_hand: Option<StateId>,
}

#[cfg(feature = "kube")]
impl<T> Queued<T> {
    /// Whether this only repeats the given version of the object, or an earlier one.
    pub fn is_old(&self, version: u64) -> bool {
        let object = self.object.as_ref();
        object.is_some_and(|observed| observed.version <= version) && self.has_no_more()
    }
    /// Whether nothing was observed.
    pub fn is_empty(&self) -> bool {
        self.object.is_none() && self.has_no_more()
    }
    /// Whether the version of the object is the only content.
    fn has_no_more(&self) -> bool {
        #[cfg(feature = "dev")]
        if self.by_hand.is_some() {
            return false;
        }
        self.changes.is_empty() && !self.gone && !self.has_turn
    }
}

impl<T> Default for Queued<T> {
    fn default() -> Self {
        Self {
            object: None,
            #[cfg(feature = "kube")]
            observed: 0,
            changes: Vec::new(),
            gone: false,
            stop: false,
            #[cfg(feature = "kube")]
            has_turn: false,
            #[cfg(feature = "dev")]
            by_hand: None,
        }
    }
}

impl<T> Default for WorkQueue<T> {
    fn default() -> Self {
        Self {
            queued: Mutex::default(),
            arrived: Notify::new(),
        }
    }
}

impl<T> WorkQueue<T> {
    /// Adds to the observations and wakes the task that waits for them.
    pub fn push(&self, write: impl FnOnce(&mut Queued<T>)) {
        write(&mut self.queued.locked());
        self.arrived.notify_one();
    }
    /// Takes the observations. The values of `stop` and `observed` stay.
    pub fn take(&self) -> Queued<T> {
        let mut queued = self.queued.locked();
        let left = Queued {
            stop: queued.stop,
            #[cfg(feature = "kube")]
            observed: queued.observed,
            ..Queued::default()
        };
        std::mem::replace(&mut *queued, left)
    }
    /// Waits until this version of the object, or a later one, was observed.
    #[cfg(feature = "kube")]
    pub async fn observed(&self, version: u64) {
        while self.queued.locked().observed < version {
            self.arrived().await;
        }
    }
    /// Waits for observations.
    pub async fn arrived(&self) {
        self.arrived.notified().await;
    }
}

#[cfg(all(test, feature = "kube"))]
mod tests {
    use super::*;
    use futures::FutureExt as _;

    #[test]
    fn a_version_is_waited_for_until_it_or_a_later_one_was_observed() {
        let queue = WorkQueue::<()>::default();
        let has_seen = |version| queue.observed(version).now_or_never().is_some();
        let observe = |version| queue.push(|queued| queued.observed = version);
        assert!(has_seen(0));
        observe(7);
        assert!(has_seen(7) && !has_seen(8));
        queue.take();
        assert!(has_seen(7), "it stays when the observations are taken");
        observe(9);
        assert!(has_seen(8));
    }
}
