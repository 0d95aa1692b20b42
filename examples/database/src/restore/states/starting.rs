use krator_runtime::Error;

use super::{Following, Starting};
use crate::database::Database;
use crate::jobs::job;
use crate::restore::prelude::*;

impl State for Starting {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        let database = cx
            .watched::<Database>()
            .ok_or_else(|| Error::permanent("the database is gone"))?;
        let command = [
            "pg_restore",
            "--clean",
            "--if-exists",
            "--single-transaction",
            "--dbname=postgres",
            "/backup/dump",
        ];
        let name = format!("{}-restore", cx.name());
        let job = job(&name, &database, &cx.manifest().spec.backup, &command)?;
        cx.apply(&job).await?;
        Ok(Transition::to(Following))
    }
}
