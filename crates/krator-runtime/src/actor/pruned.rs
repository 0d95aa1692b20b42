//! Status fields that the server prunes. If the CRD in the cluster is older than the operator, fields are dropped
//! from each write, so a comparison with the stored status would always differ and cause endless writes.
use super::{Actor, Step, writes::with_machine};
use crate::{
    machine::{Machine, ManifestOf, Object as _, StatusOf},
    status::ObjectStatus as _,
    world::World,
};
use std::sync::Arc;

/// A written status of which the server has pruned fields.
pub(super) struct Pruned<S> {
    status: S,
    /// [`World::schema_epoch`] at the write. If it has changed, the server may keep more fields.
    pub epoch: u64,
}

impl<M: Machine> Actor<'_, M> {
    /// The status to compare the next one with: the last written one, as long as the stored status is the
    /// server's answer to that write.
    pub(super) fn known_status(&self) -> Option<&StatusOf<M>> {
        let pruned = self.pruned.as_ref().map(|pruned| &pruned.status);
        pruned.or_else(|| self.manifest.status())
    }

    /// Forgets the written status if another client has changed the stored one.
    pub(super) fn forget_pruned(&mut self, observed: &ManifestOf<M>) {
        if self.pruned.is_some() && observed.status() != self.manifest.status() {
            self.pruned = None;
        }
    }

    /// Processes the answer to a write of this status.
    pub(super) fn wrote<W: World<M>>(
        &mut self,
        status: StatusOf<M>,
        stored: Arc<ManifestOf<M>>,
        world: &W,
    ) -> Step {
        let is_whole = self.is_whole(&status, &stored);
        let was_whole = self.pruned.is_none();
        self.absorb_own(stored);
        self.pruned = (!is_whole).then(|| {
            let epoch = world.schema_epoch();
            Box::new(Pruned { status, epoch })
        });
        if was_whole && !is_whole {
            world.pruned(&self.manifest);
        }
        Step::Again
    }

    /// Whether the whole status is stored. Conditions of other clients are ignored.
    fn is_whole(&self, status: &StatusOf<M>, stored: &ManifestOf<M>) -> bool {
        stored.status().is_some_and(|stored| {
            stored == status
                || status
                    .machine()
                    .is_in(stored.machine(), |kind| self.graph().sets_condition(kind))
                    && with_machine(status.clone(), stored.machine().clone()) == *stored
        })
    }
}
