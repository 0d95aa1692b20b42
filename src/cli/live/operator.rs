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

/// The time that an operator has to finish what it is doing. Kubernetes gives its pods as long.
const DRAIN: Duration = Duration::from_secs(30);

/// The interval of the question whether an operator is ready.
const ASK: Duration = Duration::from_millis(50);

/// How to start an operator.
pub struct Start<'a> {
    pub program: &'a Path,
    /// The cluster; the one that kubectl would use if `None`.
    pub kubeconfig: Option<&'a Path>,
    /// The address of its page.
    pub page: SocketAddr,
    /// The address of its webhooks, if it has any.
    pub webhooks: Option<SocketAddr>,
    /// Arguments of its author.
    pub args: &'a [String],
    /// Whether it leads objects by chance where no handler is written.
    pub walks: bool,
    /// The file of its log; this terminal if `None`.
    pub log: Option<File>,
}

/// The script of a shell that stops an operator: it waits for the end of its input, which the kernel closes when this process
/// ends.
#[cfg(unix)]
const GUARD: &str = r#"read -r _; kill -9 "$1""#;

/// An operator that runs until it is stopped or dropped, or this process ends, however it ends.
pub struct Operator {
    process: Child,
    probes: SocketAddr,
    /// Ends with the operator, and stops the operator when this process can no longer do that.
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
        // Ctrl-C is meant for this command, which ends the operator then. An operator that had it too would often end first, and
        // that would be reported as a failure.
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

    /// Waits until the operator is ready, when it has listed the objects of all its kinds; `false` if it ends before.
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

    /// Ends the operator as Kubernetes ends pods: it may finish what it is doing.
    pub async fn stop(mut self) {
        #[cfg(unix)]
        if let Some(id) = process_id(&self.process) {
            // It may have ended in the meantime.
            let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
            if tokio::time::timeout(DRAIN, self.process.wait()).await.is_ok() {
                return;
            }
        }
        // It cannot be ended if it has ended.
        let _ = self.process.kill().await;
    }
}

/// The id of a process that has not ended.
#[cfg(unix)]
pub fn process_id(process: &Child) -> Option<rustix::process::Pid> {
    let id = i32::try_from(process.id()?).ok()?;
    rustix::process::Pid::from_raw(id)
}

/// Starts what ends an operator when this process is killed. Nobody but the kernel can notice that, and what it does then on
/// every Unix without code that is unsafe is to close the pipes of the process.
///
/// # Errors
///
/// If there is no shell.
#[cfg(unix)]
fn guard(operator: &Child) -> anyhow::Result<Child> {
    // An operator that has ended already has no id, and 0 would be everybody.
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

/// Whether the operator that serves its probes at an address says that it is ready.
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
