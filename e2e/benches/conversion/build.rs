//! Builds the webhooks that are compared: the generated operator in release mode, and a program in Go.

use crate::e2e::cluster;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Builds both.
pub fn all() {
    cluster::say("building the webhooks");
    let (benches, krate) = (
        Path::new(env!("CARGO_MANIFEST_DIR")).join("benches"),
        folder().join("crate"),
    );
    let _ = fs::remove_dir_all(&krate);
    fs::create_dir_all(folder()).expect("a folder of our own");
    run(Command::new(env!("CARGO_BIN_EXE_krator-e2e"))
        .arg("new")
        .arg(benches.join("conversion/krator.yaml"))
        .arg("--out")
        .arg(&krate)
        .stdout(Stdio::null()));
    // The folder of the other benchmark, because most of the dependencies are the same.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("converge/target");
    run(Command::new(env!("CARGO"))
        .args(["build", "--release", "--locked", "--quiet"])
        .current_dir(&krate)
        .env("CARGO_TARGET_DIR", &target));
    fs::copy(target.join("release/depots"), krator()).expect("cargo has built it");
    run(Command::new("go")
        .args(["build", "-mod=readonly", "-buildvcs=false", "-trimpath"])
        .args(["-ldflags=-s -w", "-o"])
        .arg(controller_runtime())
        .arg("./cmd/convert")
        .current_dir(benches.join("converge/rivals/go"))
        .envs([("CGO_ENABLED", "0"), ("GOWORK", "off")]));
}

/// The generated operator.
pub fn krator() -> PathBuf {
    folder().join("krator")
}

/// The program in Go.
pub fn controller_runtime() -> PathBuf {
    folder().join("controller-runtime")
}

/// The definition of the kind.
pub fn definition() -> String {
    fs::read_to_string(folder().join("crate/deploy/crd.yaml")).expect("generated")
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("conversion")
}

fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(status.success(), "{command:?}: {status}");
}
