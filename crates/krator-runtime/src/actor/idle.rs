//! Reads of an actor that work in every form of its object: the object of an actor at rest is packed.
use super::Actor;
use crate::machine::Machine;
#[cfg(feature = "kube")]
use crate::{engine::Now, graph::StateId};
#[cfg(feature = "kube")]
use jiff::Timestamp;

impl<'g, M: Machine, K> Actor<'g, M, K> {
    pub fn manifest(&self) -> &K {
        &self.manifest
    }

    /// The number of the state; `None` if the machine does not know the stored state.
    #[cfg(feature = "kube")]
    pub fn at(&self) -> Option<StateId> {
        self.engine.at()
    }

    /// The number of the state and when the object entered it; `None` if the object is paused or the machine does not know the
    /// stored state.
    #[cfg(feature = "kube")]
    pub fn since(&self) -> Option<(StateId, Timestamp)> {
        let at = self.engine.at().filter(|_| !self.annotations.paused)?;
        Some((at, self.engine.entered_at()))
    }

    /// The state whose gate the object waits for.
    #[cfg(feature = "kube")]
    pub fn waits_for(&self, now: Now) -> Option<StateId> {
        self.engine.asks(now).map(|(to, _)| to)
    }

    /// The same actor with its object in another form.
    #[cfg(feature = "kube")]
    pub fn keep<L>(self, manifest: L) -> Actor<'g, M, L> {
        Actor {
            manifest,
            engine: self.engine,
            retained: self.retained,
            draft: self.draft,
            before_draft: self.before_draft,
            pruned: self.pruned,
            failures: self.failures,
            annotations: self.annotations,
            pause: self.pause,
            moved: self.moved,
            dropped: self.dropped,
            kept_finalizer: self.kept_finalizer,
            parked: self.parked,
            must_step: self.must_step,
            unjudged: self.unjudged,
            found: self.found,
        }
    }
}
