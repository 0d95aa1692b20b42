//! What an operator adds to its machine.
use crate::{Machine, ManifestOf, Result, SharedOf};
use std::{future::Future, sync::Arc};

/// An operator of one kind: where the memory of its objects comes from. Yours.
pub trait Operator: Sized + Send + Sync + 'static {
    /// The machine that its objects go through.
    type Machine: Machine;

    /// The memory of a new object, or of one met after a restart. Called before the object's first run in this
    /// process; an error is handled as one of the handler that was to run.
    fn initialize_object_state(
        &self,
        manifest: &ManifestOf<Self::Machine>,
    ) -> impl Future<Output = Result<<Self::Machine as Machine>::ObjectState>> + Send;

    /// What all objects share. Called once.
    fn shared_state(&self) -> impl Future<Output = Arc<SharedOf<Self::Machine>>> + Send;
}
