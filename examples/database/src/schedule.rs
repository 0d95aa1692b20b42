//! When a database is backed up, and which backups are kept.

use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use krator_runtime::{Object as _, Readiness};

use crate::backup::{Backup, BackupSpec};
use crate::database::prelude::*;

/// A backup of a database. It is an object of its own, so that the database is still reconciled during the backup.
pub fn backup(cx: &Context<'_>, suffix: &str) -> Backup {
    let spec = BackupSpec {
        database: cx.name().to_owned(),
        storage: cx.manifest().spec.storage.clone(),
    };
    Backup::new(&format!("{}-{suffix}", cx.name()), spec)
}

/// Makes a backup if one is due, reports the result of the latest one, and deletes those beyond `keep`.
pub async fn keep(cx: &mut Context<'_>) -> Result<()> {
    let backups = cx.owned::<Backup>().await?; // sorted by name, which is by time
    let (mut good, mut latest, mut is_going_on) = (Vec::new(), None, false);
    for backup in &backups {
        let name = backup.name();
        match cx.readiness(&**backup) {
            Readiness::Current(_) => {
                good.push(name);
                latest = Some((true, "Done", format!("{name} is complete")));
            }
            Readiness::Failed(why) => latest = Some((false, "Failed", format!("{name}: {why}"))),
            Readiness::InProgress(_) | Readiness::Terminating(_) => is_going_on = true,
        }
    }
    cx.status_mut().last_backup = good.last().map(ToString::to_string);
    if let Some((is_good, reason, message)) = latest {
        cx.set(DatabaseCondition::BackedUp, is_good, reason, message);
    }
    if !is_going_on {
        make_if_due(cx).await?; // when a running backup ends, this handler runs again
    }
    let spec = cx.manifest().spec.backups.clone();
    let others = usize::try_from(spec.keep - 1).unwrap_or_default();
    if let Some(oldest) = good.iter().rev().nth(others) {
        for older in backups.iter().filter(|backup| backup.name() < *oldest) {
            cx.delete(&**older).await?;
        }
    }
    Ok(())
}

async fn make_if_due(cx: &mut Context<'_>) -> Result<()> {
    let now = cx.now();
    let due = cx.status().next_backup.as_ref().map(|time| time.0);
    if let Some(due) = due.filter(|due| *due <= now) {
        // The name contains the due time, so a crash before the next due time is stored does not create a second
        // backup.
        let time = due.strftime("%Y%m%d-%H%M%S").to_string();
        cx.apply(&backup(cx, &time)).await?;
    }
    let every = Duration::from(cx.manifest().spec.backups.every).max(Duration::from_secs(60));
    cx.status_mut().next_backup = Some(Time(next(due, now, every)));
    Ok(())
}

/// When the next backup is due. One backup makes up for all that were missed, and the rhythm stays; an interval that
/// was shortened applies from now on.
fn next(due: Option<Timestamp>, now: Timestamp, every: Duration) -> Timestamp {
    let latest = now + every;
    match due {
        Some(due) if due > now => due.min(latest),
        Some(due) => {
            let late = now.duration_since(due).unsigned_abs().as_nanos() % every.as_nanos();
            latest - Duration::from_nanos(u64::try_from(late).unwrap_or_default())
        }
        None => latest,
    }
}
