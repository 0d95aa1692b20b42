//! The data that the operator keeps in memory for each object, and how it is created.

use std::sync::Arc;

use super::prelude::*;

/// Data of one object that its handlers share in memory, as `cx.object`. A restart of the operator
/// loses it, so keep what must last in `.status`.
#[derive(Debug, Default)]
pub struct GateMemory {}

impl ObjectState for GateMemory {
    type Manifest = Gate;
    type SharedState = SharedState;
}

/// The operator of this kind. It creates the data that its objects keep in memory.
#[derive(Debug, Default)]
pub struct GateOperator {
    shared: Arc<SharedState>,
}

impl Operator for GateOperator {
    type Machine = GateMachine;

    async fn initialize_object_state(&self, _object: &Gate) -> Result<GateMemory> {
        Ok(GateMemory::default())
    }

    async fn shared_state(&self) -> Arc<SharedState> {
        Arc::clone(&self.shared)
    }
}
