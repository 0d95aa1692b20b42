//! What one object carries in memory, and where that comes from.

use std::sync::Arc;

use super::prelude::*;

/// The memory of one object, from handler to handler. A restart begins with a new one: what has to
/// last belongs into `.status`.
#[derive(Debug, Default)]
pub struct BackupState {}

impl ObjectState for BackupState {
    type Manifest = Backup;
    type SharedState = SharedState;
}

/// Looks after the objects of this kind.
#[derive(Debug, Default)]
pub struct BackupOperator {
    shared: Arc<SharedState>,
}

impl Operator for BackupOperator {
    type Machine = BackupMachine;

    async fn initialize_object_state(&self, _object: &Backup) -> Result<BackupState> {
        Ok(BackupState::default())
    }

    async fn shared_state(&self) -> Arc<SharedState> {
        Arc::clone(&self.shared)
    }
}
