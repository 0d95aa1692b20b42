//! The data that the operator keeps in memory for each object, and how it is created.

use std::sync::Arc;

use super::prelude::*;

/// Data of one object that its handlers share in memory, as `cx.object`. A restart of the operator
/// loses it, so keep what must last in `.status`.
#[derive(Debug, Default)]
pub struct PostgresqlMemory {}

impl ObjectState for PostgresqlMemory {
    type Manifest = Postgresql;
    type SharedState = SharedState;
}

/// The operator of this kind. It creates the data that its objects keep in memory.
#[derive(Debug, Default)]
pub struct PostgresqlOperator {
    shared: Arc<SharedState>,
}

impl Operator for PostgresqlOperator {
    type Machine = PostgresqlMachine;

    async fn initialize_object_state(&self, _object: &Postgresql) -> Result<PostgresqlMemory> {
        Ok(PostgresqlMemory::default())
    }

    async fn shared_state(&self) -> Arc<SharedState> {
        Arc::clone(&self.shared)
    }
}
