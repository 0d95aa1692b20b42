//! Generating crates with the krator of this build, and building them in one folder.

use super::{files, krator, run};
use krator::plan::as_written;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The checks that a crate passes as generated, as arguments of cargo.
pub const OWN_CHECKS: &[&[&str]] = &[
    &["fmt", "--check"],
    &["test", "--locked", "--quiet"],
    &[
        "clippy",
        "--locked",
        "--all-targets",
        "--quiet",
        "--",
        "-D",
        "warnings",
    ],
];

/// A crate that krator has generated, in a temporary folder.
pub struct Crate {
    /// Kept as long as the crate; `None` for a folder that the caller keeps.
    _folder: Option<TempDir>,
    dir: PathBuf,
    operator: String,
}

impl Crate {
    /// Generates the crate of a description whose generated handlers count as written. Then `edit` changes the crate as
    /// its owner would.
    pub fn generate(description: &str, edit: impl FnOnce(&Path)) -> Crate {
        let krate = Crate::untouched(description);
        write_handlers(&krate.dir());
        edit(&krate.dir());
        krate
    }

    /// Generates the crate of a description. Its handlers are not written.
    pub fn untouched(description: &str) -> Crate {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let spec = folder.path().join("spec.yaml");
        fs::write(&spec, description).expect("description");
        let dir = folder.path().join("crate");
        let output = krator(&[Path::new("new"), &spec, Path::new("--out"), &dir]);
        assert!(
            output.status.success(),
            "krator new: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        Crate {
            _folder: Some(folder),
            ..Crate::in_folder(&dir)
        }
    }

    /// The crate in a folder that the caller keeps.
    pub fn in_folder(dir: &Path) -> Crate {
        let manifest = fs::read_to_string(dir.join("Cargo.toml")).expect("the folder of a crate");
        let name = manifest.lines().find_map(|line| line.strip_prefix("name = "));
        let operator = name.expect("a package has a name").trim_matches('"').to_owned();
        Crate {
            _folder: None,
            dir: dir.to_owned(),
            operator,
        }
    }

    /// A crate that `make` creates in the given folder.
    pub fn of(operator: &str, make: impl FnOnce(&Path)) -> Crate {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let dir = folder.path().join("crate");
        make(&dir);
        Crate {
            _folder: Some(folder),
            dir,
            operator: operator.to_owned(),
        }
    }

    /// The folder of the crate.
    pub fn dir(&self) -> PathBuf {
        self.dir.clone()
    }

    /// Builds the operator as `binary`.
    pub fn build(&self, binary: &Path) {
        self.build_in(&BuildFolder::take(self), binary, &[]);
    }

    /// Builds the operator as `binary`, with the controls of development.
    pub fn build_for_development(&self, binary: &Path) {
        self.build_in(&BuildFolder::take(self), binary, &["--features", "dev"]);
    }

    /// Builds the operator as `binary`, with injected faults. The vendored runtime lacks them, so the runtime of the
    /// repository replaces it.
    pub fn build_with_faults(&self, binary: &Path) {
        let folder = BuildFolder::take(self);
        folder.cargo(&["--version"]);
        let manifest = folder.crate_dir.join("Cargo.toml");
        let text = fs::read_to_string(&manifest).expect("generated");
        let runtime = crate::root().join("crates/krator-runtime");
        let path = |folder: &Path| format!("path = {:?}", folder.display().to_string());
        let vendored = path(Path::new("vendor/krator-runtime"));
        assert!(text.contains(&vendored), "{text}");
        fs::write(&manifest, text.replace(&vendored, &path(&runtime))).expect("a folder of our own");
        // It has one more dependency, which cargo adds to the lock file. All others are locked.
        let add = ["metadata", "--offline", "--quiet", "--format-version=1"];
        run(cargo().args(add).current_dir(&folder.crate_dir));
        self.build_in(&folder, binary, &["--features", "krator-runtime/faults"]);
    }

    /// Builds the operator as `binary`, with the controls of development, in the folder of the crate, where `krator
    /// dev` finds the build.
    pub fn build_in_place(&self, binary: &Path) {
        run(cargo()
            .args(["build", "--locked", "--features", "dev"])
            .current_dir(&self.dir));
        self.copy_built(binary);
    }

    fn build_in(&self, folder: &BuildFolder, binary: &Path, args: &[&str]) {
        folder.cargo(&[&["build", "--locked"], args].concat());
        self.copy_built(binary);
    }

    fn copy_built(&self, binary: &Path) {
        // `fs::copy` is unsuitable: a binary that is open for writing while another thread forks cannot be run for a
        // moment.
        run(Command::new("cp")
            .arg(build_folder().join("debug").join(&self.operator))
            .arg(binary));
    }

    /// Builds the operator, and returns the packages that cargo compiled.
    pub fn compiled(&self) -> Vec<String> {
        let folder = BuildFolder::take(self);
        let build = ["build", "--locked", "--message-format=json"];
        let output = cargo()
            .args(build)
            .current_dir(&folder.crate_dir)
            .output()
            .expect("cargo runs");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let messages = String::from_utf8(output.stdout).expect("JSON is text");
        let messages = messages
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"));
        let built = messages.filter(|message: &serde_json::Value| message["fresh"] == false);
        built
            .map(|message| message["target"]["name"].to_string())
            .collect()
    }

    /// Runs cargo in the crate, once for each list of arguments, and panics with its output when it fails.
    pub fn cargo(&self, runs: &[&[&str]]) {
        let folder = BuildFolder::take(self);
        runs.iter().for_each(|args| folder.cargo(args));
    }

