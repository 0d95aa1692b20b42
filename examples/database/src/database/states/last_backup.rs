use super::{Gone, LastBackup};
use crate::database::prelude::*;
use crate::schedule::backup;

impl State for LastBackup {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        if cx.status().next_backup.is_none() {
            return Ok(Transition::to(Gone).because("it never ran, so there is nothing to save"));
        }
        // The name contains the entry, because backups outlive their database: a later database of the same name needs
        // another name for its last backup.
        let last = backup(cx, &format!("last-{}", cx.entry()));
        let last = cx.apply(&last).await?;
        let readiness = cx.readiness(&*last);
        if readiness.is_current() {
            return Ok(Transition::to(Gone));
        }
        cx.message(format!("the last backup: {}", readiness.message()));
        Ok(Transition::stay())
    }
}
