//! Fields of a status that the server prunes. Where the schema of the objects is older than the operator, fields are
//! dropped from each write: compared with what is stored, the status would differ for ever and be written again and again.
use super::{Actor, Step, writes::with_machine};
use crate::{
    machine::{Machine, ManifestOf, Object as _, StatusOf},
    status::ObjectStatus as _,
    world::World,
};
use std::sync::Arc;

/// A status that the server has pruned.
pub(super) struct Pruned<S> {
    status: S,
    /// [`World::schema_epoch`] when it was written. With another one, the server may keep more.
    pub epoch: u64,
}

impl<M: Machine> Actor<'_, M> {
    /// The status that is compared with what is to be written: the one that was written last, as long as what is stored is the
    /// server's answer to that.
    pub(super) fn known_status(&self) -> Option<&StatusOf<M>> {
        let pruned = self.pruned.as_ref().map(|pruned| &pruned.status);
        pruned.or_else(|| self.manifest.status())
    }

    /// Somebody may have changed the status, so what was written is no longer what is stored, as far as it is kept.
    pub(super) fn forget_pruned(&mut self, observed: &ManifestOf<M>) {
        if self.pruned.is_some() && observed.status() != self.manifest.status() {
            self.pruned = None;
        }
    }

    /// Takes notice of the answer to a write of this status.
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

    /// Whether all of a status is stored. Conditions of others may stand beside it.
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
