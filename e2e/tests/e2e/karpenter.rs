//! An operator of two kinds, on a real API server. Both machines run in one process, as a user with only the generated
//! rights.
//!
//! One of the kinds that the description watches is deliberately missing on this server, which must not disturb the
//! operator.

use crate::cluster::watch::{Event, Watch};
use crate::cluster::{self, Cluster};
use crate::moose::states;
use crate::operator::{Crate, OperatorProcess, ShownOnPanic, install};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// The states of claims and pools with the generated handlers.
const CLAIM: [&str; 4] = ["Launching", "Registering", "Initializing", "Initialized"];
const POOL: [&str; 2] = ["Validating", "Ready"];

const CLAIMS: [&str; 3] = ["claim-1", "claim-2", "claim-3"];
const POOLS: [&str; 2] = ["pool-1", "pool-2"];

/// The description with shorter polls.
fn description() -> String {
    let path = krator_tests::root().join("testdata/ok/karpenter/spec.yaml");
    let text = fs::read_to_string(path).expect("a case has a description");
    let quick = text
        .replace("poll: 10s", "poll: 1s")
        .replace("poll: 5s", "poll: 1s");
    assert_ne!(quick, text);
    quick
}

/// An API server with the manifests of the operator. It is not the shared one, because the kinds are cluster-scoped, so
/// other operators would see the objects.
fn prepared() -> Option<(Cluster, PathBuf)> {
    let cluster = cluster::own(&[])?;
    let krate = Crate::generate(&description(), |_| ());
    install(&krate, &cluster);
    let binary = cluster.dir().join("karpenter");
    krate.build(&binary);
    Some((cluster, binary))
}

fn create(cluster: &Cluster) {
    let class = json!({"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"});
    let object = |kind: &str, name: &str, spec: Value| json!({"apiVersion": "karpenter.sh/v1", "kind": kind, "metadata": {"name": name}, "spec": spec});
    let claims = CLAIMS.iter().map(|name| {
        object(
            "NodeClaim",
            name,
            json!({"requirements": [], "nodeClassRef": class}),
        )
    });
    let pools = POOLS.iter().map(|name| {
        let spec = json!({"template": {"spec": {"requirements": [], "nodeClassRef": class}}});
        object("NodePool", name, spec)
    });
    let items: Vec<Value> = claims.chain(pools).collect();
    cluster.apply(
        &json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string(),
        &[],
    );
}

/// Whether each of these objects has entered exactly these states, in this order.
fn walked(events: &[Event], names: &[&str], path: &[&str]) -> bool {
    names.iter().all(|name| states(events, name) == path)
}

#[test]
fn both_machines_of_a_description_run_in_one_process() {
    let Some((cluster, binary)) = &prepared() else {
        return;
    };
    let claims = Watch::start(cluster, "/apis/karpenter.sh/v1/nodeclaims");
    let pools = Watch::start(cluster, "/apis/karpenter.sh/v1/nodepools");
    create(cluster);
    // After these events, the watches see all later writes of the operator.
    for (watch, count) in [(&claims, CLAIMS.len()), (&pools, POOLS.len())] {
        watch.wait("the objects are created", |events| events.len() == count);
    }
    let log = cluster.dir().join("karpenter.log");
    let mut operator = OperatorProcess::start(cluster, binary, &["run"], &log);
    let _log = ShownOnPanic(&log);
    let mut wait = |watch: &Watch, what: &str, enough: &dyn Fn(&[Event]) -> bool| {
        watch.wait_while(what, enough, || operator.is_running())
    };

    wait(&claims, "claims are initialized", &|events| {
        walked(events, &CLAIMS, &CLAIM)
    });
    wait(&pools, "pools are ready", &|events| walked(events, &POOLS, &POOL));
    cluster.kubectl(&[
        "wait",
        "--for=condition=Ready",
        "nodeclaims,nodepools",
        "--all",
        "--timeout=60s",
    ]);
    assert_eq!(
        conditions(cluster, "nodeclaim/claim-1"),
        [
            ("Initialized", "True"),
            ("Launched", "True"),
            ("Registered", "True")
        ]
        .map(|(name, status)| (name.to_owned(), status.to_owned()))
        .into()
    );

    // A spec change is handled by the machine of the object's own kind.
    cluster.kubectl(&[
        "patch",
        "nodepool",
        "pool-1",
        "--type=merge",
        "--patch",
        r#"{"spec": {"replicas": 3}}"#,
    ]);
    let again = [POOL, POOL].concat();
    wait(&pools, "the pool goes through its states again", &|events| {
        walked(events, &["pool-1"], &again)
    });

    cluster.kubectl(&["delete", "nodeclaim", "claim-2", "--timeout=120s"]);
    let events = wait(&claims, "the claim is gone", &|events| {
        events.iter().any(|event| event.deleted)
    });
    let path = [&CLAIM[..], &["Draining", "Terminating", "Terminated"]].concat();
    assert!(
        walked(&events, &["claim-2"], &path),
        "{:?}",
        states(&events, "claim-2")
    );
    assert!(
        walked(&events, &["claim-1", "claim-3"], &CLAIM),
        "the other claims stay"
    );
    let end = events.iter().find(|event| event.deleted).expect("just seen");
    assert_eq!(end.name(), "claim-2");
    assert!(
        walked(&pools.events(), &["pool-2"], &POOL),
        "the other pool stays"
    );

    assert_eq!(operator.terminate().code(), Some(0));
    let requests = cluster.requests("default");
    let forbidden: Vec<_> = requests.iter().filter(|request| request.code == 403).collect();
    assert!(
        forbidden.is_empty(),
        "the generated roles are enough: {forbidden:#?}"
    );
    let class = cluster.try_kubectl("admin", &["get", "ec2nodeclasses.karpenter.k8s.aws"], "");
    class.expect_err("a kind that is watched is not on this server");
}

/// The statuses of the conditions that the description defines, if they are not `Unknown`.
fn conditions(cluster: &Cluster, object: &str) -> BTreeMap<String, String> {
    let object = cluster.kubectl(&["get", object, "--output=json"]);
    let object: Value = serde_json::from_str(&object).expect("kubectl writes JSON");
    let text = |condition: &Value, key: &str| condition[key].as_str().unwrap_or_default().to_owned();
    let conditions = object["status"]["conditions"].as_array().expect("a list").iter();
    conditions
        .map(|condition| (text(condition, "type"), text(condition, "status")))
        .filter(|(name, status)| {
            !["Ready", "Reconciling", "Stalled"].contains(&name.as_str()) && status != "Unknown"
        })
        .collect()
}