    /// The compiler's errors in the crate and its tests: file, line and code.
    pub fn errors(&self) -> BTreeSet<(String, u64, String)> {
        let folder = BuildFolder::take(self);
        let mut check = cargo();
        check.current_dir(&folder.crate_dir).args([
            "check",
            "--locked",
            "--offline",
            "--all-targets",
            "--keep-going",
        ]);
        let output = check.arg("--message-format=json").output().expect("cargo runs");
        let mut places = BTreeSet::new();
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let message: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
            let message = &message["message"];
            let spans = message["spans"].as_array().into_iter().flatten();
            for span in spans.filter(|span| message["level"] == "error" && span["is_primary"] == true) {
                let file = span["file_name"].as_str().unwrap_or_default().replace('\\', "/");
                let code = message["code"]["code"].as_str().unwrap_or_default().to_owned();
                places.insert((file, span["line_start"].as_u64().unwrap_or_default(), code));
            }
        }
        let wrote = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() || !places.is_empty(),
            "cargo check: {wrote}"
        );
        places
    }
}

/// The folder in which a crate is built. Crates are built one at a time, even if several test runs share the target
/// folder.
///
/// All crates of the same name are built in the same folder, for two reasons: cargo builds only differences from the
/// previous crate; and it would confuse crates of the same name in different folders and not build them at all.
struct BuildFolder {
    crate_dir: PathBuf,
    _lock: File,
}

impl BuildFolder {
    fn take(krate: &Crate) -> BuildFolder {
        fs::create_dir_all(generated_folder()).expect("the target folder is ours");
        let lock = File::create(generated_folder().join("lock")).expect("the target folder is ours");
        lock.lock().expect("a lock");
        // The settings of this repository must not apply to generated crates. The tools search for their settings in
        // the parent folders and stop at the first file, so empty ones hide those of the repository.
        for settings in ["rustfmt.toml", "clippy.toml"] {
            fs::write(generated_folder().join(settings), "").expect("the target folder is ours");
        }
        let crate_dir = generated_folder().join("crates").join(&krate.operator);
        mirror(&krate.dir(), &crate_dir);
        // Unchanged files of the vendored runtime keep their times, so that cargo does not rebuild the runtime for each
        // crate.
        let vendor = crate_dir.join("vendor");
        let built = generated_folder().join("vendor");
        mirror(&vendor, &built);
        for path in files(&vendor).keys() {
            let modified = fs::metadata(built.join(path)).and_then(|metadata| metadata.modified());
            let file = File::options().append(true).open(vendor.join(path));
            file.and_then(|file| file.set_modified(modified?))
                .expect("files of our own");
        }
        BuildFolder {
            crate_dir,
            _lock: lock,
        }
    }

    fn cargo(&self, args: &[&str]) {
        let cargo = |args: &[&str]| {
            let mut command = cargo();
            command.current_dir(&self.crate_dir).args(args);
            command
        };
        // The network is needed only if these dependencies were never fetched before.
        if !cargo(&["fetch", "--locked", "--offline"])
            .output()
            .expect("cargo runs")
            .status
            .success()
        {
            run(&mut cargo(&["fetch", "--locked"]));
        }
        run(cargo(args).env("CARGO_NET_OFFLINE", "true"));
    }
}

/// Makes the generated handlers of a crate count as written, as if its owner wanted them unchanged.
pub fn write_handlers(dir: &Path) {
    for path in files(dir)
        .keys()
        .filter(|path| path.extension().is_some_and(|end| end == "rs"))
    {
        let path = dir.join(path);
        let text = fs::read_to_string(&path).expect("generated");
        if let Cow::Owned(written) = as_written(&text) {
            fs::write(&path, written).expect("a folder of our own");
        }
    }
}

/// Copies an example of this repository into an existing folder, with the runtime of this repository.
pub fn copy_example(name: &str, dir: &Path) {
    let root = crate::root();
    let entries = fs::read_dir(root.join("examples").join(name)).expect("the example is there");
    let entries = entries.map(|entry| entry.expect("a folder of the repository").path());
    // Builds in the folder of the example are left out.
    let parts = entries.filter(|path| !path.ends_with("target"));
    run(Command::new("cp")
        .args(["-r", "--preserve=timestamps"])
        .args(parts)
        .arg(dir));
    let manifest = dir.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).expect("a crate has a manifest");
    let runtime = root.join("crates/krator-runtime").display().to_string();
    fs::write(&manifest, text.replace("../../crates/krator-runtime", &runtime)).expect("our own copy");
}

/// A command that runs cargo with the settings and the target folder of generated crates.
pub fn cargo() -> Command {
    let mut command = Command::new(env!("CARGO"));
    // The cargo that runs tests describes their package in these variables, and `krator dev` passes none of them on:
    // crates whose build scripts read them, such as ring, and all crates that depend on them, would be rebuilt whenever
    // the two alternate.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command.env("CARGO_TARGET_DIR", build_folder());
    command
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_INCREMENTAL", "0");
    command
}

/// The folder in which generated crates are built.
fn generated_folder() -> PathBuf {
    crate::profile_folder().with_file_name("generated")
}

/// The target folder of generated crates. They share it, so that their dependencies are compiled once. The crates
/// themselves are outside of it, because otherwise cargo would confuse their copies of the runtime.
pub fn build_folder() -> PathBuf {
    generated_folder().join("target")
}

/// Makes the folder `to` equal to `from`, without writing files that are already equal.
fn mirror(from: &Path, to: &Path) {
    let (wanted, there) = (files(from), files(to));
    for (path, contents) in &wanted {
        if there.get(path) != Some(contents) {
            let path = to.join(path);
            fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder of our own");
            fs::write(&path, contents).expect("a folder of our own");
        }
    }
    for path in there.keys().filter(|path| !wanted.contains_key(*path)) {
        fs::remove_file(to.join(path)).expect("a file of our own");
    }
}
