//! Hand-written code, checked against its description.
//!
//! `testdata/code/<case>/` is a crate. `spec.yaml` is its description; the other files replace generated ones, as somebody
//! has edited them. `former.yaml` is the description that the crate was last generated from, if that was another one.
//! `expected.txt` is what `krator check` finds in the code; `KRATOR_UPDATE=1 cargo test` rewrites it.

use crate::case_file::is_update;
use crate::goldens;
use crate::operator::Crate;
use krator::catalog::Severity;
use krator::code::{self, Code, InFile, Renames};
use krator::finding::{Style, to_text};
use krator::plan::{Ownership, Plan};
use krator::render::{self, Runtime};
use krator::{Checked, model::Description};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A description with its plan.
struct Described {
    checked: Checked,
    plan: Plan,
}

impl Described {
    fn read(path: &Path) -> Self {
        let text = fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        Self::of(&text)
    }

    fn of(text: &[u8]) -> Self {
        let checked = krator::check("krator.yaml", text);
        let runtime = Runtime::Path("runtime".into());
        let description = checked.description.as_ref().expect("a description of a test");
        let plan = render::plan(description, &checked.source, &runtime);
        Described { checked, plan }
    }

    fn description(&self) -> &Description {
        self.checked
            .description
            .as_ref()
            .expect("a description of a test")
    }

    fn code<'a>(&'a self, written: &'a BTreeMap<String, String>) -> Code<'a> {
        Code::new(self.description(), &self.checked.source, &self.plan, written)
    }

    /// The Rust files that are generated once and then belong to their owner, as generated.
    fn seeded(&self) -> BTreeMap<String, String> {
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

fn cases(folder: &str) -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata")
        .join(folder);
    let entries = fs::read_dir(root).expect("a folder of the repository");
    let mut cases: Vec<_> = entries
        .map(|entry| entry.expect("a folder of the repository").path())
        .map(|path| {
            (
                path.file_name().expect("a name").to_string_lossy().into_owned(),
                path,
            )
        })
        .collect();
    cases.sort();
    cases
}

/// The Rust files of a case: those that are generated once, as somebody has edited them.
fn written(case: &Path, seeded: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut written = seeded;
    for (path, contents) in crate::operator::files(case) {
        let path = path.to_string_lossy().replace('\\', "/");
        if path.ends_with(".rs") && !path.starts_with("after/") {
            written.insert(path, String::from_utf8(contents).expect("code is text"));
        }
    }
    written
}

fn text(files: &[InFile]) -> String {
    let findings = files.iter().flat_map(|file| {
        file.findings
            .iter()
            .map(|finding| to_text(&file.source, finding, Style::Plain))
    });
    findings.collect()
}

/// The findings in the crate of a case.
fn check(case: &Path) -> Vec<InFile> {
    let now = Described::read(&case.join("spec.yaml"));
    let former = case.join("former.yaml");
    let seeded = match former.is_file() {
        true => Described::read(&former).seeded(),
        false => now.seeded(),
    };
    code::findings(&now.code(&written(case, seeded)))
}

/// Compares a file with what a run gave, or rewrites it.
fn compare(path: &Path, text: &str, wrong: &mut Vec<String>) {
    if is_update() {
        fs::write(path, text).expect("the repository can be written");
    } else if fs::read_to_string(path).unwrap_or_default() != text {
        wrong.push(format!(
            "{} differs (KRATOR_UPDATE=1 rewrites it), now:\n{text}",
            path.display()
        ));
    }
}

#[test]
fn each_case_gives_the_expected_findings() {
    let mut wrong = Vec::new();
    for (_, case) in cases("code") {
        compare(&case.join("expected.txt"), &text(&check(&case)), &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A crate that is generated from a description, with written files in place of the generated ones.
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

/// `testdata/rename/<case>/` is a crate that was generated from `former.yaml`, in which names change to those of `spec.yaml`.
/// `after/` has its written files after that, and `reports.txt` names what was left unchanged. The renamed crate has no
/// errors.
#[test]
fn each_case_is_renamed_as_expected() {
    let mut wrong = Vec::new();
    for (name, case) in cases("rename") {
        let (former, now) = (
            Described::read(&case.join("former.yaml")),
            Described::read(&case.join("spec.yaml")),
        );
        let before = written(&case, former.seeded());
        let renames = Renames::between(former.description(), now.description());
        let renamed = code::rename(&former.code(&before), &renames);
        let shown = |path: &str| case.join(path).is_file();
        let mut after = now.seeded();
        for (path, contents) in &before {
            let (new_path, new_contents) = match renamed.files.get(path) {
                Some((path, contents)) => (path.as_str(), contents.as_str()),
                None => (path.as_str(), contents.as_str()),
            };
            if shown(path) {
                let expected = case.join("after").join(new_path);
                fs::create_dir_all(expected.parent().expect("a folder"))
                    .expect("the repository can be written");
                compare(&expected, new_contents, &mut wrong);
            }
            after.insert(new_path.to_owned(), new_contents.to_owned());
        }
        compare(&case.join("reports.txt"), &text(&renamed.reports), &mut wrong);
        let found = code::findings(&now.code(&after));
        let errors = found
            .iter()
            .flat_map(|file| &file.findings)
            .any(|f| f.rule.severity == Severity::Error);
        if errors {
            wrong.push(format!("{name} has errors when it is renamed:\n{}", text(&found)));
        }
        let krate = crate_of(&case.join("spec.yaml"), &now.seeded(), &after);
        let compiler = krate.errors();
        // Names in macros are left unchanged and reported; nothing else may fail to compile.
        let is_left = |(file, line, _): &(String, u64, String)| {
            let reports = renamed
                .reports
                .iter()
                .filter(|report| report.source.name() == file);
            reports
                .flat_map(|report| {
                    report
                        .findings
                        .iter()
                        .map(|f| report.source.position(f.span.start).line)
                })
                .any(|at| at as u64 == *line)
        };
        if let Some(place) = compiler.iter().find(|place| !is_left(place)) {
            wrong.push(format!("{name} does not compile when it is renamed: {place:?}"));
        }
        // Renaming moves no lines.
        for (path, contents) in &renamed.files {
            assert_eq!(before[path].lines().count(), contents.1.lines().count());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn crates_as_generated_have_no_findings() {
    for (name, case) in goldens::cases() {
        let described = Described::read(&case.join("spec.yaml"));
        for is_written in [false, true] {
            let mut texts = described.seeded();
            if is_written {
                // As in the crates of examples, whose handlers count as written.
                let written = described.plan.clone().written();
                texts.retain(|path, text| {
                    let file = written.get(path).expect("the same files");
                    text.clone_from(&file.contents);
                    true
                });
            }
            let found = code::findings(&described.code(&texts));
            assert!(found.is_empty(), "{name}: {}", text(&found));
        }
    }
}

/// The rules that are broken in some case.
pub fn covered() -> BTreeSet<String> {
    let expected = cases("code")
        .into_iter()
        .map(|(_, case)| case.join("expected.txt"))
        .chain(
            cases("rename")
                .into_iter()
                .map(|(_, case)| case.join("reports.txt")),
        );
    let texts: String = expected
        .map(|path| fs::read_to_string(path).unwrap_or_default())
        .collect();
    let rules = krator::catalog::all();
    rules
        .filter(|rule| texts.contains(&format!("[{}]", rule.name)))
        .map(|rule| rule.name.to_owned())
        .collect()
}
