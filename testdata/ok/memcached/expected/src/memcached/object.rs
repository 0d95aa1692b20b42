//! What one object carries in memory, and where that comes from.

use std::sync::Arc;

use super::prelude::*;

/// The memory of one object, from handler to handler. A restart begins with a new one: what has to
/// last belongs into `.status`.
#[derive(Debug, Default)]
pub struct MemcachedState {}

impl ObjectState for MemcachedState {
    type Manifest = Memcached;
    type SharedState = SharedState;
}

/// Looks after the objects of this kind.
#[derive(Debug, Default)]
pub struct MemcachedOperator {
    shared: Arc<SharedState>,
}

impl Operator for MemcachedOperator {
    type Machine = MemcachedMachine;

    async fn initialize_object_state(&self, _object: &Memcached) -> Result<MemcachedState> {
        Ok(MemcachedState::default())
    }

    async fn shared_state(&self) -> Arc<SharedState> {
        Arc::clone(&self.shared)
    }
}
