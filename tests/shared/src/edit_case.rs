//! The cases of `testdata/compare/`, which `tests/it/compare.rs` describes.

use crate::case_file::{CaseFile, case_files};
use krator::compare::{Comparison, compare};
use krator::finding::{Source, has_errors};
use krator::model::Description;
use std::fs;
use tempfile::TempDir;

/// A case: two descriptions, and krator's report on the edit.
pub struct EditCase {
    pub file: CaseFile,
    pub old: (Source, Description),
    pub new: (Source, Description),
    pub comparison: Comparison,
}

impl EditCase {
    pub fn read(file: CaseFile) -> EditCase {
        let description = |section: &str| {
            let checked = krator::check(section, file.section(section).as_bytes());
            assert!(!has_errors(&checked.findings), "{}: {section}", file.name());
            let description = checked.description.expect("no errors, so there is a description");
            (checked.source, description)
        };
        let (old, new) = (description("old.yaml"), description("new.yaml"));
        EditCase {
            comparison: compare(&old.1, &new.1),
            file,
            old,
            new,
        }
    }

    pub fn name(&self) -> &str {
        self.file.name()
    }

    /// A folder with both descriptions, in which krator can be run.
    pub fn folder(&self) -> TempDir {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for description in ["old.yaml", "new.yaml"] {
            fs::write(folder.path().join(description), self.file.section(description))
                .expect("a folder of our own");
        }
        folder
    }
}

pub fn cases() -> Vec<EditCase> {
    let sections = ["old.yaml", "new.yaml", "objects.yaml", "counted", "expected"];
    let files = case_files("compare", &sections);
    files.into_iter().map(EditCase::read).collect()
}

pub fn case(name: &str) -> EditCase {
    let mut cases = cases().into_iter();
    let case = cases.find(|case| case.name() == name);
    case.unwrap_or_else(|| panic!("there is no case {name}"))
}
