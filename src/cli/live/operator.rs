//! The process of an operator.

use std::ffi::OsStr;
use std::fs::File;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use anyhow::Context;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

/// The time that an operator has to shut down, which is the default of Kubernetes.
const DRAIN: Duration = Duration::from_secs(30);

/// The interval of readiness checks.
const ASK: Duration = Duration::from_millis(50);

/// How to start an operator.
pub struct Start<'a> {
    pub program: &'a Path,
    /// The kubeconfig; if `None`, the operator uses that of kubectl.
    pub kubeconfig: Option<&'a Path>,
    /// The address of its page.
    pub page: SocketAddr,
    /// The address of its webhooks, if it has any.
    pub webhooks: Option<SocketAddr>,
    /// Arguments that the author of the operator has added.
    pub args: &'a [String],
    /// Whether objects without a written handler take random edges.
    pub walks: bool,
    /// The file of its log; this terminal if `None`.
    pub log: Option<File>,
}

/// The script of a shell that kills an operator at the end of its input, which the kernel closes when this process
/// ends.
#[cfg(unix)]
const GUARD: &str = r#"read -r _; kill -9 "$1""#;

/// A running operator. It ends when it is stopped or dropped, or when this process ends for any reason.
pub struct Operator {
    process: Child,
    probes: SocketAddr,
    /// Kills the operator if this process ends without doing so, and ends with the operator.
    #[cfg(unix)]
    _guard: Child,
}

impl Operator {
    /// Starts an operator.
    ///
    /// # Errors
    ///
    /// If its program cannot be run.
    pub fn start(start: Start<'_>) -> anyhow::Result<Self> {
        let probes = super::free_address()?;
        let mut command = Command::new(start.program);
        command
            .arg(format!("--health-probe-bind-address={probes}"))
            .arg(format!("--metrics-bind-address={}", start.page))
            .arg("--metrics-secure=false")
            .stdin(Stdio::null())
            .kill_on_drop(true);
        // Only this command must receive Ctrl-C, and ends the operator then. The operator would often end first, which
        // would be reported as a failure.
        #[cfg(unix)]
        command.process_group(0);
        if let Some(kubeconfig) = start.kubeconfig {
            command.args([OsStr::new("--kubeconfig"), kubeconfig.as_os_str()]);
        }
        if let Some(webhooks) = start.webhooks {
            command.arg(format!("--webhook-bind-address={webhooks}"));
        }
        command.args(start.args);
        if start.walks {
            command.env("KRATOR_WALK", "1");
        }
        if let Some(log) = start.log {
            let copy = log.try_clone().context("cannot log")?;
            command.stdout(log).stderr(copy);
        }
        let program = start.program.display();
        let process = command
            .spawn()
            .with_context(|| format!("cannot run `{program}`"))?;
        Ok(Self {
            #[cfg(unix)]
            _guard: guard(&process)?,
            process,
            probes,
        })
    }

    /// Waits until the operator is ready, after listing the objects of all its kinds; `false` if it ends before that.
    pub async fn ready(&mut self) -> bool {
        let probes = self.probes;
        let ready = async {
            while !is_ready(probes).await {
                tokio::time::sleep(ASK).await;
            }
        };
        tokio::select! {
            () = ready => true,
            _ = self.process.wait() => false,
        }
    }

    /// Waits until the operator has ended by itself.
    ///
    /// # Errors
    ///
    /// If the operating system does not report it.
    pub async fn ended(&mut self) -> anyhow::Result<ExitStatus> {
        self.process.wait().await.context("cannot wait for the operator")
    }

    /// Ends the operator gracefully, as Kubernetes ends pods.
    pub async fn stop(mut self) {
        #[cfg(unix)]
        if let Some(id) = process_id(&self.process) {
            // The process may have ended in the meantime.
            let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
            if tokio::time::timeout(DRAIN, self.process.wait()).await.is_ok() {
                return;
            }
        }
        // An error means that the process has ended.
        let _ = self.process.kill().await;
    }
}

/// The id of a process that has not ended.
#[cfg(unix)]
pub fn process_id(process: &Child) -> Option<rustix::process::Pid> {
    let id = i32::try_from(process.id()?).ok()?;
    rustix::process::Pid::from_raw(id)
}

/// Starts a process that kills an operator when this process is killed. Only the kernel notices that, and the only
/// reaction of every Unix that needs no unsafe code is to close the pipes of the process.
///
/// # Errors
///
/// If there is no shell.
#[cfg(unix)]
fn guard(operator: &Child) -> anyhow::Result<Child> {
    // An operator that has ended has no id, and 0 would signal the whole process group.
    let id = operator
        .id()
        .context("the operator exited right after its start")?;
    let mut shell = Command::new("sh");
    shell
        .args(["-c", GUARD, "krator-guard", &id.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Signals to the whole group, such as Ctrl-C, must not end this shell first.
        .process_group(0)
        .kill_on_drop(true);
    shell
        .spawn()
        .context("cannot run `sh`, which stops the operator together with this command")
}

/// Whether the operator with probes at this address is ready.
async fn is_ready(probes: SocketAddr) -> bool {
    let asked = async {
        let mut stream = TcpStream::connect(probes).await?;
        stream
            .write_all(b"GET /readyz HTTP/1.0\r\nHost: localhost\r\n\r\n")
            .await?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await?;
        std::io::Result::Ok(answer)
    };
    let status = |answer: &[u8]| answer.split(|byte| *byte == b' ').nth(1) == Some(b"200");
    asked.await.is_ok_and(|answer| status(&answer))
}
