//! The operators that are compared, and how they are built: in release mode, with the profile of generated crates.

use crate::e2e::cluster::Cluster;
use krator::plan::as_written;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const SPEC: &str = include_str!("spec.yaml");
/// The states that a parcel only passes through.
const PASSED: [&str; 3] = ["Packed", "Sorted", "Loaded"];

/// What the handler of `Packed` does first. The Controller does the same.
const COMPUTE: &str = "
        let rounds: u64 = std::env::var(\"PARCELS_COMPUTE\").map_or(0, |rounds| rounds.parse().unwrap_or(0));
        std::hint::black_box((0..rounds).fold(1_u64, |sum, round| std::hint::black_box(sum).wrapping_mul(6_364_136_223_846_793_005) ^ round));
";

/// A port that is free: the usual one may be in use on the machine.
const PROBES: &str = "--health-probe-bind-address=127.0.0.1:0";

/// An operator that is compared.
pub struct Contender {
    pub name: &'static str,
    pub binary: PathBuf,
    pub args: &'static [&'static str],
    /// Whether it goes on from the stored state of an object after a restart.
    pub resumes: bool,
    /// Whether its TLS library accepts only host names, not addresses.
    pub by_name: bool,
}

impl Contender {
    fn new(name: &'static str, binary: PathBuf, args: &'static [&'static str]) -> Self {
        Self {
            name,
            binary,
            args,
            resumes: true,
            by_name: false,
        }
    }
}

/// Builds the operators that are compared.
pub fn build(contenders: &[Contender]) {
    let is_compared = |name: &str| {
        contenders
            .iter()
            .any(|contender| contender.binary == binary(name))
    };
    // They are built one at a time, because in one build the features of their dependencies would be unified.
    fs::create_dir_all(binary("")).expect("a folder of our own");
    for rival in ["controller", "krator06"]
        .into_iter()
        .filter(|name| is_compared(name))
    {
        let rivals = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/converge/rivals");
        compile(&rivals, rival, &binary(rival));
    }
    for (name, description) in [("krator", SPEC), ("krator-passing", &without_checkpoints())] {
        // It is generated in any case, because the crate has the CRD that all operators need.
        let krate = generate(name, description);
        if is_compared(name) {
            compile(&krate, "parcels", &binary(name));
        }
    }
}

/// The operators that are compared. The others are compared with the first one.
pub fn all(variants: bool) -> Vec<Contender> {
    let controller = binary("controller");
    let mut contenders = vec![
        Contender::new("Controller", controller.clone(), &[]),
        // As krator works: one thread, at most 32 requests at once, no managedFields in memory.
        Contender::new(
            "Controller, tuned",
            controller.clone(),
            &["--one-thread", "--lean", "--bounded"],
        ),
    ];
    if variants {
        let variant = |name, args| Contender::new(name, controller.clone(), args);
        contenders.extend([
            variant("Controller, at most 32 at once", &["--bounded"]),
            variant("Controller, all of it in one reconciliation", &["--at-once"]),
            variant("Controller, merge patches", &["--merge"]),
            variant("Controller, without managedFields", &["--lean"]),
            variant(
                "Controller, without managedFields, at most 32 at once",
                &["--lean", "--bounded"],
            ),
        ]);
    }
    contenders.extend([
        Contender {
            resumes: false,
            by_name: true,
            ..Contender::new("krator 0.6", binary("krator06"), &[])
        },
        // The Controller publishes no events. No parcel fails, so there are no warnings either.
        Contender::new("krator", binary("krator"), &[PROBES, "--events=warnings"]),
        Contender::new("krator with events", binary("krator"), &[PROBES]),
        Contender::new(
            "krator, `checkpoint: false`",
            binary("krator-passing"),
            &[PROBES, "--events=warnings"],
        ),
    ]);
    contenders
}

/// The description with `checkpoint: false` in the states that a parcel only passes through.
fn without_checkpoints() -> String {
    let mut text = SPEC.to_owned();
    for state in PASSED {
        let (head, key) = (format!("  {state}:\n"), "    checkpoint: false\n");
        assert!(text.contains(&head), "{state} is a state");
        text = text.replace(&head, &format!("{head}{key}"));
    }
    text
}

/// Generates the crate of a description. It is built as generated, with the handlers as they begin.
fn generate(name: &str, description: &str) -> PathBuf {
    let folder = folder().join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder of our own");
    let (spec, out) = (folder.join("spec.yaml"), folder.join("crate"));
    fs::write(&spec, description).expect("a folder of our own");
    let krator = env!("CARGO_BIN_EXE_krator-e2e");
    run(Command::new(krator)
        .arg("new")
        .arg(&spec)
        .arg("--out")
        .arg(&out)
        .stdout(Stdio::null()));
    let states = fs::read_dir(out.join("src/parcel/states")).expect("a generated folder");
    for file in states {
        let file = file.expect("a generated file").path();
        let mut text = as_written(&fs::read_to_string(&file).expect("a generated file")).into_owned();
        if file.ends_with("packed.rs") {
            let begins = "Result<Transition<Self>> {\n";
            assert!(text.contains(begins), "{text}");
            text = text.replacen(begins, &format!("{begins}{COMPUTE}"), 1);
        }
        fs::write(&file, text).expect("a folder of our own");
    }
    out
}

fn compile(dir: &Path, package: &str, binary: &Path) {
    let target = folder().join("target");
    let build = ["build", "--release", "--locked", "--quiet", "--package", package];
    run(Command::new(env!("CARGO"))
        .args(build)
        .current_dir(dir)
        .env("CARGO_TARGET_DIR", &target));
    // It is copied because other binaries of this name are built into the same place.
    fs::copy(target.join("release").join(package), binary).expect("cargo has built it");
}

fn binary(name: &str) -> PathBuf {
    folder().join("bin").join(name)
}

/// Exempts the operators from the limits on requests that a server otherwise enforces. How an operator handles refused
/// requests is not measured.
const UNLIMITED: &str = "\
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
metadata: {name: contenders}
spec:
  priorityLevelConfiguration: {name: exempt}
  matchingPrecedence: 2
  rules:
  - subjects: [{kind: User, user: {name: operator}}]
    resourceRules:
    - {verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'], clusterScope: true}
";

/// Installs the CRD of the objects, and gives the operators all rights.
pub fn install(cluster: &Cluster) {
    let crd = folder().join("krator/crate/deploy/crd.yaml");
    let crd = fs::read_to_string(crd).expect("generated");
    cluster.apply(&crd, &[]);
    cluster.kubectl(&[
        "wait",
        "--for=condition=Established",
        "--timeout=60s",
        "crd",
        "parcels.bench.krator.dev",
    ]);
    cluster.apply(UNLIMITED, &[]);
    let grant = ["create", "clusterrolebinding", "contenders"];
    cluster.kubectl(&[&grant[..], &["--clusterrole=cluster-admin", "--user=operator"]].concat());
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("converge")
}

fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(status.success(), "{command:?}: {status}");
}
