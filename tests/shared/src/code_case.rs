//! The cases of `testdata/code/` and `testdata/rename/`, which `tests/it/code.rs` describes.

use crate::case_file::entries;
use krator::code::{self, Code, InFile, Renamed, Renames};
use krator::finding::{Style, to_text};
use krator::plan::{Ownership, Plan};
use krator::render::{self, Runtime};
use krator::{Checked, model::Description};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A description with its plan.
pub struct Described {
    pub checked: Checked,
    pub plan: Plan,
}

impl Described {
    pub fn read(path: &Path) -> Self {
        let text = fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        Self::of(&text)
    }

    pub fn of(text: &[u8]) -> Self {
        let checked = krator::check("krator.yaml", text);
        let runtime = Runtime::Path("runtime".into());
        let description = checked.description.as_ref().expect("a description of a test");
        let plan = render::plan(description, &checked.source, &runtime);
        Described { checked, plan }
    }

    pub fn description(&self) -> &Description {
        self.checked
            .description
            .as_ref()
            .expect("a description of a test")
    }

    pub fn code<'a>(&'a self, written: &'a BTreeMap<String, String>) -> Code<'a> {
        Code::new(self.description(), &self.checked.source, &self.plan, written)
    }

    /// The Rust files that are generated once and then belong to the user, as generated.
    pub fn seeded(&self) -> BTreeMap<String, String> {
        let files = self.plan.files();
        files
            .filter(|(path, file)| {
                path.ends_with(".rs")
                    && file.ownership != Ownership::Generated
                    && !path.starts_with("vendor/")
            })
            .map(|(path, file)| (path.to_owned(), file.contents.clone()))
            .collect()
    }
}

pub fn cases(folder: &str) -> Vec<(String, PathBuf)> {
    let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
    entries(folder)
        .into_iter()
        .map(|path| (name(&path), path))
        .collect()
}

/// The Rust files of a case: the files that are generated once, with the edits of the case.
pub fn written(case: &Path, seeded: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut written = seeded;
    for (path, contents) in crate::operator::files(case) {
        let path = path.to_string_lossy().replace('\\', "/");
        if path.ends_with(".rs") && !path.starts_with("after/") {
            written.insert(path, String::from_utf8(contents).expect("code is text"));
        }
    }
    written
}

pub fn text(files: &[InFile]) -> String {
    let findings = files.iter().flat_map(|file| {
        file.findings
            .iter()
            .map(|finding| to_text(&file.source, finding, Style::Plain))
    });
    findings.collect()
}

/// The findings in the crate of a case.
pub fn check(case: &Path) -> Vec<InFile> {
    let now = Described::read(&case.join("spec.yaml"));
    let former = case.join("former.yaml");
    let seeded = match former.is_file() {
        true => Described::read(&former).seeded(),
        false => now.seeded(),
    };
    code::findings(&now.code(&written(case, seeded)))
}

/// A case of `testdata/rename/`.
pub struct Renaming {
    pub now: Described,
    /// The written files, by path.
    pub before: BTreeMap<String, String>,
    /// The files that are generated once, with the written ones after the renaming.
    pub after: BTreeMap<String, String>,
    pub renamed: Renamed,
}

/// Renames the code of a case.
pub fn rename(case: &Path) -> Renaming {
    let former = Described::read(&case.join("former.yaml"));
    let now = Described::read(&case.join("spec.yaml"));
    let before = written(case, former.seeded());
    let renames = Renames::between(former.description(), now.description());
    let renamed = code::rename(&former.code(&before), &renames);
    let mut after = now.seeded();
    for (path, contents) in &before {
        let (path, contents) = renamed
            .files
            .get(path)
            .cloned()
            .unwrap_or((path.clone(), contents.clone()));
        after.insert(path, contents);
    }
    Renaming {
        now,
        before,
        after,
        renamed,
    }
}
