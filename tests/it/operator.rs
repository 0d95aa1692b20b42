//! Generated crates: written by the krator of this build, built in one folder, run as the user `operator`.

use crate::accept::documents;
use crate::cluster::{Cluster, DEADLINE, tail, until};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use tempfile::TempDir;

/// What cargo has to say of a crate that nobody has touched.
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

/// A crate that krator wrote.
pub struct Crate {
    folder: TempDir,
    operator: String,
}

impl Crate {
    /// Writes the crate of a description; `edit` is what its owner does to it.
    pub fn generate(description: &str, edit: impl FnOnce(&Path)) -> Crate {
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
        let manifest = fs::read_to_string(dir.join("Cargo.toml")).expect("generated");
        let name = manifest.lines().find_map(|line| line.strip_prefix("name = "));
        let operator = name.expect("a package has a name").trim_matches('"').to_owned();
        let krate = Crate { folder, operator };
        edit(&krate.dir());
        krate
    }

    /// A crate that is there once `make` has made it in the folder that it is given.
    pub fn of(operator: &str, make: impl FnOnce(&Path)) -> Crate {
        let krate = Crate {
            folder: tempfile::tempdir().expect("a temporary folder"),
            operator: operator.to_owned(),
        };
        make(&krate.dir());
        krate
    }

    /// Its folder.
    pub fn dir(&self) -> PathBuf {
        self.folder.path().join("crate")
    }

    /// Applies all that `deploy/` holds to a cluster, and gives the user `operator` the rights of its ServiceAccount.
    pub fn install(&self, cluster: &Cluster) {
        let deploy = self.dir().join("deploy");
        let deploy = deploy.to_str().expect("temporary folders have plain names");
        cluster.kubectl(&[
            "apply",
            "--server-side",
            "--validate=strict",
            "--kustomize",
            deploy,
        ]);
        let crd = format!("{deploy}/crd.yaml");
        cluster.kubectl(&["wait", "--for=condition=Established", "--timeout=60s", "-f", &crd]);
        // What the operator's ServiceAccount is bound to, the user `operator` is.
        let rbac = fs::read(format!("{deploy}/rbac.yaml")).expect("generated");
        let bindings = documents(&rbac)
            .into_iter()
            .filter(|object| object.get("roleRef").is_some());
        for mut binding in bindings {
            binding["metadata"]["name"] = "it-operator".into();
            binding["subjects"] =
                json!([{"kind": "User", "name": "operator", "apiGroup": "rbac.authorization.k8s.io"}]);
            cluster.apply(&binding.to_string(), &[]);
        }
    }

    /// Builds the operator as `binary`.
    pub fn build(&self, binary: &Path) {
        self.build_with(binary, &[]);
    }

    /// The same, with more arguments for cargo.
    pub fn build_with(&self, binary: &Path, args: &[&str]) {
        let bench = Bench::take(self);
        bench.cargo(&[&["build", "--locked"], args].concat());
        // Not by fs::copy: a file that is open for writing when another thread forks cannot be run for a moment.
        run(Command::new("cp")
            .arg(build_folder().join("debug").join(&self.operator))
            .arg(binary));
    }

