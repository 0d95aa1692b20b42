//! The fixture of a test with moose: a namespace, a watch and an oracle for its moose, and an operator that can be
//! killed.

use super::{DESCRIPTION, QUICK};
use crate::cluster::watch::{Event, Watch};
use crate::cluster::{self, Cluster};
use crate::contract::Oracle;
use crate::operator::{Crate, OperatorProcess};
use k8s_openapi::jiff::Timestamp;
use krator::model::Kind;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::{Mutex, OnceLock};

/// A variant of the moose operator for a test.
pub struct Variant {
    /// The name of its binary.
    pub name: &'static str,
    /// Changes the description.
    pub description: fn(&str) -> String,
    /// Changes the generated crate, as its owner would.
    pub edit: fn(&std::path::Path),
}

/// The operator as generated from the description.
pub const UNTOUCHED: Variant = Variant {
    name: "moose",
    description: |description| description.to_owned(),
    edit: |_| (),
};

/// The moose of one test and their operator.
pub struct Fixture {
    pub cluster: &'static Cluster,
    pub namespace: String,
    pub watch: Watch,
    binary: PathBuf,
    log: PathBuf,
    operator: Option<OperatorProcess>,
    oracle: Oracle,
}

impl Fixture {
    /// A fixture without moose and without a running operator. None without an API server.
    pub fn new(test: &str, variant: &Variant) -> Option<Fixture> {
        let cluster = prepared_cluster()?;
        let binary = binary(cluster, variant);
        let namespace = cluster.namespace(test);
        let watch = Watch::start(
            cluster,
            &format!("/apis/animals.com/v1/namespaces/{namespace}/moose"),
        );
        let log = cluster.dir().join(format!("{test}.operator.log"));
        Some(Fixture {
            cluster,
            namespace,
            watch,
            binary,
            log,
            operator: None,
            oracle: Oracle::new(&kind(variant)),
        })
    }

    /// Creates moose and waits until the watch has seen them, so that it sees all later writes of the operator.
    pub fn create(&self, names: &[String]) {
        let items: Vec<Value> = names.iter().map(|name| moose(name, &self.namespace)).collect();
        self.cluster.apply(
            &json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string(),
            &[],
        );
        self.watch.wait("the moose are created", |events| {
            names
                .iter()
                .all(|name| events.iter().any(|event| event.name() == name))
        });
    }

    /// Blocks until the events so far satisfy `is_enough`, and returns them. Panics if the operator ends by itself.
    pub fn wait(&mut self, what: &str, is_enough: impl Fn(&[Event]) -> bool) -> Vec<Event> {
        let operator = &mut self.operator;
        self.watch.wait_while(what, is_enough, || {
            operator.as_mut().is_none_or(OperatorProcess::is_running)
        })
    }

    /// Runs kubectl in the namespace of the fixture.
    pub fn kubectl(&self, args: &[&str]) -> String {
        self.cluster
            .kubectl(&[args, &["--namespace", &self.namespace]].concat())
    }

    /// Allows the operator to elect its leader in this namespace, because the generated Role is for the operator's own,
    /// and returns the flag for it.
    pub fn lease(&self) -> String {
        let verbs = "--verb=get,create,update";
        self.kubectl(&["create", "role", "lease", verbs, "--resource=leases"]);
        self.kubectl(&[
            "create",
            "rolebinding",
            "lease",
            "--role=lease",
            "--user=operator",
        ]);
        format!("--leader-elect-resource-namespace={}", self.namespace)
    }

    /// Starts the operator for this namespace.
    pub fn start(&mut self, args: &[&str]) {
        let args = [&["run", "--namespace", &self.namespace], args].concat();
        self.oracle.operator_starts(Timestamp::now());
        self.operator = Some(OperatorProcess::start(
            self.cluster,
            &self.binary,
            &args,
            &self.log,
        ));
    }

    /// Passes all events to the oracle, and panics if it has findings.
    pub fn judge(&mut self, events: &[Event]) {
        events.iter().for_each(|event| self.oracle.see(event));
        // Generated handlers do not record their starts.
        self.oracle.check_handler_starts("");
        self.oracle.assert_clean();
    }

    /// `kill -9`
    pub fn kill(&mut self) {
        self.operator.take().expect("an operator runs").kill();
    }

    /// SIGTERM
    pub fn terminate(&mut self) -> ExitStatus {
        self.operator.take().expect("an operator runs").terminate()
    }

    /// Makes the next start run the operator of another variant.
    pub fn run_from_now_on(&mut self, variant: &Variant) {
        self.binary = binary(self.cluster, variant);
    }

