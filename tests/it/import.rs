//! `krator import`: descriptions from CRDs, and what it says that they leave out.
//!
//! A case is a folder of `testdata/import/` with a `crd.yaml`; `expected.yaml` is the description and `unsaid.txt` what it
//! cannot say. `KRATOR_UPDATE=1 cargo test` rewrites the two.

mod announced;
mod comparison;
mod mutants;

use crate::case_file::is_update;
use krator::catalog::Severity;
use krator::finding::{Style, to_text};
use krator::import::import;
use std::fs;
use std::path::{Path, PathBuf};

fn cases() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/import");
    let entries = fs::read_dir(root).expect("a folder of the repository");
    let mut cases: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a folder of the repository").path())
        .collect();
    cases.sort();
    assert!(!cases.is_empty(), "there are no cases");
    cases
}

/// Compares a file with what a run gave, or writes it.
fn expect(path: &Path, actual: &str, differ: &mut Vec<String>) {
    if is_update() {
        fs::write(path, actual).expect("the repository can be written");
    } else if fs::read_to_string(path).ok().as_deref() != Some(actual) {
        differ.push(format!("{} differs, now:\n{actual}", path.display()));
    }
}

#[test]
fn each_case_has_its_description_and_what_it_leaves_out() {
    let mut differ = Vec::new();
    for case in cases() {
        let text = fs::read_to_string(case.join("crd.yaml")).expect("a case has a CRD");
        let (description, unsaid) = match import(&text, None) {
            Ok(imported) => {
                let unsaid: Vec<String> = imported.unsaid.iter().map(|it| format!("{it}\n")).collect();
                (imported.description, unsaid.concat())
            }
            Err(refusal) => (String::new(), format!("{refusal}\n")),
        };
        expect(&case.join("expected.yaml"), &description, &mut differ);
        expect(&case.join("unsaid.txt"), &unsaid, &mut differ);
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}

#[test]
fn descriptions_of_the_cases_have_no_errors_and_no_warnings() {
    for case in cases() {
        let text = fs::read_to_string(case.join("crd.yaml")).expect("a case has a CRD");
        let Ok(imported) = import(&text, None) else {
            continue;
        };
        let checked = krator::check("krator.yaml", imported.description.as_bytes());
        let found = checked.findings.iter();
        let found: String = found
            .filter(|finding| finding.rule.severity != Severity::Info)
            .map(|finding| to_text(&checked.source, finding, Style::Plain))
            .collect();
        assert_eq!(found, "", "{}", case.display());
    }
}

/// What krator generates is a CRD, too, and a description of it says all of it.
#[test]
fn descriptions_survive_the_way_through_their_crd() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/ok");
    for case in fs::read_dir(root).expect("a folder of the repository") {
        let path = case.expect("a folder of the repository").path().join("spec.yaml");
        let text = fs::read_to_string(&path).expect("a file of the repository");
        let checked = krator::check("krator.yaml", text.as_bytes());
        let Some(description) = checked.sound() else {
            continue;
        };
        let crds = krator::render::crd::crd(description);
        for kind in &description.kinds {
            let kind = kind.resource.kind.as_str();
            let imported =
                import(&crds, Some(kind)).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
            let again = krator::check("krator.yaml", imported.description.as_bytes());
            let again = again
                .sound()
                .unwrap_or_else(|| panic!("{}", imported.description));
            let was = comparison::spec_of(&crds, kind);
            let is = comparison::spec_of(&krator::render::crd::crd(again), kind);
            assert_eq!(is, was, "{}: {kind}\n{}", path.display(), imported.description);
        }
    }
}
