//! What one object carries in memory, and where that comes from.

use std::sync::Arc;

use super::prelude::*;

/// The memory of one object, from handler to handler. A restart begins with a new one: what has to
/// last belongs into `.status`.
#[derive(Debug, Default)]
pub struct GateState {}

impl ObjectState for GateState {
    type Manifest = Gate;
    type SharedState = SharedState;
}

/// Looks after the objects of this kind.
#[derive(Debug, Default)]
pub struct GateOperator {
    shared: Arc<SharedState>,
}

impl Operator for GateOperator {
    type Machine = GateMachine;

    async fn initialize_object_state(&self, _object: &Gate) -> Result<GateState> {
        Ok(GateState::default())
    }

    async fn shared_state(&self) -> Arc<SharedState> {
        Arc::clone(&self.shared)
    }
}