    /// The operator's program.
    pub fn binary(&self) -> &Path {
        &self.binary
    }

    /// The exit status of the operator if it has ended by itself.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.operator.as_mut().expect("an operator was started").ended()
    }

    /// Whether the operator has not ended by itself.
    pub fn is_running(&mut self) -> bool {
        self.operator.as_mut().is_some_and(OperatorProcess::is_running)
    }

    /// The log of the operator so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).expect("an operator was started")
    }

    /// The requests of the operator that the generated role forbids, apart from the read of the namespace in the
    /// command line: the description covers all namespaces, so the role has no right to read this one.
    pub fn forbidden(&self) -> Vec<String> {
        let requests = self.cluster.requests(&self.namespace);
        let namespace = format!("/api/v1/namespaces/{}", self.namespace);
        requests
            .into_iter()
            .filter(|r| r.code == 403 && r.uri != namespace)
            .map(|r| format!("{} {}", r.verb, r.uri))
            .collect()
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        let objects = ["get", "moose", "--output=yaml", "--namespace", &self.namespace];
        let objects = self
            .cluster
            .try_kubectl("admin", &objects, "")
            .unwrap_or_else(|error| error);
        let objects: Vec<&str> = objects.lines().take(200).collect();
        eprintln!("--- the operator's log\n{}", cluster::tail(&self.log));
        eprintln!("--- the moose of {}\n{}", self.namespace, objects.join("\n"));
    }
}

/// Names for `count` moose.
pub fn names(count: usize) -> Vec<String> {
    (1..=count).map(|number| format!("moose-{number}")).collect()
}

fn moose(name: &str, namespace: &str) -> Value {
    json!({
        "apiVersion": "animals.com/v1",
        "kind": "Moose",
        "metadata": {"name": name, "namespace": namespace, "labels": {"name": name}},
        "spec": {"height": 2.1, "weight": 450.5, "antlers": true},
    })
}

/// The shared API server with all manifests of the generated `deploy/`, and the user `operator` bound to the generated
/// ClusterRole.
fn prepared_cluster() -> Option<&'static Cluster> {
    static PREPARED: OnceLock<()> = OnceLock::new();
    let cluster = cluster::shared()?;
    PREPARED.get_or_init(|| {
        // The status of this variant has the fields of all variants. A definition may have more fields than an operator
        // writes.
        let krate = generated(&QUICK);
        let deploy = krate.dir().join("deploy");
        let deploy = deploy.to_str().expect("temporary folders have plain names");
        cluster.kubectl(&[
            "apply",
            "--server-side",
            "--validate=strict",
            "--kustomize",
            deploy,
        ]);
        let crd = "customresourcedefinition/moose.animals.com";
        cluster.wait_established(&[crd]);
        // A dry run, because otherwise the operators of tests would manage the sample.
        let sample = std::fs::read_to_string(krate.dir().join("deploy/sample.yaml")).expect("generated");
        cluster.apply(&sample, &["--dry-run=server"]);
        let rbac = cluster.kubectl(&["get", "-f", &format!("{deploy}/rbac.yaml"), "--output=json"]);
        let rbac: Value = serde_json::from_str(&rbac).expect("kubectl writes JSON");
        let items = rbac["items"].as_array().expect("a list");
        let role = items
            .iter()
            .find(|item| item["kind"] == "ClusterRole")
            .expect("a ClusterRole in rbac.yaml");
        let role = role["metadata"]["name"].as_str().expect("a name");
        cluster.kubectl(&[
            "create",
            "clusterrolebinding",
            "it-operator",
            "--user=operator",
            "--clusterrole",
            role,
        ]);
    });
    Some(cluster)
}

fn kind(variant: &Variant) -> Kind {
    let text = (variant.description)(DESCRIPTION);
    let description = krator::check("krator.yaml", text.as_bytes()).description;
    description.expect("a good description").kinds.remove(0)
}

fn generated(variant: &Variant) -> Crate {
    Crate::generate(&(variant.description)(DESCRIPTION), variant.edit)
}

/// The operator of a variant, which is built once in a test run.
fn binary(cluster: &Cluster, variant: &Variant) -> PathBuf {
    static BUILT: Mutex<BTreeMap<&str, PathBuf>> = Mutex::new(BTreeMap::new());
    // Tests of the same variant wait for the test that builds it. If that test panics, the next one tries again.
    let mut built = BUILT.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let build = || {
        let binary = cluster.dir().join(variant.name);
        generated(variant).build(&binary);
        binary
    };
    built.entry(variant.name).or_insert_with(build).clone()
}
