use krator_runtime::Readiness;

use super::{Pending, Starting};
use crate::backup::Backup;
use crate::database::Database;
use crate::restore::prelude::*;

impl State for Pending {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        match what_is_missing(cx) {
            None => Ok(Transition::to(Starting)),
            Some(missing) => {
                cx.message(missing);
                Ok(Transition::stay())
            }
        }
    }
}

fn what_is_missing(cx: &Context<'_>) -> Option<String> {
    let spec = &cx.manifest().spec;
    let backup = cx.watched::<Backup>().map(|it| cx.readiness(&*it));
    let database = cx.watched::<Database>().map(|it| cx.readiness(&*it));
    let is_not_ready = |kind: &str, name: &str, readiness: Option<Readiness>| match readiness {
        None => Some(format!("there is no {kind} `{name}`")),
        Some(Readiness::Current(_)) => None,
        Some(other) => Some(format!("{kind} `{name}`: {}", other.message())),
    };
    is_not_ready("backup", &spec.backup, backup)
        .or_else(|| is_not_ready("database", &spec.database, database))
        .or_else(|| (!spec.approved).then(|| "it waits for `.spec.approved`".to_owned()))
}
