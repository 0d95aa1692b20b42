//! Binaries that are built in another way than those of the other tests: krator from its packages, and an operator that
//! prints its CRD.

use crate::documents::CRATES;
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

/// Packs the selected packages as for crates.io, and unpacks those with these names into a folder.
fn pack(selected: &[&str], names: &[&str], folder: &Path) {
    let packages = folder.join("packages");
    run(cargo()
        .arg("package")
        .args(selected)
        .args(["--no-verify", "--allow-dirty", "--quiet"])
        .current_dir(krator_tests::root())
        .env("CARGO_TARGET_DIR", &packages));
    for name in names {
        let archive = packages.join(format!("package/{name}-{}.crate", env!("CARGO_PKG_VERSION")));
        // Files get the current time. With the times in the archive, cargo would not detect changes since the last run.
        run(Command::new("tar")
            .arg("-xzmf")
            .arg(archive)
            .arg("-C")
            .arg(folder));
    }
}

/// The packed runtime replaces the published one, because this version may be unpublished.
#[test]
fn a_crate_may_take_the_runtime_from_a_registry() {
    let work = tempfile::tempdir().expect("a temporary folder");
    // The dependencies of the runtime in this repository are packed with it, because cargo would look for them in the
    // registry otherwise.
    let packages = ["krator-machine", "krator-runtime"];
    let selected = packages.map(|name| ["--package", name]).concat();
    pack(&selected, &packages, work.path());
    let spec = work.path().join("moose.yaml");
    // The operator needs a name of its own, because cargo would confuse crates of the same name in different folders.
    let description = DESCRIPTION.replace("operator: moose-tracker", "operator: moose-follower");
    fs::write(&spec, description).expect("a folder of our own");
    let krate = work.path().join("crate");
    let version = format!("version={}", env!("CARGO_PKG_VERSION"));
    let new = [Path::new("new"), &spec, Path::new("--out"), &krate];
    let new = [&new[..], &[Path::new("--runtime"), Path::new(&version)]].concat();
    let output = krator(&new);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(!krate.join("vendor").exists());

    let patches = packages.map(|name| {
        let unpacked = work.path().join(format!("{name}-{}", env!("CARGO_PKG_VERSION")));
        format!("patch.crates-io.{name}.path={:?}", unpacked.display().to_string())
    });
    run(cargo()
        .args(["build", "--quiet"])
        .args(patches.iter().flat_map(|patch| ["--config", patch]))
        .current_dir(&krate));

    // A requirement that a user, or Dependabot, has changed is kept.
    let manifest = krate.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).expect("generated");
    let changed = text.replace(
        &format!("krator-runtime = {{ version = \"{}\"", env!("CARGO_PKG_VERSION")),
        "krator-runtime = { version = \">=0.1\"",
    );
    assert_ne!(text, changed);
    fs::write(&manifest, &changed).expect("a folder of our own");
    for args in [&["gen"][..], &["gen", "--check"]] {
        run(Command::new(krator_tests::program())
            .args(args)
            .current_dir(&krate));
        assert_eq!(fs::read_to_string(&manifest).expect("it is there"), changed);
    }
}

/// `cargo package` leaves files out and rewrites manifests, so a krator from crates.io is built from other files than
/// this one.
#[test]
#[ignore = "it builds all of krator, as `just nightly` does"]
fn a_krator_built_from_its_packages_generates_the_same_crate() {
    let libraries = CRATES.map(|folder| folder.trim_start_matches("crates/"));
    let work = tempfile::tempdir().expect("a temporary folder");
    pack(
        &[
            "--workspace",
            "--exclude",
            "e2e",
            "--exclude",
            "simulated-operator",
        ],
        &[&["krator"], &libraries[..]].concat(),
        work.path(),
    );
    let unpacked = |name: &str| work.path().join(format!("{name}-{}", env!("CARGO_PKG_VERSION")));
    // The libraries of this version may be unpublished, so patches point to their folders.
    let patches = libraries.map(|library| {
        let path = unpacked(library).display().to_string();
        format!("patch.crates-io.{library}.path={path:?}")
    });
    let cargo_in = |name: &str, arguments: &[&str]| {
        run(cargo()
            .args(arguments)
            .args(patches.iter().flat_map(|patch| ["--config", patch]))
            .current_dir(unpacked(name)));
    };
    for library in libraries {
        cargo_in(library, &["test", "--quiet"]);
    }
    // The lean build can generate crates, too, and takes half the time.
    cargo_in("krator", &["build", "--quiet", "--no-default-features"]);

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
