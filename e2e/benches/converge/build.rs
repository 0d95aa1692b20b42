//! Builds the operators that are compared. Operators in Rust are built in release mode, with the profile of generated
//! crates.

use crate::e2e::cluster::{self, Cluster};
use crate::workload::Workload;
use krator::plan::as_written;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PARCELS: &str = include_str!("spec.yaml");
const SHOPS: &str = include_str!("shops/krator.yaml");

/// The handlers of shops, as an author would write them.
const SHOP_HANDLERS: [(&str, &str); 3] = [
    ("opening.rs", include_str!("shops/opening.rs")),
    ("open.rs", include_str!("shops/open.rs")),
    ("closed.rs", include_str!("shops/closed.rs")),
];

/// The states that a parcel only passes through.
const PASSED: [&str; 3] = ["Packed", "Sorted", "Loaded"];

/// The first statements of the handler of `Packed`, as in the other operators.
const COMPUTE: &str = "
        let rounds: u64 = std::env::var(\"PARCELS_COMPUTE\").map_or(0, |rounds| rounds.parse().unwrap_or(0));
        std::hint::black_box((0..rounds).fold(1_u64, |sum, round| std::hint::black_box(sum).wrapping_mul(6_364_136_223_846_793_005) ^ round));
";

/// A binary. Some serve several contenders, with different arguments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Program {
    /// kube-rs.
    Controller,
    /// Go.
    ControllerRuntime,
    Krator06,
    /// Generated.
    Parcels,
    /// Generated, with `checkpoint: false`.
    ParcelsPassing,
    /// Generated.
    Shops,
}

/// Whether a program can be built, or has been built if it must not be built again.
pub fn is_possible(program: Program, built: bool) -> bool {
    match program {
        Program::ControllerRuntime if built => binary(program).exists(),
        Program::ControllerRuntime => Command::new("go")
            .arg("version")
            .stdout(Stdio::null())
            .status()
            .is_ok_and(|status| status.success()),
        _ => true,
    }
}

/// Builds a program.
pub fn build(program: Program) {
    cluster::say(&format!("building {program:?}"));
    fs::create_dir_all(folder().join("bin")).expect("a folder of our own");
    // Built one at a time, because a joint build would unify the features of their dependencies.
    match program {
        Program::Controller => compile(&rivals(), "controller", program),
        Program::Krator06 => compile(&rivals(), "krator06", program),
        Program::ControllerRuntime => run(Command::new("go")
            .args(["build", "-mod=readonly", "-buildvcs=false", "-trimpath"])
            .args(["-ldflags=-s -w", "-o"])
            .arg(binary(program))
            .arg("./cmd")
            .current_dir(rivals().join("go"))
            .envs([("CGO_ENABLED", "0"), ("GOWORK", "off")])),
        Program::Parcels | Program::ParcelsPassing => compile(&write_crate(program), "parcels", program),
        Program::Shops => compile(&write_crate(program), "shops", program),
    }
}

/// Generates the crate of a generated program, with its handlers.
pub fn write_crate(program: Program) -> PathBuf {
    match program {
        Program::Parcels => generate_parcels(program, PARCELS),
        Program::ParcelsPassing => generate_parcels(program, &without_checkpoints()),
        Program::Shops => generate_shops(),
        other => panic!("{other:?} is written by hand"),
    }
}

/// The description of parcels with `checkpoint: false` in the states that a parcel only passes through.
fn without_checkpoints() -> String {
    let mut text = PARCELS.to_owned();
    for state in PASSED {
        let (head, key) = (format!("  {state}:\n"), "    checkpoint: false\n");
        assert!(text.contains(&head), "{state} is a state");
        text = text.replace(&head, &format!("{head}{key}"));
    }
    text
}

/// Generates the crate of parcels, with handlers derived from the generated ones.
fn generate_parcels(program: Program, description: &str) -> PathBuf {
    let krate = generate(program, description);
    let states = fs::read_dir(krate.join("src/parcel/states")).expect("a generated folder");
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
    krate
}

fn generate_shops() -> PathBuf {
    let krate = generate(Program::Shops, SHOPS);
    for (file, handler) in SHOP_HANDLERS {
        let file = krate.join("src/shop/states").join(file);
        assert!(file.exists(), "{} is generated", file.display());
        fs::write(&file, handler).expect("a folder of our own");
    }
    krate
}

fn generate(program: Program, description: &str) -> PathBuf {
    let folder = folder().join(name(program));
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
    out
}

fn compile(dir: &Path, package: &str, program: Program) {
    let target = folder().join("target");
    let build = ["build", "--release", "--locked", "--quiet", "--package", package];
    run(Command::new(env!("CARGO"))
        .args(build)
        .current_dir(dir)
        .env("CARGO_TARGET_DIR", &target));
    // Copied, because other binaries of this name are built in the same folder.
    fs::copy(target.join("release").join(package), binary(program)).expect("cargo has built it");
}

fn name(program: Program) -> &'static str {
    match program {
        Program::Controller => "controller",
        Program::ControllerRuntime => "controller-runtime",
        Program::Krator06 => "krator06",
        Program::Parcels => "krator",
        Program::ParcelsPassing => "krator-passing",
        Program::Shops => "krator-shops",
    }
}

pub fn binary(program: Program) -> PathBuf {
    folder().join("bin").join(name(program))
}

fn rivals() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/converge/rivals")
}

/// Exempts the operators from the request limits of the server. The handling of refused requests is not measured.
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

/// The program whose crate has the CRD for all operators of a workload.
pub fn with_crd(workload: Workload) -> Program {
    match workload {
        Workload::Parcels => Program::Parcels,
        Workload::Children => Program::Shops,
    }
}

/// Installs the CRD of a workload's objects, and gives the operators all rights.
pub fn install(cluster: &Cluster, workload: Workload) {
    let crd = folder()
        .join(name(with_crd(workload)))
        .join("crate/deploy/crd.yaml");
    let crd = fs::read_to_string(crd).expect("generated");
    cluster.apply(&crd, &[]);
    let definition = format!("crd/{}.bench.krator.dev", workload.api().plural);
    cluster.wait_established(&[&definition]);
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
