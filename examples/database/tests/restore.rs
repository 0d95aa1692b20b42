//! Runs the handlers on one restore in memory.

use std::sync::Arc;

use database_operator::backup::{Backup, BackupSpec};
use database_operator::database::{Database, DatabaseSpec};
use database_operator::restore::{Restore, RestoreMachine, RestoreMemory, RestoreSpec};
use k8s_openapi::api::batch::v1::Job;
use krator_runtime::Local;
use krator_runtime::testing::crashes;

fn manifest(approved: bool) -> Restore {
    let spec = RestoreSpec {
        database: "orders".to_owned(),
        backup: "now".to_owned(),
        approved,
    };
    let mut restore = Restore::new("back", spec);
    restore.metadata.namespace = Some("default".to_owned());
    restore
}

fn database() -> Database {
    let mut database = Database::new("orders", DatabaseSpec::default());
    database.metadata.namespace = Some("default".to_owned());
    database
}

fn backup() -> Backup {
    let mut backup = Backup::new("now", BackupSpec::default());
    backup.metadata.namespace = Some("default".to_owned());
    backup
}

/// A restore whose backup and database are ready.
async fn pending() -> Local<RestoreMachine> {
    let mut restore = Local::new(manifest(false), RestoreMemory::default(), Arc::default());
    let world = restore.handle();
    restore.run_until_idle().await;
    assert_eq!(message(&restore), "there is no backup `now`");

    world.put(&database()).expect("JSON");
    world.put(&backup()).expect("JSON");
    world.fail::<Backup>();
    restore.run_until_idle().await;
    assert!(message(&restore).starts_with("backup `now`: "));
    world.make_ready::<Backup>();
    world.make_ready::<Database>();
    restore.run_until_idle().await;
    assert_eq!(message(&restore), "it waits for `.spec.approved`");
    restore
}

fn message(restore: &Local<RestoreMachine>) -> String {
    let status = restore.manifest().status.clone().unwrap_or_default();
    status.machine_status.message.unwrap_or_default()
}

#[tokio::test(start_paused = true)]
async fn nothing_is_restored_before_the_approval() {
    let mut restore = pending().await;
    assert!(restore.handle().all::<Job>().is_empty());
    restore.handle().update_spec(|it| it.spec.approved = true);
    restore.run_until_idle().await;
    assert_eq!(restore.state(), Some(RestoreMachine::Following));
    restore.handle().make_ready::<Job>();
    restore.run_until_idle().await;
    assert_eq!(restore.state(), Some(RestoreMachine::Restored));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_restored_twice() {
    let mut restore = pending().await;
    restore.handle().update_spec(|it| it.spec.approved = true);
    restore.run_until_idle().await;
    let job = restore.handle().all::<Job>().pop().expect("it was started");
    restore.handle().remove(&*job);
    restore.run_until_idle().await;
    assert_eq!(restore.state(), Some(RestoreMachine::Failed));
    assert!(restore.handle().all::<Job>().is_empty());
}

/// The restore may fail after a crash, but no second Job starts.
#[tokio::test(start_paused = true)]
async fn crashes_restore_nothing_twice() {
    crashes::<RestoreMachine>(async |surroundings| {
        let process = || (RestoreMemory::default(), Arc::default());
        let mut restore = surroundings.local(manifest(true), process);
        let world = restore.handle();
        world.put(&database()).expect("JSON");
        world.put(&backup()).expect("JSON");
        world.make_ready::<Backup>();
        world.make_ready::<Database>();
        restore.run_until_idle().await;
        world.make_ready::<Job>();
        restore.run_until_idle().await;
        restore
    })
    .await;
}
