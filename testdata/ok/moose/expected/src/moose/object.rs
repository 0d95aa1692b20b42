//! What one object carries in memory, and where that comes from.

use std::sync::Arc;

use super::prelude::*;

/// The memory of one object, from handler to handler. A restart begins with a new one: what has to
/// last belongs into `.status`.
#[derive(Debug, Default)]
pub struct MooseState {}

impl ObjectState for MooseState {
    type Manifest = Moose;
    type SharedState = SharedState;
}

/// Looks after the objects of this kind.
#[derive(Debug, Default)]
pub struct MooseOperator {
    shared: Arc<SharedState>,
}

impl Operator for MooseOperator {
    type Machine = MooseMachine;

    async fn initialize_object_state(&self, _object: &Moose) -> Result<MooseState> {
        Ok(MooseState::default())
    }

    async fn shared_state(&self) -> Arc<SharedState> {
        Arc::clone(&self.shared)
    }
}
