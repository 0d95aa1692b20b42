//! An operator as a process that runs as the user `operator`.

use super::run;
use crate::cluster::process_guard::ProcessGuard;
use crate::cluster::{Cluster, DEADLINE, tail, until};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;

/// The flag for the address of the probes.
pub const PROBES: &str = "--health-probe-bind-address";

/// A running operator.
pub struct OperatorProcess {
    process: Child,
    guard: Arc<ProcessGuard>,
    log: PathBuf,
}

impl OperatorProcess {
    /// Runs `binary` as the user `operator`. Its output is appended to `log`. It serves probes only with a flag in
    /// `args`, because many operators run on one machine.
    pub fn start(cluster: &Cluster, binary: &Path, args: &[&str], log: &Path) -> OperatorProcess {
        OperatorProcess::start_with(cluster, binary, args, log, &[])
    }

    /// Runs `binary` as above, with environment variables.
    pub fn start_with(
        cluster: &Cluster,
        binary: &Path,
        args: &[&str],
        log: &Path,
        variables: &[(&str, &str)],
    ) -> OperatorProcess {
        let output = File::options()
            .create(true)
            .append(true)
            .open(log)
            .expect("a log file");
        let has_probes = args.iter().any(|arg| arg.starts_with(PROBES));
        let process = Command::new(binary)
            .args(args)
            .args((!has_probes).then(|| format!("{PROBES}=0")))
            .env("KUBECONFIG", cluster.kubeconfig("operator"))
            // The developer's environment must not change the log.
            .env_remove("RUST_LOG")
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(output.try_clone().expect("a log file"))
            .stderr(output)
            .spawn()
            .unwrap_or_else(|e| panic!("{}: {e}", binary.display()));
        cluster.process_guard().hold(&process);
        OperatorProcess {
            process,
            guard: Arc::clone(cluster.process_guard()),
            log: log.to_owned(),
        }
    }

    /// The process ID.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Whether the process has not ended by itself.
    pub fn is_running(&mut self) -> bool {
        self.ended().is_none()
    }

    /// The exit status if the process has ended by itself.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.process.try_wait().expect("our own child")
    }

    /// Ends the operator as `kill -9` does.
    pub fn kill(mut self) {
        assert!(
            self.is_running(),
            "the operator has ended by itself:\n{}",
            tail(&self.log)
        );
        // Dropping `self` kills the process.
    }

    /// Sends SIGTERM, and waits until the operator has ended.
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

impl Drop for OperatorProcess {
    fn drop(&mut self) {
        // `kill` fails for a process that has ended already, which does not matter here.
        let _ = self.process.kill();
        let _ = self.process.wait();
        self.guard.free(&self.process);
    }
}

/// Shows the operator's log when the test panics.
pub struct ShownOnPanic<'a>(pub &'a Path);

impl Drop for ShownOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- the operator's log\n{}", tail(self.0));
        }
    }
}
