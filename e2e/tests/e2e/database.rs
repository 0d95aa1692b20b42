//! The example with written handlers, `examples/database`: the life of a database by one script, under `krator dev` and
//! as a program with the generated rights on a real API server. The script replaces the controllers of Kubernetes for
//! pods, volumes and Jobs.

mod site;

use crate::cluster::{Cluster, assets, until};
use crate::live::Session;
use crate::operator::{Crate, OperatorProcess, ShownOnPanic, build_folder, copy_example, install};
use serde_json::json;
use site::{Operator, Site};
use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

/// A copy of the example, and its program. All tests share it, with the controls of development, so that it is compiled once.
fn built() -> &'static (Crate, PathBuf) {
    static BUILT: OnceLock<(Crate, PathBuf)> = OnceLock::new();
    BUILT.get_or_init(|| {
        let krate = copied();
        let program = krate.dir().join("target/operator");
        krate.build_in_place(&program);
        (krate, program)
    })
}

/// Copies the example, with the runtime of this repository, into a folder that is always the same: cargo identifies
/// crates by their paths, and builds only changes since the last run.
fn copied() -> Crate {
    let dir = build_folder().with_file_name("database");
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(dir.join("target")).expect("the target folder is ours");
    copy_example("database", &dir);
    Crate::in_folder(&dir)
}

#[test]
fn a_database_lives_under_krator_dev() {
    let Some(assets) = assets() else { return };
    let (krate, _) = built();
    let mut session = Session::start(&krate.dir(), &["dev"]);
    session.wait_for("ready after");
    let line = session.wait_for("KUBECONFIG=");
    let kubeconfig = line.rsplit('=').next().expect("it is after the sign");
    live(Site::new(
        &assets,
        kubeconfig.into(),
        krate.dir().join("target"),
        Operator::Dev(session),
    ));
}

#[test]
fn a_database_lives_on_a_real_api_server() {
    let Some(mut cluster) = Cluster::for_controllers() else {
        return;
    };
    let (krate, program) = built();
    install(krate, &cluster);
    // The garbage collector discovers the kinds at its start.
    cluster.start_controllers(&[
        "garbage-collector-controller",
        "persistentvolumeclaim-protection-controller",
    ]);
    let cluster = &cluster;
    let log = cluster.dir().join("database.log");
    let _shown = ShownOnPanic(&log);
    let start = || OperatorProcess::start(cluster, program, &[], &log);
    let operator = Operator::Alone(Some(start()), &start);
    live(Site::new(
        cluster.assets(),
        cluster.kubeconfig("admin"),
        cluster.dir().to_owned(),
        operator,
    ));
}

/// The life of a database, from its creation until only its backups are left.
fn live(mut site: Site<'_>) {
    // Volumes of this class may grow.
    site.apply(&json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass",
        "metadata": {
            "name": "growing",
            "annotations": {"storageclass.kubernetes.io/is-default-class": "true"},
        },
        "provisioner": "example.com/none", "allowVolumeExpansion": true,
    }));
    site.apply(&json!({
        "apiVersion": "data.example.com/v1", "kind": "Database",
        "metadata": {"name": "orders", "namespace": "default"}, "spec": {},
    }));
    site.wait("create", "statefulset/orders");
    let pod = json!({
        "observedGeneration": 1, "replicas": 1, "readyReplicas": 1, "availableReplicas": 1,
        "currentReplicas": 1, "updatedReplicas": 1, "currentRevision": "a", "updateRevision": "a",
    });
    site.set_status("statefulset/orders", &pod);
    site.wait("condition=Ready", "database/orders");
    let password = site.field("secret/orders", ".data.password");
    assert!(!password.is_empty());

    // Thousands of backups became due while the operator was down.
    let due = json!({"nextBackup": "2020-01-01T03:00:00Z"});
    site.kill(|site| site.set_status("database/orders", &due));
    site.complete("orders-20200101-030000-dump");
    site.wait("condition=BackedUp", "database/orders");
    // The stored objects are the same as after a crash between the creation of the backup and the write of the next due
    // time.
    site.kill(|site| site.set_status("database/orders", &due));
    site.run_handler("database/orders");
    assert_eq!(site.names("backups", "orders-"), ["orders-20200101-030000"]);
    assert_eq!(
        site.field("database/orders", ".status.lastBackup"),
        "orders-20200101-030000"
    );
    let [next, created] =
        [".status.nextBackup", ".metadata.creationTimestamp"].map(|path| site.field("database/orders", path));
    assert!(next > created && next.ends_with("T03:00:00Z"), "{next}");
    assert_eq!(site.field("secret/orders", ".data.password"), password);

    let volume = "persistentvolumeclaim/orders-data";
    site.set_status(volume, &json!({"phase": "Bound", "capacity": {"storage": "1Gi"}}));
    site.change("database/orders", &json!({"spec": {"storage": "2Gi"}}));
    site.wait("jsonpath={.spec.resources.requests.storage}=2Gi", volume);
    let smaller = site.refusal("database/orders", &json!({"spec": {"storage": "1536Mi"}}));
    assert!(smaller.contains("a volume cannot shrink"), "{smaller}");
    site.wait("jsonpath={.status.observedGeneration}=2", "database/orders");
    assert_eq!(site.field("database/orders", ".status.state"), "Running");

    site.apply(&json!({
        "apiVersion": "data.example.com/v1", "kind": "Restore",
        "metadata": {"name": "back", "namespace": "default"},
        "spec": {"database": "orders", "backup": "orders-20200101-030000"},
    }));
    site.wait(
        "jsonpath={.status.message}=it waits for `.spec.approved`",
        "restore/back",
    );
    assert!(site.names("jobs", "back-").is_empty());
    site.change("restore/back", &json!({"spec": {"approved": true}}));
    site.complete("back-restore");
    site.wait("condition=Ready", "restore/back");

    site.kubectl(
        &[
            "delete",
            "database/orders",
            "--cascade=foreground",
            "--wait=false",
        ],
        "",
    );
    site.wait("jsonpath={.status.state}=LastBackup", "database/orders");
    let last = format!("orders-last-{}", site.field("database/orders", ".status.entry"));
    site.wait("create", &format!("backup/{last}"));
    until("the garbage collector has nothing more to do", || {
        let finalizers = site.field("database/orders", ".metadata.finalizers");
        (!finalizers.contains("foregroundDeletion")).then_some(())
    });
    site.kill(|site| {
        let password = site.field("secret/orders", ".data.password");
        assert!(!password.is_empty(), "the last backup needs it");
        site.field("statefulset/orders", ".status.readyReplicas");
    });
    site.complete(&format!("{last}-dump"));
    for gone in ["database/orders", "statefulset/orders", "secret/orders", volume] {
        site.wait("delete", gone);
    }
    let selector = "--selector=data.example.com/released-from=databases";
    let kept = site.kubectl(&["get", "backups", selector, "--output=name"], "");
    assert_eq!(kept.lines().count(), 2, "{kept}");
    site.end();
}
