//! What one Moose carries in memory.

use std::sync::Arc;

use super::prelude::*;

/// The memory of one object.
#[derive(Debug, Default)]
pub struct MooseMemory {
    pub moose: Vec<Moose>,
}

impl ObjectState for MooseMemory {
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

    async fn initialize_object_state(&self, _object: &Moose) -> Result<MooseMemory> {
        Ok(MooseMemory::default())
    }

    async fn shared_state(&self) -> Arc<SharedState> {
        Arc::clone(&self.shared)
    }
}
