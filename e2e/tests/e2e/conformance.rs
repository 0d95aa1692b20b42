//! One suite, two servers: each case runs against the embedded server and against a real API server, and all answers
//! are compared. Cases cannot distinguish the servers.
//!
//! Cases are in `testdata/conformance/` of `krator-apiserver`; `cases.rs` describes their syntax. `KRATOR_CASES=TEXT`
//! runs only cases whose names contain the text.

mod cases;
mod client;
mod kubectl;
mod masked;
mod random;
mod records;
mod versions;
#[path = "../../../crates/krator-apiserver/tests/support/webhook.rs"]
pub mod webhook;

use crate::cluster::{self, Cluster};
use crate::joint::Joint;
use cases::Case;
use client::Target;
use futures::StreamExt as _;
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::runtime::Runtime;
use webhook::Webhook;

/// How many cases run at once.
const AT_ONCE: usize = 8;

/// The kinds of the cases; both servers have them from the start.
const DEFINITIONS: &str = include_str!("../../../crates/krator-apiserver/testdata/definitions.yaml");

/// The controllers of a real server whose work the embedded server does itself.
const CONTROLLERS: [&str; 3] = [
    "garbage-collector-controller",
    "namespace-controller",
    "persistentvolumeclaim-protection-controller",
];

/// The real server, for exclusive use by one test at a time.
struct RealCluster {
    cluster: Arc<Cluster>,
    _turn: MutexGuard<'static, ()>,
}

impl std::ops::Deref for RealCluster {
    type Target = Cluster;

    fn deref(&self) -> &Cluster {
        &self.cluster
    }
}

/// The real server, after the tests that use it now. None without its binaries.
fn real_cluster() -> Option<RealCluster> {
    static SHARED: Joint<Cluster> = Joint::new();
    static TURN: Mutex<()> = Mutex::new(());
    // Waiting tests hold the cluster, too, so that it stays up between two tests.
    let cluster = SHARED.get(|| Cluster::with_controllers(&CONTROLLERS))?;
    // A failed test poisons the lock, but leaves the cluster usable.
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    Some(RealCluster { cluster, _turn: turn })
}

async fn real(cluster: &Cluster) -> Client {
    let kubeconfig = Kubeconfig::read_from(cluster.kubeconfig("admin")).expect("the cluster has written it");
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
    Client::try_from(config.expect("a kubeconfig")).expect("a client")
}

/// The transcripts of all cases.
async fn run(client: Client, webhook: &Webhook, cases: &[Case]) -> Vec<String> {
    let target = Arc::new(Target::new(client, webhook));
    target.define(DEFINITIONS).await;
    target.define(&versions::definitions(webhook)).await;
    let runs = cases.iter().enumerate().map(|(number, case)| {
        let target = Arc::clone(&target);
        async move { target.run(number, case).await }
    });
    futures::stream::iter(runs).buffered(AT_ONCE).collect().await
}

/// A runtime for one test.
fn runtime() -> Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(2).enable_all().build().expect("a runtime")
}

#[test]
fn both_servers_answer_alike() {
    let runtime = runtime();
    let Some(cluster) = real_cluster() else { return };
    let cases = cases::all();
    // The embedded server blocks during conversions, so the webhook needs its own threads.
    let webhooks = self::runtime();
    let webhook = webhooks.block_on(Webhook::start(Some(versions::convert())));
    let embedded = runtime.block_on(async {
        let server = krator_apiserver::Server::builder().rbac(true).start();
        run(Client::new(server, "default"), &webhook, &cases).await
    });
    let real = runtime.block_on(async { run(real(&cluster).await, &webhook, &cases).await });
    let mut different = Vec::new();
    for ((case, embedded), real) in cases.iter().zip(&embedded).zip(&real) {
        if embedded != real {
            different.push(&case.name);
            cluster::say(&format!(
                "== {}\n{}",
                case.name,
                masked::difference(real, embedded)
            ));
        }
    }
    cluster::say(&format!(
        "{} cases, {} of them alike",
        cases.len(),
        cases.len() - different.len()
    ));
    assert!(different.is_empty(), "not alike: {different:#?}");
}
