//! Builds operators with cargo.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, bail};
use serde_json::Value as Json;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use super::inputs::MANIFEST;
#[cfg(unix)]
use super::operator::process_id;
use crate::cli::NO_CARGO;

/// The feature of operators that adds controls to their page, for development only.
const DEV: &str = "dev";

/// Cargo, as it is installed on this machine, for the crate in a folder.
pub struct Cargo {
    folder: PathBuf,
    /// The platform that cargo builds for.
    host: String,
}

impl Cargo {
    /// Finds cargo.
    ///
    /// # Errors
    ///
    /// If it is not installed.
    pub async fn find(folder: &Path) -> anyhow::Result<Self> {
        let output = Command::new("cargo").arg("-vV").output().await;
        let output = output.context(NO_CARGO)?;
        let about = String::from_utf8_lossy(&output.stdout);
        let host = about.lines().find_map(|line| line.strip_prefix("host: "));
        Ok(Self {
            folder: folder.to_owned(),
            host: host.context("`cargo -vV` printed no host target")?.to_owned(),
        })
    }

    /// Downloads the crates that the operator is built from.
    ///
    /// # Errors
    ///
    /// If a crate is not on this machine and cannot be downloaded.
    pub async fn fetch(&self) -> anyhow::Result<()> {
        let fetch = ["fetch", "--quiet", "--target", &self.host];
        let mut cargo = Running::start(&mut self.command(&fetch))?;
        if !cargo.0.wait().await.context("cannot wait for cargo")?.success() {
            bail!(
                "cargo cannot download the dependencies of the operator; if this machine is offline, run `cargo fetch` \
                 in `{}` when it is online",
                self.folder.display()
            );
        }
        Ok(())
    }

    /// Builds the operator, with progress and errors on the terminal, and returns its program; `None` if it does not
    /// compile. Cargo and its compilers end when the future is dropped.
    pub async fn build(&self) -> anyhow::Result<Option<PathBuf>> {
        const BUILD: [&str; 3] = ["build", "--offline", "--message-format=json-render-diagnostics"];
        let mut command = self.command(&BUILD);
        if self.has_dev_feature()? {
            command.args(["--features", DEV]);
        }
        let mut cargo = Running::start(command.stdout(Stdio::piped()))?;
        let mut program = None;
        if let Some(messages) = cargo.0.stdout.take() {
            let mut lines = BufReader::new(messages).lines();
            while let Some(line) = lines
                .next_line()
                .await
                .context("cannot read the output of cargo")?
            {
                program = program_of(&line).or(program);
            }
        }
        let ended = cargo.0.wait().await.context("cannot wait for cargo")?;
        if !ended.success() {
            return Ok(None);
        }
        program
            .map(Some)
            .context("the crate has no binary: `src/main.rs` is missing")
    }

    /// Whether the crate has a feature for development. Crates of earlier versions of krator have none.
    fn has_dev_feature(&self) -> anyhow::Result<bool> {
        let path = self.folder.join(MANIFEST);
        let manifest = cargo_toml::Manifest::from_path(&path)
            .with_context(|| format!("cannot read `{}`", path.display()))?;
        Ok(manifest.features.contains_key(DEV))
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new("cargo");
        command.args(args).current_dir(&self.folder).stdin(Stdio::null());
        // `cargo run` describes its own package in variables. Build scripts would be run again because these have
        // changed.
        for (name, _) in std::env::vars_os() {
            if is_of_package(&name.to_string_lossy()) {
                command.env_remove(name);
            }
        }
        command
    }
}

/// A running cargo. When this is dropped, cargo and its child processes are killed.
struct Running(Child);

impl Running {
    fn start(command: &mut Command) -> anyhow::Result<Self> {
        // Only this command must receive Ctrl-C: cargo would often end first, which would be reported as a failure.
        #[cfg(unix)]
        command.process_group(0);
        let cargo = command.kill_on_drop(true).spawn();
        cargo.map(Self).context("cannot run cargo")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(group) = process_id(&self.0) {
            // The process may have ended in the meantime.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}

/// Whether cargo sets this variable to describe the package that it runs. Settings such as
/// `CARGO_TARGET_DIR` are not among them.
fn is_of_package(variable: &str) -> bool {
    variable.starts_with("CARGO_PKG_") || variable.starts_with("CARGO_MANIFEST_") || variable == "CARGO"
}

/// The program that a message of cargo reports as built.
fn program_of(message: &str) -> Option<PathBuf> {
    let message: Json = serde_json::from_str(message).ok()?;
    let kinds = message.get("target")?.get("kind")?.as_array()?;
    let is_program = message["reason"] == "compiler-artifact" && kinds.iter().any(|kind| kind == "bin");
    is_program
        .then(|| message["executable"].as_str().map(PathBuf::from))
        .flatten()
}
