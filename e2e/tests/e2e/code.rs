//! Compiles hand-written code. `tests/it/code.rs` describes the cases.

use crate::code_case::{Renaming, cases, rename};
use crate::operator::Crate;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A crate that is generated from a description, with hand-written files in place of the generated ones.
fn crate_of(spec: &Path, seeded: &BTreeMap<String, String>, written: &BTreeMap<String, String>) -> Crate {
    let text = fs::read_to_string(spec).expect("a description of a test");
    Crate::generate(&text, |folder| {
        for path in seeded.keys() {
            fs::remove_file(folder.join(path)).expect("a generated file");
        }
        for (path, contents) in written {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder of our own");
            fs::write(path, contents).expect("a folder of our own");
        }
    })
}

/// Names in macros are left unchanged and reported; a renamed crate must have no other compile errors.
#[test]
fn each_renamed_crate_compiles_but_for_what_was_reported() {
    let mut wrong = Vec::new();
    for (name, case) in cases("rename") {
        let Renaming {
            now, after, renamed, ..
        } = rename(&case);
        let reported: BTreeSet<(&str, u64)> = renamed
            .reports
            .iter()
            .flat_map(|report| {
                let at = |offset| report.source.position(offset).line as u64;
                let findings = report.findings.iter();
                findings.map(move |finding| (report.source.name(), at(finding.span.start)))
            })
            .collect();
        let krate = crate_of(&case.join("spec.yaml"), &now.seeded(), &after);
        let mut errors = krate.errors().into_iter();
        if let Some(place) = errors.find(|(file, line, _)| !reported.contains(&(file.as_str(), *line))) {
            wrong.push(format!("{name}: {place:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