    /// Builds it; the packages that cargo compiled for that.
    pub fn compiled(&self) -> Vec<String> {
        let bench = Bench::take(self);
        let build = ["build", "--locked", "--message-format=json"];
        let output = cargo()
            .args(build)
            .current_dir(&bench.crate_dir)
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

    /// Runs cargo in the crate, once for each list of arguments, and panics with what it wrote when it fails.
    pub fn cargo(&self, runs: &[&[&str]]) {
        let bench = Bench::take(self);
        runs.iter().for_each(|args| bench.cargo(args));
    }

    /// The places of the compiler's errors in the crate, tests included: file and line.
    pub fn errors(&self) -> BTreeSet<(String, u64)> {
        let bench = Bench::take(self);
        let mut check = cargo();
        check.current_dir(&bench.crate_dir).args([
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
                places.insert((file, span["line_start"].as_u64().unwrap_or_default()));
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

/// Where crates are built, one at a time, also among test runs that share the folder.
///
/// All crates of an operator are built in the same place, for two reasons: cargo builds only what differs from the
/// crate before; and it would take crates of the same name in other places for the same, and not build them at all.
struct Bench {
    crate_dir: PathBuf,
    _lock: File,
}

impl Bench {
    fn take(krate: &Crate) -> Bench {
        fs::create_dir_all(bench_folder()).expect("the target folder is ours");
        let lock = File::create(bench_folder().join("lock")).expect("the target folder is ours");
        lock.lock().expect("a lock");
        // The repository around the target folder has settings that are not those of generated crates: the tools
        // look for their settings upwards, and stop at the first.
        for settings in ["rustfmt.toml", "clippy.toml"] {
            fs::write(bench_folder().join(settings), "").expect("the target folder is ours");
        }
        let crate_dir = bench_folder().join("crates").join(&krate.operator);
        mirror(&krate.dir(), &crate_dir);
        // The runtime that was built last: it is built anew when its files change, not for every crate that has it.
        let (vendor, built) = (crate_dir.join("vendor"), bench_folder().join("vendor"));
        mirror(&vendor, &built);
        for path in files(&vendor).keys() {
            let modified = fs::metadata(built.join(path)).and_then(|metadata| metadata.modified());
            let file = File::options().append(true).open(vendor.join(path));
            file.and_then(|file| file.set_modified(modified?))
                .expect("files of our own");
        }
        Bench {
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
        // Where nothing has fetched these dependencies yet, it is done here: the rest goes without the network.
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

/// cargo, for what tests build.
pub fn cargo() -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.env("CARGO_TARGET_DIR", build_folder());
    command
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_INCREMENTAL", "0");
    command
}

/// Runs a command to its end, and panics with what it wrote when it fails.
pub fn run(command: &mut Command) {
    let output = command
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let wrote = [output.stdout, output.stderr].concat();
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}",
        output.status,
        String::from_utf8_lossy(&wrote)
    );
}

/// Runs the krator of this build. It finds neither cargo nor anybody's home: what it writes depends on its arguments.
pub fn krator(args: &[&Path]) -> Output {
    let mut krator = Command::new(env!("CARGO_BIN_EXE_krator"));
    krator
        .args(args)
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .expect("krator runs")
}

/// All files below a folder, by their path in it.
pub fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).into_iter().flatten() {
            let path = entry.expect("a folder of our own").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path
                    .strip_prefix(folder)
                    .expect("found below the folder")
                    .to_owned();
                found.insert(name, fs::read(&path).expect("a file of our own"));
            }
        }
    }
    found
}

/// Where generated crates are, and are built.
fn bench_folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("generated")
}

/// The target folder of generated crates: one, so that their dependencies are compiled once. The crates are beside it:
/// within it, cargo would take the runtime of one crate for that of all others.
pub fn build_folder() -> PathBuf {
    bench_folder().join("target")
}

/// Makes `to` equal to `from` without touching files that are already.
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

/// A running operator.
pub struct Operator {
    process: Child,
    cluster: &'static Cluster,
    log: PathBuf,
}

impl Operator {
    /// Runs `binary` as the user `operator`. Its output is appended to `log`.
    pub fn start(cluster: &'static Cluster, binary: &Path, args: &[&str], log: &Path) -> Operator {
        Operator::start_with(cluster, binary, args, log, &[])
    }

    /// The same, with variables.
    pub fn start_with(
        cluster: &'static Cluster,
        binary: &Path,
        args: &[&str],
        log: &Path,
        variables: &[(&str, &str)],
    ) -> Operator {
        let output = File::options()
            .create(true)
            .append(true)
            .open(log)
            .expect("a log file");
        let process = Command::new(binary)
            .args(args)
            .env("KUBECONFIG", cluster.kubeconfig("operator"))
            // Not the developer's own.
            .env_remove("RUST_LOG")
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(output.try_clone().expect("a log file"))
            .stderr(output)
            .spawn()
            .unwrap_or_else(|e| panic!("{}: {e}", binary.display()));
        cluster.process_guard().hold(&process);
        Operator {
            process,
            cluster,
            log: log.to_owned(),
        }
    }

    /// The number of its process.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Whether it has not ended by itself.
    pub fn is_running(&mut self) -> bool {
        self.process.try_wait().expect("our own child").is_none()
    }

    /// `kill -9`: it gets no chance to do anything.
    pub fn kill(mut self) {
        assert!(
            self.is_running(),
            "the operator has ended by itself:\n{}",
            tail(&self.log)
        );
        // The destructor does it.
    }

    /// SIGTERM, and how it ended.
    pub fn terminate(mut self) -> ExitStatus {
        assert!(
            self.is_running(),
            "the operator has ended by itself:\n{}",
            tail(&self.log)
        );
        let pid = self.process.id().to_string();
        run(Command::new("kill").args(["-TERM", &pid]));
        until(
            &format!("the operator ends on SIGTERM within {DEADLINE:?}"),
            || self.process.try_wait().expect("our own child"),
        )
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        // One that has ended already is fine.
        let _ = self.process.kill();
        let _ = self.process.wait();
        self.cluster.process_guard().free(&self.process);
    }
}

/// The operator's log, beside a failure.
pub struct ShownOnPanic<'a>(pub &'a Path);

impl Drop for ShownOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- the operator's log\n{}", tail(self.0));
        }
    }
}
