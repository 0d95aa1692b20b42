//! Binaries that are built another way than those of the other tests: krator from its packages, and an operator that
//! prints its CRD.

use crate::moose::DESCRIPTION;
use crate::operator::{Crate, build_folder, cargo, files, krator, run};
use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn the_operator_prints_the_crd_that_is_deployed() {
    let krate = Crate::generate(DESCRIPTION, |_| ());
    let binary = krate.dir().with_file_name("operator");
    krate.build(&binary);
    let output = Command::new(&binary)
        .arg("crd")
        .output()
        .expect("the operator runs");
    assert!(output.status.success());
    let deployed = fs::read_to_string(krate.dir().join("deploy/crd.yaml")).expect("generated");
    assert_eq!(String::from_utf8_lossy(&output.stdout), deployed);
}

/// `cargo package` leaves files out and rewrites manifests, so a krator from crates.io is not built from the same files as
/// this one.
#[test]
fn a_krator_built_from_its_packages_generates_the_same_crate() {
    let work = tempfile::tempdir().expect("a temporary folder");
    let packages = work.path().join("packages");
    let package = [
        "package",
        "--workspace",
        "--no-verify",
        "--allow-dirty",
        "--quiet",
    ];
    run(cargo()
        .args(package)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("CARGO_TARGET_DIR", &packages));
    for name in ["krator", "krator-runtime", "krator-schema"] {
        let archive = packages.join(format!("package/{name}-{}.crate", env!("CARGO_PKG_VERSION")));
        // Files get the current time. With the times in the archive, cargo would not see that they changed since the last run.
        run(Command::new("tar")
            .arg("-xzmf")
            .arg(archive)
            .arg("-C")
            .arg(work.path()));
    }
    let unpacked = |name: &str| work.path().join(format!("{name}-{}", env!("CARGO_PKG_VERSION")));
    // The libraries of this version need not be published yet, so cargo is told where they are.
    let mut build = cargo();
    build.args(["build", "--quiet"]);
    for library in ["krator-runtime", "krator-schema"] {
        let path = unpacked(library).display().to_string();
        build.args(["--config", &format!("patch.crates-io.{library}.path={path:?}")]);
    }
    run(build.current_dir(unpacked("krator")));

    let description = work.path().join("moose.yaml");
    fs::write(&description, DESCRIPTION).expect("a folder of our own");
    let [ours, theirs] = ["ours", "theirs"].map(|name| work.path().join(name));
    let new = [Path::new("new"), &description, Path::new("--out")];
    assert!(krator(&[&new[..], &[ours.as_path()]].concat()).status.success());
    run(Command::new(build_folder().join("debug/krator"))
        .args(new)
        .arg(&theirs));

    let (ours, theirs) = (files(&ours), files(&theirs));
    assert!(
        ours.keys().eq(theirs.keys()),
        "{:?}\n{:?}",
        ours.keys(),
        theirs.keys()
    );
    let differ: Vec<_> = ours
        .iter()
        .filter(|(path, contents)| theirs[*path] != **contents)
        .map(|(path, _)| path)
        .collect();
    assert!(differ.is_empty(), "these differ: {differ:?}");
}
