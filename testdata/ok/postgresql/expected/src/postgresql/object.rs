//! What one object carries in memory, and where that comes from.

use std::sync::Arc;

use super::prelude::*;

/// The memory of one object, from handler to handler. A restart begins with a new one: what has to
/// last belongs into `.status`.
#[derive(Debug, Default)]
pub struct PostgresqlState {}

impl ObjectState for PostgresqlState {
    type Manifest = Postgresql;
    type SharedState = SharedState;
}

/// Looks after the objects of this kind.
#[derive(Debug, Default)]
pub struct PostgresqlOperator {
    shared: Arc<SharedState>,
}

impl Operator for PostgresqlOperator {
    type Machine = PostgresqlMachine;

    async fn initialize_object_state(&self, _object: &Postgresql) -> Result<PostgresqlState> {
        Ok(PostgresqlState::default())
    }

    async fn shared_state(&self) -> Arc<SharedState> {
        Arc::clone(&self.shared)
    }
}
