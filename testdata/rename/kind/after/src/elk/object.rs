//! What one Moose carries in memory.

use std::sync::Arc;

use super::prelude::*;

/// The memory of one object.
#[derive(Debug, Default)]
pub struct ElkMemory {
    pub moose: Vec<Elk>,
}

impl ObjectState for ElkMemory {
    type Manifest = Elk;
    type SharedState = SharedState;
}

/// Looks after the objects of this kind.
#[derive(Debug, Default)]
pub struct ElkOperator {
    shared: Arc<SharedState>,
}

impl Operator for ElkOperator {
    type Machine = ElkMachine;

    async fn initialize_object_state(&self, _object: &Elk) -> Result<ElkMemory> {
        Ok(ElkMemory::default())
    }

    async fn shared_state(&self) -> Arc<SharedState> {
        Arc::clone(&self.shared)
    }
}
