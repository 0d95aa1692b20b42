//! Runs the handlers on one backup in memory. The test acts as the Job controller.

use std::sync::Arc;

use database_operator::backup::{Backup, BackupMachine, BackupMemory, BackupSpec};
use database_operator::database::{Database, DatabaseSpec};
use k8s_openapi::api::batch::v1::Job;
use krator_runtime::Local;
use krator_runtime::testing::crashes;

fn manifest() -> Backup {
    let spec = BackupSpec {
        database: "orders".to_owned(),
        ..BackupSpec::default()
    };
    let mut backup = Backup::new("now", spec);
    backup.metadata.namespace = Some("default".to_owned());
    backup
}

fn database() -> Database {
    let mut database = Database::new("orders", DatabaseSpec::default());
    database.metadata.namespace = Some("default".to_owned());
    database
}

#[tokio::test(start_paused = true)]
async fn a_backup_is_as_good_as_its_job() {
    for (succeeds, end) in [(true, BackupMachine::Done), (false, BackupMachine::Failed)] {
        let mut backup =
            Local::<BackupMachine>::new(manifest(), BackupMemory::default(), Arc::default());
        let world = backup.handle();
        backup.run_until_idle().await;
        assert!(world.all::<Job>().is_empty(), "there is no database");

        world.put(&database()).expect("JSON");
        backup.run_until_idle().await;
        assert_eq!(backup.state(), Some(BackupMachine::Dumping));

        match succeeds {
            true => world.make_ready::<Job>(),
            false => world.fail::<Job>(),
        }
        backup.run_until_idle().await;
        assert_eq!(backup.state(), Some(end));
    }
}

#[tokio::test(start_paused = true)]
async fn crashes_start_no_second_job() {
    crashes::<BackupMachine>(async |surroundings| {
        let process = || (BackupMemory::default(), Arc::default());
        let mut backup = surroundings.local(manifest(), process);
        backup.handle().put(&database()).expect("JSON");
        backup.run_until_idle().await;
        backup.handle().make_ready::<Job>();
        backup.run_until_idle().await;
        backup
    })
    .await;
}
