//! The output of krator for programs matches the schemas of `krator schema`, and these are as reviewed.
//!
//! `testdata/outputs/SUBJECT.json` is the schema of the output of a subcommand. A change of one may break a program;
//! `docs/outputs.md` describes the allowed changes of each. `KRATOR_UPDATE=1 cargo test` rewrites them.

use crate::case_file::{case_files, expect_file};
use crate::descriptions::cases;
use crate::edit_case;
use crate::operator::krator;
use crate::outputs::printed;
use std::path::Path;

/// Every subject of `krator schema` apart from descriptions.
const SUBJECTS: [&str; 5] = ["diff", "doctor", "findings", "graph", "why"];

#[test]
fn the_schemas_of_outputs_are_as_reviewed() {
    let folder = krator_tests::root().join("testdata/outputs");
    let mut differ = Vec::new();
    for subject in SUBJECTS {
        let schema = krator(&[Path::new("schema"), Path::new(subject)]);
        let schema = String::from_utf8(schema.stdout).expect("krator writes UTF-8");
        expect_file(&folder.join(format!("{subject}.json")), &schema, &mut differ);
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}

#[test]
fn the_page_of_outputs_names_every_subject() {
    let page = crate::documents::read("docs/outputs.md");
    for subject in SUBJECTS {
        assert!(page.contains(&format!("`krator schema {subject}`")), "{subject}");
    }
}

#[test]
fn findings_fit_their_schema() {
    for case in case_files("err", &["before.yaml", "spec.yaml", "expected"]) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("krator.yaml");
        std::fs::write(&path, case.section("spec.yaml")).expect("a folder of our own");
        let arguments = ["check", "--verbose", "--format=json"].map(Path::new);
        let output = krator(&[&arguments[..], &[&path]].concat());
        printed("findings", &output.stdout);
    }
}

#[test]
fn comparisons_fit_their_schema() {
    for case in edit_case::cases() {
        let folder = case.folder();
        let [old, new] = ["old.yaml", "new.yaml"].map(|name| folder.path().join(name));
        let output = krator(&[Path::new("diff"), &old, &new, Path::new("--format=json")]);
        printed("diff", &output.stdout);
    }
}

#[test]
fn graphs_fit_their_schema() {
    for folder in cases().values() {
        let output = krator(&[Path::new("graph"), Path::new("--json"), &folder.join("spec.yaml")]);
        printed("graph", &output.stdout);
    }
}
