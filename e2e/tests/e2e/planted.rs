//! A test of the tests of graphs: a defect in the runtime, or in a function of the author, makes them fail, for the
//! right reason.
//!
//! `testdata/planted/<defect>.txt` names a file below `crates/` in its first line, or `lib.rs`, which is in the same
//! folder. Its sections are the `right` text in that file, the `planted` text that replaces it, and a part of the
//! tests' output when they fail (`red`). The crate has the machine of `spec.yaml` of that folder, and the conversions
//! of `versions.yaml`. It is built without Kubernetes, which takes seconds.

use crate::case_file::{CaseFile, case_files};
use crate::graph_edges::edges;
use crate::operator::{build_folder, cargo};
use krator::finding::Source;
use krator::model::Description;
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
krator-runtime = { path = "krator-runtime", features = ["scripted"] }

[dev-dependencies]
serde_json = "1"
tokio = { version = "1", default-features = false, features = ["rt", "test-util", "time"] }

[workspace]
exclude = ["krator-machine", "krator-runtime"]
"#;

fn data() -> PathBuf {
    krator_tests::root().join("testdata/planted")
}

/// A case: a defect of the runtime.
pub struct Defect {
    pub name: String,
    /// The file of the defect, as named in the case.
    pub file: String,
    right: String,
    planted: String,
    pub red: String,
}

impl Defect {
    /// The cases of a folder of `testdata`.
    pub fn all(folder: &str) -> Vec<Defect> {
        let defect = |case: CaseFile| Defect {
            name: case.name().to_owned(),
            file: case.introduction().trim().to_owned(),
            right: case.section("right").trim_end().to_owned(),
            planted: case.section("planted").trim_end().to_owned(),
            red: case.section("red").trim().to_owned(),
        };
        let cases = case_files(folder, &["right", "planted", "red"]);
        cases.into_iter().map(defect).collect()
    }

    /// The text of its file with the defect. `PLANTED` in the defect becomes this condition.
    pub fn planted_in(&self, text: &str, condition: &str) -> String {
        assert_eq!(
            text.matches(&self.right).count(),
            1,
            "{}: what is right has to be in {} exactly once",
            self.name,
            self.file
        );
        text.replace(&self.right, &self.planted.replace("PLANTED", condition))
    }
}

/// The path of a defect's file in the crate.
fn in_crate(file: &str) -> PathBuf {
    match file {
        "lib.rs" => "src/lib.rs".into(),
        of_runtime => of_runtime.into(),
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

    fn write(&self, path: &Path, contents: &str) {
        write_changed(&self.folder.join(path), contents.as_bytes());
    }

    fn cargo(&self, args: &[&str]) -> Output {
        let mut cargo: Command = cargo();
        cargo
            .current_dir(&self.folder)
            .args(args)
            .env("CARGO_TARGET_DIR", self.folder.join("target"));
        // Incremental builds are worthwhile here, because defects change only small parts of the runtime.
        cargo.env("CARGO_INCREMENTAL", "1").env("RUST_BACKTRACE", "0");
        cargo.output().expect("cargo runs")
    }

    /// Runs the tests, and returns whether they pass, and their output.
    fn test(&self) -> (bool, String) {
        let output = self.cargo(&["test", "--offline", "--quiet", "--lib"]);
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        (output.status.success(), text)
    }
}

/// The files of this repository below a folder, relative to it.
pub fn files_below(folder: &str) -> Vec<String> {
    let listed = Command::new("git")
        .current_dir(krator_tests::root())
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
            "--",
            folder,
        ])
        .output()
        .expect("git runs");
    let listed = String::from_utf8(listed.stdout).expect("names of files are UTF-8");
    let files = listed.split_terminator('\0').map(str::to_owned);
    files
        .filter(|path| krator_tests::root().join(path).exists())
        .collect()
}

/// Writes a file, unless it has these contents already: cargo recompiles newer files.
pub fn write_changed(path: &Path, contents: &[u8]) {
    if fs::read(path).ok().as_deref() != Some(contents) {
        fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder of our own");
        fs::write(path, contents).expect("a folder of our own");
    }
}

/// A file of this repository.
pub fn repository(path: &str) -> String {
    fs::read_to_string(krator_tests::root().join(path)).expect("a file of the repository")
}

/// The output of `krator new` for a description of the folder: these files of its kind, and the versions of all
/// dependencies.
fn generated(
    description: &Description,
    source: &Source,
    names: &[&str],
    files: &mut BTreeMap<PathBuf, String>,
) {
    let plan = render::plan(description, source, &Runtime::Vendored);
    for (path, file) in plan.files() {
        let name = path.strip_prefix("src/thing/generated/");
        match name.filter(|name| names.contains(name)) {
            Some(name) => files.insert(Path::new("src/thing").join(name), file.contents.clone()),
            None if path == "Cargo.lock" => files.insert(path.into(), file.contents.clone()),
            None => None,
        };
    }
}

/// A test of each edge of the description, printed with `Debug` as Rust source.
fn tests_of(description: &Description) -> String {
    let edges = edges(&description.kinds[0]);
    format!(
        "use krator_runtime::{{Exit::*, StateId, testing::Cause::*}};\n\n\
         #[test]\nfn every_edge_survives_every_fault() {{\n    super::take(&{edges:?});\n}}\n"
    )
}

/// The files of the crate, with a runtime without defects.
fn files() -> BTreeMap<PathBuf, String> {
    let mut files = BTreeMap::new();
    for (name, taken) in [
        ("spec.yaml", &["machine.rs"][..]),
        ("versions.yaml", &["versions.json", "specs.json"]),
    ] {
        let text = fs::read(data().join(name)).expect("a file of the repository");
        let checked = krator::check("krator.yaml", &text);
        let description = checked.description.expect("a good description");
        generated(&description, &checked.source, taken, &mut files);
        if name == "spec.yaml" {
            files.insert("src/thing/tests.rs".into(), tests_of(&description));
        }
    }
    let sources = ["crates/krator-machine", "crates/krator-runtime"].map(files_below);
    for path in sources.concat() {
        let name = path.trim_start_matches("crates/");
        files.insert(name.into(), repository(&path));
    }
    let lib = fs::read_to_string(data().join("lib.rs")).expect("a file of the repository");
    files.insert("src/lib.rs".into(), lib);
    files.insert("Cargo.toml".into(), MANIFEST.to_owned());
    files
}

#[test]
fn a_defect_of_the_runtime_turns_tests_of_graphs_red() {
    let files = files();
    // All defects are checked before the first build, which takes a minute.
    let plant = |defect: Defect| {
        let path = in_crate(&defect.file);
        let planted = defect.planted_in(&files[&path], "true");
        (defect, path, planted)
    };
    let defects: Vec<_> = Defect::all("planted").into_iter().map(plant).collect();

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
    for (defect, path, planted) in &defects {
        krate.write(path, planted);
        let (passes, output) = krate.test();
        krate.write(path, &files[path]);
        assert!(
            output.contains("test result:"),
            "{} does not compile:\n{output}",
            defect.name
        );
        if passes || !output.contains(&defect.red) {
            green.push(format!("{}: not output: {}\n{output}", defect.name, defect.red));
        }
    }
    assert!(
        green.is_empty(),
        "defects that the tests do not see:\n{}",
        green.join("\n")
    );
}
