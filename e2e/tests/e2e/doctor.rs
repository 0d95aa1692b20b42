//! `krator doctor` on a real API server, beside a running operator: it reports nothing in a healthy cluster, and names
//! each planted fault with a remedy.

mod faults;

use crate::cluster::{self, Cluster, until_ok};
use crate::descriptions::cases;
use crate::dice::{Dice, number};
use crate::operator::{Crate, OperatorProcess, ShownOnPanic, install};
use crate::probes::logged_address;
use crate::random_description::{Size, describe};
use crate::yaml::documents;
use faults::FAULTS;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::Command;

const DESCRIPTION: &str = "
krator: 1
operator: grocer
resource: {group: grocers.example.com, version: v1, kind: Grocer}
spec:
  size: {type: integer, default: 1, minimum: 0}
  host: {type: string, maxLength: 40}
webhooks: {validate: {timeout: 3s}}
machine: {initial: Open, deletion: Closed}
states:
  Open: {kind: ready}
  Closed: {kind: final}
versions:
  v1beta1: {changes: [{renamed: .spec.count, to: .spec.size}]}
";
const CRD: &str = "grocers.grocers.example.com";

/// An installed crate, and the parts of its cluster that a kubelet and controllers would provide.
struct Grocery<'a> {
    cluster: &'a Cluster,
    krate: Crate,
    /// An address of this machine other than the loopback one, which the API server refuses to call.
    address: String,
}

/// The failed checks in krator's report, each with its faults and remedies.
type Failed = BTreeMap<String, String>;

impl Grocery<'_> {
    /// Runs `krator doctor` in the crate, and returns its exit code and the failed checks.
    fn doctor(&self, args: &[&str], variables: &[(&str, &Path)]) -> (i32, Failed) {
        let output = Command::new(krator_tests::program())
            .args(["doctor", "--json"])
            .args(args)
            .current_dir(self.krate.dir())
            .env("KUBECONFIG", self.cluster.kubeconfig("admin"))
            .envs(variables.iter().copied())
            .output()
            .expect("krator runs");
        let checks = crate::outputs::printed("doctor", &output.stdout);
        let checks = checks.as_array().expect("a list");
        let skipped = checks.iter().filter(|check| check["result"] == "skipped");
        let failed = checks.iter().filter(|check| check["result"] == "failed");
        let text = |check: &Value| {
            (
                check["check"].as_str().unwrap_or_default().to_owned(),
                check.to_string(),
            )
        };
        let failed: Failed = failed.map(text).collect();
        let skipped: Vec<_> = skipped.collect();
        assert!(!failed.is_empty() || skipped.is_empty(), "{skipped:?}");
        (output.status.code().expect("it ends"), failed)
    }

    fn is_healthy(&self) -> Result<(), Failed> {
        match self.doctor(&[], &[]) {
            (0, failed) if failed.is_empty() => Ok(()),
            (_, failed) => Err(failed),
        }
    }

    fn kubectl(&self, args: &[&str]) {
        self.cluster.kubectl(args);
    }

    fn patch(&self, object: &str, form: &str, patch: &Value, more: &[&str]) {
        let (form, patch) = (format!("--type={form}"), patch.to_string());
        self.kubectl(&[&["patch", object, "-n=grocer-system", &form, "-p", &patch], more].concat());
    }

    fn status(&self, object: &str, status: &Value) {
        self.patch(
            object,
            "merge",
            &json!({"status": status}),
            &["--subresource=status"],
        );
    }

    /// Replaces all pods by one for a process whose probes have this port.
    fn has_pod(&self, name: &str, port: u16) {
        self.kubectl(&[
            "delete",
            "pods",
            "--all",
            "-n=grocer-system",
            "--force",
            "--grace-period=0",
        ]);
        let deployment = self
            .cluster
            .kubectl(&["get", "deployment/grocer", "-n=grocer-system", "-o=json"]);
        let mut deployment: Value = serde_json::from_str(&deployment).expect("kubectl writes JSON");
        let mut pod = deployment["spec"]["template"].take();
        (pod["apiVersion"], pod["kind"]) = ("v1".into(), "Pod".into());
        (pod["metadata"]["name"], pod["metadata"]["namespace"]) = (name.into(), "grocer-system".into());
        let ports = pod["spec"]["containers"][0]["ports"]
            .as_array_mut()
            .expect("a list");
        let health = ports.iter_mut().find(|named| named["name"] == "health");
        health.expect("it is generated")["containerPort"] = port.into();
        self.cluster.apply(&pod.to_string(), &[]);
        let running = json!([{
            "name": "operator", "image": "grocer:0.1.0", "imageID": "", "ready": true, "restartCount": 0,
            "state": {"running": {}},
        }]);
        let address = &self.address;
        self.status(
            &format!("pod/{name}"),
            &json!({"phase": "Running", "podIP": address, "podIPs": [{"ip": address}], "containerStatuses": running}),
        );
    }

    /// Sets whether the pod of the webhooks is ready.
    fn serves_webhooks(&self, ready: bool) {
        let slice = json!({
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {"name": "grocer-webhook", "namespace": "grocer-system", "labels": {"kubernetes.io/service-name": "grocer-webhook"}},
            "addressType": "IPv4",
            "ports": [{"name": "https", "port": 9443}],
            "endpoints": [{"addresses": [self.address], "conditions": {"ready": ready}}],
        });
        self.cluster.apply(&slice.to_string(), &[]);
    }

    /// Applies a manifest of the crate with the command that krator suggests.
    fn apply(&self, manifest: &str) {
        let path = self.krate.dir().join("deploy").join(manifest);
        let path = path.to_str().expect("a plain name");
        self.kubectl(&["apply", "--server-side", "--force-conflicts", "-f", path]);
    }
}

