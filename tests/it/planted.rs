//! A test of the tests: a runtime with a defect turns the generated tests of a crate red, and for the right reason.
//!
//! `testdata/planted/<defect>.txt` names a file of the runtime in its first line. Its sections are what is `right` in that
//! file, what is `planted` instead, and what the tests say that turn `red`. The crate is that of `spec.yaml` there, without Kubernetes: it is built in seconds.

use crate::case_file::{CaseFile, case_files};
use crate::operator::{build_folder, cargo};
use krator::render::{self, Runtime};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const MANIFEST: &str = r#"[package]
name = "planted"
version = "0.1.0"
edition = "2024"
publish = false

[dependencies]
krator-runtime = { path = "vendor/krator-runtime" }

[dev-dependencies]
tokio = { version = "1", default-features = false, features = ["rt", "test-util", "time"] }

[workspace]
exclude = ["vendor"]
"#;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/planted")
}

/// One defect.
struct Defect {
    file: PathBuf,
    right: String,
    planted: String,
    red: String,
}

impl Defect {
    fn of(case: &CaseFile) -> Defect {
        Defect {
            file: Path::new("vendor/krator-runtime").join(case.introduction().trim()),
            right: case.section("right").trim_end().to_owned(),
            planted: case.section("planted").trim_end().to_owned(),
            red: case.section("red").trim().to_owned(),
        }
    }
}

/// The crate, in a folder of its own, where one test run at a time builds it.
struct Bench {
    folder: PathBuf,
    _lock: File,
}

impl Bench {
    fn take() -> Bench {
        let folder = build_folder().with_file_name("planted");
        fs::create_dir_all(&folder).expect("the target folder is ours");
        let lock = File::create(folder.join("lock")).expect("the target folder is ours");
        lock.lock().expect("a lock");
        Bench { folder, _lock: lock }
    }

    /// Writes a file unless it is as it should be already.
    fn write(&self, path: &Path, contents: &str) {
        let path = self.folder.join(path);
        if fs::read(&path).ok().as_deref() != Some(contents.as_bytes()) {
            fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder of our own");
            fs::write(path, contents).expect("a folder of our own");
        }
    }

    fn cargo(&self, args: &[&str]) -> Output {
        let mut cargo: Command = cargo();
        cargo
            .current_dir(&self.folder)
            .args(args)
            .env("CARGO_TARGET_DIR", self.folder.join("target"));
        // Only a little of the runtime changes from one defect to the next.
        cargo.env("CARGO_INCREMENTAL", "1").env("RUST_BACKTRACE", "0");
        cargo.output().expect("cargo runs")
    }

    /// What the generated tests say, and whether they pass.
    fn test(&self) -> (bool, String) {
        let output = self.cargo(&["test", "--offline", "--quiet", "--lib"]);
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        (output.status.success(), said)
    }
}

/// The crate's files.
fn files() -> BTreeMap<PathBuf, String> {
    let text = fs::read(data().join("spec.yaml")).expect("a file of the repository");
    let checked = krator::check("krator.yaml", &text);
    let description = checked.description.expect("a good description");
    let plan = render::plan(&description, &checked.source, &Runtime::Vendored);
    let generated = Path::new("src/thing/generated");
    let mut files = BTreeMap::new();
    for (path, file) in plan.files() {
        let path = Path::new(path);
        let name = path.file_name().unwrap_or_default();
        let is_lock = path == Path::new("Cargo.lock");
        if is_lock || path.starts_with("vendor") {
            files.insert(path.to_owned(), file.contents.clone());
        } else if path.starts_with(generated) && (name == "machine.rs" || name == "tests.rs") {
            files.insert(Path::new("src/thing").join(name), file.contents.clone());
        }
    }
    let lib = fs::read_to_string(data().join("lib.rs")).expect("a file of the repository");
    files.insert("src/lib.rs".into(), lib);
    files.insert("Cargo.toml".into(), MANIFEST.to_owned());
    files
}

#[test]
fn a_defect_of_the_runtime_turns_generated_tests_red() {
    let (bench, files) = (Bench::take(), files());
    for (path, contents) in &files {
        bench.write(path, contents);
    }
    if !bench.cargo(&["fetch", "--offline"]).status.success() {
        assert!(bench.cargo(&["fetch"]).status.success(), "cargo fetch");
    }
    let (passes, said) = bench.test();
    assert!(passes, "without a defect they pass:\n{said}");

    let mut green = Vec::new();
    for case in case_files("planted", &["right", "planted", "red"]) {
        let (name, defect) = (case.name(), Defect::of(&case));
        let whole = files.get(&defect.file).expect("a file of the runtime");
        assert_eq!(
            whole.matches(&defect.right).count(),
            1,
            "{name}: what is right is there once"
        );
        bench.write(&defect.file, &whole.replace(&defect.right, &defect.planted));
        let (passes, said) = bench.test();
        bench.write(&defect.file, whole);
        assert!(said.contains("test result:"), "{name} does not compile:\n{said}");
        if passes || !said.contains(&defect.red) {
            green.push(format!("{name}: not said: {}\n{said}", defect.red));
        }
    }
    assert!(
        green.is_empty(),
        "defects that the tests do not see:\n{}",
        green.join("\n")
    );
}
