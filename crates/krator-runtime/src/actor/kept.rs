//! Fields of a status that the server does not keep. Where the schema of the objects is older than the operator, fields are
//! dropped from each write: compared with what is stored, the status would differ for ever and be written again and again.
use super::{Actor, Step, writes::with_machine};
use crate::{
    machine::{Machine, ManifestOf, Object as _, StatusOf},
    status::ObjectStatus as _,
    world::World,
};
use std::sync::Arc;

/// A status of which the server keeps only a part.
pub(super) struct Unkept<S> {
    status: S,
    /// [`World::schema_epoch`] when it was written. With another one, the server may keep more.
    pub epoch: u64,
}

impl<M: Machine> Actor<'_, M> {
    /// The status that is compared with what is to be written: the one that was written last, as long as what is stored is the
    /// server's answer to that.
    pub(super) fn known_status(&self) -> Option<&StatusOf<M>> {
        let unkept = self.unkept.as_ref().map(|unkept| &unkept.status);
        unkept.or_else(|| self.manifest.status())
    }

    /// Somebody may have changed the status, so what was written is no longer what is stored, as far as it is kept.
    pub(super) fn forget_unkept(&mut self, observed: &ManifestOf<M>) {
        if self.unkept.is_some() && observed.status() != self.manifest.status() {
            self.unkept = None;
        }
    }

    /// Takes notice of the answer to a write of this status.
    pub(super) fn wrote<W: World<M>>(
        &mut self,
        status: StatusOf<M>,
        stored: Arc<ManifestOf<M>>,
        world: &W,
    ) -> Step {
        let is_kept = self.is_kept(&status, &stored);
        let was_kept = self.unkept.is_none();
        self.absorb_own(stored);
        self.unkept = (!is_kept).then(|| {
            let epoch = world.schema_epoch();
            Box::new(Unkept { status, epoch })
        });
        if was_kept && !is_kept {
            world.unkept(&self.manifest);
        }
        Step::Again
    }

    /// Whether all of a status is stored. Conditions of others may stand beside it.
    fn is_kept(&self, status: &StatusOf<M>, stored: &ManifestOf<M>) -> bool {
        stored.status().is_some_and(|stored| {
            stored == status
                || status
                    .machine()
                    .is_in(stored.machine(), |kind| self.graph().sets_condition(kind))
                    && with_machine(status.clone(), stored.machine().clone()) == *stored
        })
    }
}