/// A free port of this machine.
fn free_port(address: &str) -> u16 {
    let listener = TcpListener::bind((address, 0)).expect("a port");
    listener.local_addr().expect("it listens").port()
}

fn host_name() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").expect("Linux");
    name.trim().to_owned()
}

/// Asserts that a check has failed with these texts.
fn named((code, failed): &(i32, Failed), check: &str, says: &[&str]) {
    let fault = failed
        .get(check)
        .unwrap_or_else(|| panic!("{check}: {failed:#?}"));
    assert_eq!(*code, 1, "{failed:#?}");
    for words in says {
        assert!(fault.contains(words), "{words}: {fault}");
    }
}

/// The API server omits empty values and adds defaults, which must not be reported as differences.
#[test]
fn the_crd_of_every_description_is_the_same_once_it_is_stored() {
    let Some(cluster) = &cluster::own(&[]) else { return };
    let good = cases().into_iter().map(|(name, folder)| {
        let text = fs::read_to_string(folder.join("spec.yaml")).expect("a case has a description");
        (name, text)
    });
    let random = (0..number("KRATOR_DOCTORED", 20)).map(|seed| {
        let dice = &mut Dice::new(seed);
        (format!("random {seed}"), describe(dice, Size::SMALL))
    });
    // An API server may refuse definitions with warnings from krator.
    let random = random.filter(|(_, text)| {
        let checked = krator::check("krator.yaml", text.as_bytes());
        checked.sound().is_some()
            && checked
                .findings
                .iter()
                .all(|finding| finding.rule.name != "costly-rule")
    });
    let mut left: Vec<(String, Crate)> = good
        .chain(random)
        .map(|(name, description)| (name, Crate::untouched(&description)))
        .collect();
    // An API server takes five seconds to establish a definition, so definitions without common names are applied
    // together.
    while !left.is_empty() {
        let mut taken = BTreeSet::new();
        let (now, later): (Vec<_>, Vec<_>) = left.into_iter().partition(|(_, krate)| {
            let names = names(krate);
            let is_apart = taken.is_disjoint(&names);
            taken.extend(names.into_iter().filter(|_| is_apart));
            is_apart
        });
        left = later;
        let manifests = now.iter().flat_map(|(_, krate)| {
            let manifest = krate.dir().join("deploy/crd.yaml");
            [
                "-f".to_owned(),
                manifest.to_str().expect("a plain name").to_owned(),
            ]
        });
        let manifests: Vec<String> = manifests.collect();
        let manifests: Vec<&str> = manifests.iter().map(String::as_str).collect();
        cluster.kubectl(&[&["apply", "--server-side"], &manifests[..]].concat());
        cluster.wait_established(&manifests);
        let groceries = now.into_iter().map(|(name, krate)| {
            let grocery = Grocery {
                cluster,
                krate,
                address: String::new(),
            };
            (name, grocery)
        });
        // Collected, so that the folders exist until the definitions are deleted.
        let groceries: Vec<_> = groceries.collect();
        for (name, grocery) in &groceries {
            let (_, failed) = grocery.doctor(&[], &[]);
            let differs = failed
                .iter()
                .find(|(check, _)| check.starts_with("crd ") || check.starts_with("stored"));
            assert!(differs.is_none(), "{name}: {differs:?}");
        }
        cluster.kubectl(&[&["delete", "--wait=true"], &manifests[..]].concat());
    }
}

