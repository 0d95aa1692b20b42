//! Objects to which limits have granted places.
use super::{Dispatcher, Life};
use crate::{
    cluster::{
        objects::remote::Remote,
        related::{links::Linked, watch_index::Uid},
    },
    machine::ManifestOf,
    operator::Operator,
    resource::KubeObject,
};
use std::collections::BTreeSet;

impl<O: Operator<Machine: Linked>> Dispatcher<O>
where
    ManifestOf<O::Machine>: KubeObject,
{
    /// Wakes objects at rest that were granted places, and updates the metrics.
    pub(super) fn take_turns(&mut self) {
        let Some(places) = &self.world.places else {
            return;
        };
        self.world.metrics.limited(&places.counts());
        for uid in places.turns() {
            if matches!(
                self.slots.get(&uid).map(|slot| &slot.life),
                Some(Life::Resting { .. })
            ) {
                self.notify(&uid, |queued| queued.has_turn = true);
            }
        }
    }

    /// Releases all places of an object.
    pub(super) fn forget_places(&self, uid: &Uid) {
        if let Some(places) = &self.world.places {
            places.forget(uid);
        }
    }
}

/// Waits for objects that were granted places.
pub(super) async fn served<O: Operator>(world: &Remote<O>) -> BTreeSet<Uid>
where
    ManifestOf<O::Machine>: KubeObject,
{
    match &world.places {
        Some(places) => places.served().await,
        None => std::future::pending().await,
    }
}
