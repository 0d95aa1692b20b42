//! A test of the generated tests: a runtime with a defect turns them red, for the right reason, and so does a function of the
//! author.
//!
//! `testdata/planted/<defect>.txt` names a file of the runtime in its first line, or `lib.rs`, which is in the same folder. Its sections are what is `right` in that
//! file, what is `planted` instead, and what the tests print when they turn `red`. The crate is generated from `spec.yaml`
//! of that folder, and what it converts from `versions.yaml`. It is built without Kubernetes, which takes seconds.

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
krator-runtime = { path = "vendor/krator-runtime", features = ["versions"] }

[dev-dependencies]
serde_json = "1"
tokio = { version = "1", default-features = false, features = ["rt", "test-util", "time"] }

[workspace]
exclude = ["vendor"]
"#;

fn data() -> PathBuf {
    crate::common::root().join("testdata/planted")
}

/// A case: a defect of the runtime.
struct Defect {
    file: PathBuf,
    right: String,
    planted: String,
    red: String,
}

impl Defect {
    fn of(case: &CaseFile) -> Defect {
        Defect {
            file: match case.introduction().trim() {
                "lib.rs" => "src/lib.rs".into(),
                of_runtime => Path::new("vendor/krator-runtime").join(of_runtime),
            },
            right: case.section("right").trim_end().to_owned(),
            planted: case.section("planted").trim_end().to_owned(),
            red: case.section("red").trim().to_owned(),
        }
    }
}

/// The crate that is built with each defect. Only one test run at a time uses its folder.
struct PlantedCrate {
    folder: PathBuf,
    _lock: File,
}

impl PlantedCrate {
    fn take() -> PlantedCrate {
        let folder = build_folder().with_file_name("planted");
        fs::create_dir_all(&folder).expect("the target folder is ours");
        let lock = File::create(folder.join("lock")).expect("the target folder is ours");
        lock.lock().expect("a lock");
        PlantedCrate { folder, _lock: lock }
    }

    /// Writes a file, unless it has these contents already.
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
        // Incremental builds are worth it here, because defects change only a little of the runtime.
        cargo.env("CARGO_INCREMENTAL", "1").env("RUST_BACKTRACE", "0");
        cargo.output().expect("cargo runs")
    }

    /// Runs the generated tests: whether they pass, and their output.
    fn test(&self) -> (bool, String) {
        let output = self.cargo(&["test", "--offline", "--quiet", "--lib"]);
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        (output.status.success(), text)
    }
}

/// What `krator new` makes of a description of the folder.
fn generated(file: &str) -> BTreeMap<PathBuf, String> {
    let text = fs::read(data().join(file)).expect("a file of the repository");
    let checked = krator::check("krator.yaml", &text);
    let description = checked.description.expect("a good description");
    let plan = render::plan(&description, &checked.source, &Runtime::Vendored);
    plan.files()
        .map(|(path, file)| (path.into(), file.contents.clone()))
        .collect()
}

/// The files of the crate, with a runtime that has no defect.
fn files() -> BTreeMap<PathBuf, String> {
    let (machine, mut converted) = (generated("spec.yaml"), generated("versions.yaml"));
    let mut files = BTreeMap::new();
    let mut take = |from: &BTreeMap<PathBuf, String>, names: [&str; 2]| {
        for name in names {
            let path = Path::new("src/thing/generated").join(name);
            files.insert(Path::new("src/thing").join(name), from[&path].clone());
        }
    };
    take(&machine, ["machine.rs", "tests.rs"]);
    take(&converted, ["versions.json", "specs.json"]);
    // It has the runtime of an operator that converts objects.
    converted.retain(|path, _| path == Path::new("Cargo.lock") || path.starts_with("vendor"));
    files.append(&mut converted);
    let lib = fs::read_to_string(data().join("lib.rs")).expect("a file of the repository");
    files.insert("src/lib.rs".into(), lib);
    files.insert("Cargo.toml".into(), MANIFEST.to_owned());
    files
}

#[test]
fn a_defect_of_the_runtime_turns_generated_tests_red() {
    let files = files();
    let defects: Vec<_> = case_files("planted", &["right", "planted", "red"])
        .into_iter()
        .map(|case| (case.name().to_owned(), Defect::of(&case)))
        .collect();
    // All of them before the first is compiled, which takes a minute.
    for (name, defect) in &defects {
        let whole = files.get(&defect.file).expect("a file of the runtime");
        assert_eq!(
            whole.matches(&defect.right).count(),
            1,
            "{name}: what is right has to be in {} exactly once",
            defect.file.display()
        );
    }

    let krate = PlantedCrate::take();
    for (path, contents) in &files {
        krate.write(path, contents);
    }
    if !krate.cargo(&["fetch", "--offline"]).status.success() {
        assert!(krate.cargo(&["fetch"]).status.success(), "cargo fetch");
    }
    let (passes, output) = krate.test();
    assert!(passes, "the tests fail without a defect:\n{output}");

    let mut green = Vec::new();
    for (name, defect) in &defects {
        let whole = &files[&defect.file];
        krate.write(&defect.file, &whole.replace(&defect.right, &defect.planted));
        let (passes, output) = krate.test();
        krate.write(&defect.file, whole);
        assert!(
            output.contains("test result:"),
            "{name} does not compile:\n{output}"
        );
        if passes || !output.contains(&defect.red) {
            green.push(format!("{name}: not output: {}\n{output}", defect.red));
        }
    }
    assert!(
        green.is_empty(),
        "defects that the tests do not see:\n{}",
        green.join("\n")
    );
}
