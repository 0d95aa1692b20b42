use k8s_openapi::api::core::v1::PersistentVolumeClaim;
use krator_runtime::Readiness;
use serde_json::{from_value, json};

use super::{Done, Dumping, Failed};
use crate::backup::prelude::*;
use crate::database::Database;
use crate::jobs::{dump, job};

impl State for Dumping {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        let backup = cx.manifest();
        let Some(database) = cx.watched::<Database>() else {
            cx.message(format!("there is no database `{}`", backup.spec.database));
            return Ok(Transition::stay());
        };
        let volume: PersistentVolumeClaim = from_value(json!({
            "metadata": {"name": dump(cx.name())},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": backup.spec.storage}},
            },
        }))?;
        cx.apply(&volume).await?;
        let command = ["pg_dump", "--format=custom", "--file=/backup/dump"];
        let job = job(&dump(cx.name()), &database, cx.name(), &command)?;
        let job = cx.apply(&job).await?;
        match cx.finished(&*job) {
            Readiness::Current(_) => Ok(Transition::to(Done)),
            Readiness::Failed(why) => Ok(Transition::to(Failed).because(why)),
            unfinished => {
                cx.message(unfinished.message());
                Ok(Transition::stay())
            }
        }
    }
}
