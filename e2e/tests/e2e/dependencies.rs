//! The build for the tests in README.md also serves the tests of this package and of `krator-messages`, because both
//! enable the same features of their common dependencies.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// The packages that tests depend on, each with the feature sets in which it is built: those for procedural macros may
/// differ from those for other dependencies. Dependencies of build scripts are left out, because the packages cannot
/// agree on their features.
fn packages(of: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .current_dir(krator_tests::root())
        .args(["tree", "--offline", "--locked", "--edges=normal,dev"])
        .args(["--prefix=none", "--no-dedupe", "--format={p}\t{f}"])
        .args(of)
        .output()
        .expect("cargo runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).expect("cargo prints UTF-8");
    let mut packages = BTreeMap::<_, BTreeSet<String>>::new();
    for (package, features) in text.lines().filter_map(|line| line.split_once('\t')) {
        packages
            .entry(package.to_owned())
            .or_default()
            .insert(features.to_owned());
    }
    packages
}

#[test]
fn both_sets_of_tests_have_the_same_dependencies() {
    let first = packages(&[]);
    let mut again = Vec::new();
    for (package, features) in packages(&["-p=e2e", "-p=krator-messages"]) {
        if let Some(built) = first.get(&package)
            && !features.is_subset(built)
        {
            again.push(format!("{package}: {features:?}, and not {built:?}"));
        }
    }
    assert!(
        again.is_empty(),
        "compiled once more for e2e, because the features differ:\n{}",
        again.join("\n")
    );
}
