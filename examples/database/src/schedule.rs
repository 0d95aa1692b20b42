//! When a database is backed up, and which of its backups are kept.

use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use krator_runtime::Readiness;

use crate::backup::{Backup, BackupSpec};
use crate::database::prelude::*;

/// A backup of a database. It is an object of its own, so that the database is looked after while it is made.
pub fn backup(cx: &Context<'_>, suffix: &str) -> Backup {
    let spec = BackupSpec {
        database: cx.name().to_owned(),
        storage: cx.manifest().spec.storage.clone(),
    };
    Backup::new(&format!("{}-{suffix}", cx.name()), spec)
}

/// Makes a backup if one is due, deletes those that are too many, and says how the latest one went.
pub async fn keep(cx: &mut Context<'_>) -> Result<()> {
    let spec = cx.manifest().spec.backups.clone();
    let (now, due) = (
        cx.now(),
        cx.status().next_backup.as_ref().map(|time| time.0),
    );
    let every = Duration::from(spec.every).max(Duration::from_secs(60));
    // By name, which is by time.
    let backups = cx.owned::<Backup>().await?;
    let readiness: Vec<Readiness> = backups
        .iter()
        .map(|backup| cx.readiness(&**backup))
        .collect();
    let is_going_on = readiness
        .iter()
        .any(|it| matches!(it, Readiness::InProgress(_)));

    // One at a time: the end of that one wakes this handler.
    if !is_going_on {
        if let Some(due) = due.filter(|due| *due <= now) {
            // Its name follows from the time that was due, so that a crash before the next time is stored makes no second one.
            let name = due.strftime("%Y%m%d-%H%M%S").to_string();
            cx.apply(&backup(cx, &name)).await?;
        }
        cx.status_mut().next_backup = Some(Time(next(due, now, every)));
    }

    let ended = backups.iter().zip(&readiness);
    let good: Vec<&str> = ended
        .clone()
        .filter(|(_, it)| it.is_current())
        .map(|(backup, _)| name(backup))
        .collect();
    cx.status_mut().last_backup = good.last().map(|name| (*name).to_owned());
    if let Some((latest, it)) = ended
        .rev()
        .find(|(_, it)| !matches!(it, Readiness::InProgress(_)))
    {
        let reason = if it.is_current() { "Done" } else { "Failed" };
        cx.set(
            DatabaseCondition::BackedUp,
            it.is_current(),
            reason,
            format!("{}: {}", name(latest), it.message()),
        );
    }
    let kept = usize::try_from(spec.keep).unwrap_or(usize::MAX);
    if let Some(oldest) = good.len().checked_sub(kept).map(|at| good[at]) {
        for old in backups.iter().filter(|backup| name(backup) < oldest) {
            cx.delete(&**old).await?;
        }
    }
    Ok(())
}

fn name(backup: &Backup) -> &str {
    backup.metadata.name.as_deref().unwrap_or_default()
}

/// When the next backup is due. Those that fell due while nobody looked are made up for by one, and the rhythm stays; an
/// interval that was shortened counts from now on.
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
