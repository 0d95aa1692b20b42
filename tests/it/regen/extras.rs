//! The optional parts of a crate: the chart, alerts, a network policy, all manifests in one file.

use crate::regenerate::{ELSEWHERE, generate, new, text};
use krator::fixes::asking_for;
use krator::model::Extra;
use krator::spec::Files;
use std::collections::BTreeSet;
use std::fs;

/// A description, up to `deploy`.
const DOOR: &str = "krator: 1\nresource: {group: example.com, version: v1, kind: Door}\nspec: {width: integer}\n\
                    machine: {initial: Closed}\nstates: {Closed: {kind: ready}}\n";

/// A text without these keys, and without mappings that become empty.
fn without(text: &str, extras: &BTreeSet<Extra>) -> String {
    let mut text = text.to_owned();
    for extra in extras {
        let entry = format!("{}: true", extra.key());
        for around in [
            format!("{entry}, "),
            format!("  {entry}\r\n"),
            format!("  {entry}\n"),
            entry,
        ] {
            text = text.replace(&around, "");
        }
    }
    text.replace("\ndeploy: {}", "").replace("deploy: {}, ", "")
}

#[test]
fn krator_asks_for_more_files_however_a_description_is_written() {
    let all = BTreeSet::from(Extra::ALL);
    for description in [
        DOOR.to_owned(),
        DOOR.trim_end().to_owned(),
        format!("{DOOR}# The end.\n"),
        format!("{DOOR}deploy: {{replicas: 2}}\n"),
        format!("{DOOR}deploy:\n  # Two of them.\n  replicas: 2\n"),
        format!("{DOOR}deploy:\n  args:\n    - --x\n").replace('\n', "\r\n"),
        DOOR.replace("spec:", "deploy:\n  env: [{name: A, value: 'b: {'}]\nspec:"),
        format!("{DOOR}---\n{}", DOOR.replace("Door", "Gate")),
    ] {
        let checked = krator::check("krator.yaml", description.as_bytes());
        assert!(checked.sound().is_some(), "{description}");
        let asking = asking_for(&checked.source, &Files::default(), &all).expect(&description);
        let now = krator::check("krator.yaml", asking.as_bytes());
        assert_eq!(now.sound().expect(&asking).deploy.extras, all, "{asking}");
        assert_eq!(without(&asking, &all), description, "{asking}");
    }
    let in_braces = format!("{{{}}}", DOOR.trim_end().replace('\n', ", "));
    let checked = krator::check("krator.yaml", in_braces.as_bytes());
    assert_eq!(
        asking_for(&checked.source, &Files::default(), &all),
        None,
        "its owner has to write it"
    );
    let refused = format!("{DOOR}deploy: {{chart: false}}\n");
    let checked = krator::check("krator.yaml", refused.as_bytes());
    let asking = asking_for(
        &checked.source,
        &Files::default(),
        &BTreeSet::from([Extra::Chart]),
    );
    assert_eq!(asking, Some(refused.replace("false", "true")));
}

#[test]
fn a_crate_that_has_the_files_asks_for_them_from_the_first_run_on() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let (description, dir) = (home.path().join("krator.yaml"), home.path().join("doors"));
    fs::write(
        &description,
        format!("{DOOR}deploy: {{replicas: 2, chart: true, monitoring: true}}\n"),
    )
    .expect("a folder of our own");
    new(&description, &dir, ELSEWHERE);
    // The state after a former krator, which had no such keys.
    let replace = |file: &str, from: &str, to: &str| {
        let text = fs::read_to_string(dir.join(file)).expect("generated");
        assert!(text.contains(from), "{text}");
        fs::write(dir.join(file), text.replace(from, to)).expect("a folder of our own");
    };
    replace(".krator/files", "layout 5", "layout 4");
    for file in ["krator.yaml", ".krator/krator.yaml"] {
        replace(file, ", chart: true, monitoring: true", "");
    }

    let before = fs::read(dir.join("deploy/chart/values.yaml")).expect("the chart");
    let output = generate(&dir, &[]);
    assert!(output.status.success(), "{}", text(output.stderr));
    let now = fs::read_to_string(dir.join("krator.yaml")).expect("the description");
    assert!(
        now.ends_with("deploy: {monitoring: true, chart: true, replicas: 2}\n"),
        "{now}"
    );
    assert_eq!(
        fs::read(dir.join("deploy/chart/values.yaml")).expect("the chart"),
        before
    );
    assert!(dir.join("deploy/components/monitoring/rules.yaml").exists());
    assert!(!dir.join("dist/install.yaml").exists(), "it had none");

    // The removal of the key is a decision of the user.
    replace("krator.yaml", ", chart: true", "");
    let output = generate(&dir, &["--prune"]);
    assert!(output.status.success(), "{}", text(output.stderr));
    assert!(!dir.join("deploy/chart").exists());
    let output = generate(&dir, &["--add=chart"]);
    assert!(output.status.success(), "{}", text(output.stderr));
    assert!(dir.join("deploy/chart/Chart.yaml").exists());
}