/// All names in the definitions of a crate, with their groups.
fn names(krate: &Crate) -> BTreeSet<String> {
    let manifest = fs::read(krate.dir().join("deploy/crd.yaml")).expect("generated");
    let definitions = documents(&manifest).into_iter();
    let names = definitions.flat_map(|definition| {
        let spec = definition["spec"].clone();
        let one = ["plural", "singular", "kind", "listKind"].map(|name| spec["names"][name].clone());
        let short = spec["names"]["shortNames"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let all = one.into_iter().chain(short);
        all.map(move |name| format!("{}/{name}", spec["group"]))
    });
    names.collect()
}

#[test]
fn nothing_is_reported_while_all_is_well_and_each_planted_fault_is_named() {
    let Some(cluster) = &cluster::own(&[]) else { return };
    let krate = Crate::generate(DESCRIPTION, |_: &Path| {});
    let folder = tempfile::tempdir().expect("a temporary folder");
    let binary: PathBuf = folder.path().join("grocer");
    krate.build(&binary);
    install(&krate, cluster);
    // A binding that keeps the process working when faults remove rights from its role.
    let bind = [
        "create",
        "clusterrolebinding",
        "all",
        "--clusterrole=cluster-admin",
        "--user=operator",
    ];
    cluster.kubectl(&bind);
    let socket =
        UdpSocket::bind("0.0.0.0:0").and_then(|socket| socket.connect("192.0.2.1:9").map(|()| socket));
    let address = socket
        .and_then(|socket| socket.local_addr())
        .expect("a network")
        .ip()
        .to_string();
    let grocery = Grocery {
        cluster,
        krate,
        address,
    };

    let log = cluster.dir().join("grocer.log");
    let _shown = ShownOnPanic(&log);
    let port = free_port(&grocery.address);
    let probes = format!("--health-probe-bind-address={}:{port}", grocery.address);
    let args = [
        "--leader-elect",
        "--leader-elect-resource-namespace=grocer-system",
        "--webhook-bind-address=127.0.0.1:0",
    ];
    let operator = OperatorProcess::start(cluster, &binary, &[&args[..], &[&*probes]].concat(), &log);
    logged_address(
        || fs::read_to_string(&log).unwrap_or_default(),
        "serving webhooks",
    );
    grocery.has_pod(&host_name(), port);
    grocery.serves_webhooks(true);
    let available =
        json!({"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable", "message": ""});
    let counts = json!({"observedGeneration": 1, "replicas": 1, "readyReplicas": 1, "availableReplicas": 1, "updatedReplicas": 1});
    let mut status = counts;
    status["conditions"] = json!([available]);
    grocery.status("deployment/grocer", &status);
    until_ok("all is well", || grocery.is_healthy());

    for fault in FAULTS {
        (fault.plant)(&grocery);
        // Authorizers and caches of the API server are updated with a delay.
        let said = until_ok(fault.check, || {
            let said = grocery.doctor(&[], &[]);
            match said.1.contains_key(fault.check) {
                true => Ok(said),
                false => Err(said),
            }
        });
        named(&said, fault.check, fault.says);
        (fault.heal)(&grocery);
        until_ok("all is well again", || grocery.is_healthy());
    }

    // Faults in the way krator is called.
    let elsewhere = grocery.doctor(&["--namespace=elsewhere"], &[]);
    let says = [
        "the Deployment `grocer` is in the namespace `grocer-system`",
        "krator doctor --namespace grocer-system",
    ];
    named(&elsewhere, "namespace", &says);
    let nowhere = cluster.dir().join("nowhere.kubeconfig");
    let kubeconfig = fs::read_to_string(cluster.kubeconfig("admin")).expect("a kubeconfig");
    let port = kubeconfig
        .split("127.0.0.1:")
        .nth(1)
        .and_then(|rest| rest.split(['\'', '"', '\n']).next());
    let other = kubeconfig.replace(port.expect("a port"), "9");
    fs::write(&nowhere, other).expect("a folder of our own");
    let silent = grocery.doctor(&[], &[("KUBECONFIG", &nowhere)]);
    named(
        &silent,
        "cluster",
        &["the cluster does not answer", "kubectl cluster-info"],
    );
    let without = grocery.doctor(&[], &[("PATH", Path::new("/nowhere"))]);
    named(&without, "cargo", &["cannot run cargo", "https://rustup.rs"]);

    // The pod of a process whose namespace does not exist.
    let (waits, log) = (free_port(&grocery.address), cluster.dir().join("waiting.log"));
    let probes = format!("--health-probe-bind-address={}:{waits}", grocery.address);
    let args = [
        "--webhook-bind-address=127.0.0.1:0",
        "--namespace=missing",
        &probes,
    ];
    let waiting = OperatorProcess::start(cluster, &binary, &args, &log);
    logged_address(
        || fs::read_to_string(&log).unwrap_or_default(),
        "serving webhooks",
    );
    grocery.has_pod("grocer-1", waits);
    let said = grocery.doctor(&[], &[]);
    named(
        &said,
        "readiness",
        &["the pod grocer-1 is not ready", "missing", "kubectl logs"],
    );
    // The process on this machine leads, but its pod was replaced.
    let holder = format!("another operator holds the Lease `grocer`: {}", host_name());
    named(&said, "lease", &[&holder, "stop that process"]);
    drop(waiting);

    // Otherwise the operator would replace the certificate at once.
    drop(operator);
    let expired = rcgen::KeyPair::generate().expect("a key");
    let mut params =
        rcgen::CertificateParams::new(["grocer-webhook.grocer-system.svc".to_owned()]).expect("a name");
    params.not_after = rcgen::date_time_ymd(2020, 1, 1);
    let certificate = params.self_signed(&expired).expect("a certificate").pem();
    let file = folder.path().join("expired.pem");
    fs::write(&file, certificate).expect("a folder of our own");
    let encoded = Command::new("base64")
        .arg("--wrap=0")
        .arg(&file)
        .output()
        .expect("coreutils");
    let encoded = String::from_utf8(encoded.stdout).expect("base64 is text");
    grocery.patch(
        "secret/grocer-webhook",
        "merge",
        &json!({"data": {"tls.crt": encoded}}),
        &[],
    );
    let said = grocery.doctor(&[], &[]);
    let says = [
        "has expired at 2020-01-01T00:00:00Z",
        "kubectl delete secret/grocer-webhook -n grocer",
    ];
    named(&said, "certificates", &says);
    named(&said, "lease", &["the Lease `grocer`"]);
}
