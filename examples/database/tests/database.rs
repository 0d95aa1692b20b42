//! Runs the handlers on one database in memory. The clock is paused, so waiting takes no time.
//!
//! No controllers and no handlers of backups run: the tests set the results of both.

use std::sync::Arc;
use std::time::Duration;

use database_operator::backup::Backup;
use database_operator::database::prelude::DatabaseCondition;
use database_operator::database::{Database, DatabaseMachine, DatabaseMemory, DatabaseSpec};
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Secret};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use krator_runtime::Local;
use krator_runtime::testing::crashes;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const PAUSED: &str = "data.example.com/paused";

fn manifest() -> Database {
    let mut database = Database::new("orders", DatabaseSpec::default());
    database.metadata.namespace = Some("default".to_owned());
    database
}

fn new() -> Local<DatabaseMachine> {
    Local::new(manifest(), DatabaseMemory::default(), Arc::default())
}

/// Makes the pod of a new database ready.
async fn start(database: &mut Local<DatabaseMachine>) {
    database.run_until_idle().await;
    database.handle().make_ready::<StatefulSet>();
    database.run_until_idle().await;
}

/// A database whose pod is ready.
async fn running() -> Local<DatabaseMachine> {
    let mut database = new();
    start(&mut database).await;
    assert_eq!(database.state(), Some(DatabaseMachine::Running));
    database
}

async fn pass(database: &mut Local<DatabaseMachine>, time: Duration) {
    tokio::time::sleep(time).await;
    database.run_until_idle().await;
}

fn backups(database: &Local<DatabaseMachine>) -> usize {
    database.handle().all::<Backup>().len()
}

fn backed_up(database: &Local<DatabaseMachine>) -> String {
    let condition = database.condition(DatabaseCondition::BackedUp);
    condition.expect("it is declared").status.into_owned()
}

fn message(database: &Local<DatabaseMachine>) -> String {
    let status = database.manifest().status.clone().unwrap_or_default();
    status.machine_status.message.unwrap_or_default()
}

#[tokio::test(start_paused = true)]
async fn the_password_is_made_once() {
    let mut database = running().await;
    let password = database.handle().all::<Secret>()[0].string_data.clone();
    assert!(password.is_some());
    pass(&mut database, 2 * DAY).await;
    assert_eq!(database.handle().all::<Secret>()[0].string_data, password);
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_does_not_start_is_reported_and_may_still_start() {
    let mut database = new();
    database
        .run_until(|state| state == DatabaseMachine::Stuck)
        .await;
    assert_eq!(message(&database), "Replicas: 0/1");
    database.handle().make_ready::<StatefulSet>();
    database.run_until_idle().await;
    assert_eq!(database.state(), Some(DatabaseMachine::Running));
}

#[tokio::test(start_paused = true)]
async fn a_change_of_the_spec_is_followed_while_the_database_runs() {
    let mut database = running().await;
    let world = database.handle();
    let entered = database.trace().len();
    world.update_spec(|it| it.spec.storage = Quantity("2Gi".to_owned()));
    database.run_until_idle().await;
    let [claim] = &world.applied::<PersistentVolumeClaim>()[..] else {
        panic!("one claim");
    };
    let requested = serde_json::to_value(claim).expect("JSON");
    assert_eq!(requested["spec"]["resources"]["requests"]["storage"], "2Gi");

    // A shorter interval applies at once.
    world.update_spec(|it| it.spec.backups.every = Duration::from_secs(60).into());
    database.run_until_idle().await;
    pass(&mut database, Duration::from_secs(60)).await;
    assert_eq!(backups(&database), 1);
    assert_eq!(database.trace().len(), entered, "it has left no state");
}

#[tokio::test(start_paused = true)]
async fn backups_are_made_one_at_a_time_and_the_good_ones_are_kept() {
    let mut database = running().await;
    database.handle().update_spec(|it| it.spec.backups.keep = 2);
    pass(&mut database, DAY).await;
    assert_eq!(backups(&database), 1);
    pass(&mut database, DAY).await;
    assert_eq!(backups(&database), 1, "the first one goes on");
    for expected in [1, 2, 2, 2] {
        database.handle().make_ready::<Backup>();
        database.run_until_idle().await;
        // Another backup was overdue, or is made a day later.
        pass(&mut database, DAY).await;
        assert_eq!(backups(&database), expected + 1);
    }
    assert_eq!(backed_up(&database), "True");
    database.handle().fail::<Backup>();
    database.run_until_idle().await;
    assert_eq!(backed_up(&database), "False");
}

#[tokio::test(start_paused = true)]
async fn what_fell_due_while_nobody_looked_is_made_up_for_once() {
    let mut database = running().await;
    let world = database.handle();
    world.update(|it| {
        it.metadata.annotations = Some([(PAUSED.to_owned(), "true".to_owned())].into())
    });
    pass(&mut database, 10 * DAY + DAY / 2).await;
    assert_eq!(backups(&database), 0);
    world.update(|it| it.metadata.annotations = None);
    database.run_until_idle().await;
    assert_eq!(backups(&database), 1);
    world.make_ready::<Backup>();
    // The rhythm is the same as before.
    pass(&mut database, DAY / 2 - Duration::from_secs(1)).await;
    assert_eq!(backups(&database), 1);
    pass(&mut database, Duration::from_secs(1)).await;
    assert_eq!(backups(&database), 2);
}

#[tokio::test(start_paused = true)]
async fn a_last_backup_outlives_the_database() {
    let mut database = running().await;
    let world = database.handle();
    world.delete();
    database.run_until_idle().await;
    assert_eq!(database.state(), Some(DatabaseMachine::LastBackup));
    assert_eq!(
        world.all::<StatefulSet>().len(),
        1,
        "there is something to back up"
    );
    world.make_ready::<Backup>();
    database.run().await;
    assert!(world.all::<StatefulSet>().is_empty());
    assert_eq!(world.all::<Backup>().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_deletion_does_not_wait_for_ever() {
    // There is no data to save.
    let mut database = new();
    database.run_until_idle().await;
    database.handle().delete();
    database.run().await;
    assert_eq!(backups(&database), 0);

    // The last backup has failed, and a user shortens the wait.
    let mut database = running().await;
    database.handle().delete();
    database.run_until_idle().await;
    database.handle().fail::<Backup>();
    database.run_until_idle().await;
    assert!(
        message(&database).starts_with("the last backup: "),
        "{}",
        message(&database)
    );
    database
        .handle()
        .update_spec(|it| it.spec.backups.last_within = Duration::from_secs(1).into());
    pass(&mut database, Duration::from_secs(1)).await;
    assert!(database.is_over());
}

/// The first password stays, and no backup is made twice, wherever the process ends.
#[tokio::test(start_paused = true)]
async fn crashes_change_nothing_until_the_first_backup() {
    crashes::<DatabaseMachine>(async |surroundings| {
        let process = || (DatabaseMemory::default(), Arc::default());
        let mut database = surroundings.local(manifest(), process);
        start(&mut database).await;
        pass(&mut database, DAY).await;
        database.handle().make_ready::<Backup>();
        database.run_until_idle().await;
        database
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn crashes_during_the_deletion_lose_no_last_backup() {
    crashes::<DatabaseMachine>(async |surroundings| {
        let process = || (DatabaseMemory::default(), Arc::default());
        let mut database = surroundings.local(manifest(), process);
        start(&mut database).await;
        database.handle().delete();
        database.run_until_idle().await;
        database.handle().make_ready::<Backup>();
        database.run().await;
        database
    })
    .await;
}
