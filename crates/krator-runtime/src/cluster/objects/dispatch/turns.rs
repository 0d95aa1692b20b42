//! Objects whose turn it is to enter a state that limits count.
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
    /// Wakes the objects at rest whose turn it is: they may not have noticed. Metrics show the counts of now.
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

    /// An object no longer takes anything of the limits.
    pub(super) fn forget_places(&self, uid: &Uid) {
        if let Some(places) = &self.world.places {
            places.forget(uid);
        }
    }
}

/// Waits for objects whose turn it is.
pub(super) async fn served<O: Operator>(world: &Remote<O>) -> BTreeSet<Uid>
where
    ManifestOf<O::Machine>: KubeObject,
{
    match &world.places {
        Some(places) => places.served().await,
        None => std::future::pending().await,
    }
}
