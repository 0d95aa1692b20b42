//! An API server with an operator that can be killed, and the actions of users and controllers on its objects with
//! kubectl.

use crate::live::{Session, running_with};
use crate::operator::OperatorProcess;
use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How the operator runs.
pub enum Operator<'a> {
    /// Under `krator dev`, which restarts it at once.
    Dev(Session),
    /// By itself, with the function that starts it.
    Alone(Option<OperatorProcess>, &'a dyn Fn() -> OperatorProcess),
}

/// The API server with the rights of an administrator, and the operator.
pub struct Site<'a> {
    kubectl: PathBuf,
    kubeconfig: PathBuf,
    dir: PathBuf,
    operator: Operator<'a>,
}

impl<'a> Site<'a> {
    pub fn new(assets: &Path, kubeconfig: PathBuf, dir: PathBuf, operator: Operator<'a>) -> Self {
        Site {
            kubectl: assets.join("kubectl"),
            kubeconfig,
            dir,
            operator,
        }
    }

    /// Runs kubectl in the namespace `default` and returns its output. Panics when kubectl fails.
    pub fn kubectl(&self, args: &[&str], input: &str) -> String {
        let answer = self.try_kubectl(args, input);
        answer.unwrap_or_else(|error| panic!("kubectl {}: {error}", args.join(" ")))
    }

    /// Runs kubectl as above, and returns its output, or its standard error when it fails.
    fn try_kubectl(&self, args: &[&str], input: &str) -> Result<String, String> {
        let mut child = Command::new(&self.kubectl)
            .arg("--kubeconfig")
            .arg(&self.kubeconfig)
            .arg("--cache-dir")
            .arg(self.dir.join("kubectl-cache"))
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("kubectl starts");
        // When kubectl ends early, its error message tells more than the failed write.
        let _ = child
            .stdin
            .take()
            .expect("a pipe was asked for")
            .write_all(input.as_bytes());
        let output = child.wait_with_output().expect("kubectl ends");
        let text = |bytes| String::from_utf8(bytes).expect("kubectl writes UTF-8");
        match output.status.success() {
            true => Ok(text(output.stdout)),
            false => Err(text(output.stderr)),
        }
    }

    pub fn apply(&self, object: &Value) {
        self.kubectl(&["apply", "--server-side", "--filename=-"], &object.to_string());
    }

    /// Changes an object by a merge patch.
    pub fn change(&self, object: &str, patch: &Value) {
        let patch = patch.to_string();
        self.kubectl(&["patch", object, "--type=merge", "--patch", &patch], "");
    }

    /// The error with which the API server refuses a change.
    pub fn refusal(&self, object: &str, patch: &Value) -> String {
        let patch = patch.to_string();
        let refused = self.try_kubectl(&["patch", object, "--type=merge", "--patch", &patch], "");
        refused.expect_err("the change is refused")
    }

    /// Sets fields of the status of an object, as its controller would.
    pub fn set_status(&self, object: &str, status: &Value) {
        let patch = json!({"status": status}).to_string();
        let patch = [
            "patch",
            object,
            "--subresource=status",
            "--type=merge",
            "--patch",
            &patch,
        ];
        self.kubectl(&patch, "");
    }

    /// Waits for a condition of an object, in the syntax of `kubectl wait --for`.
    pub fn wait(&self, what: &str, object: &str) {
        self.kubectl(&["wait", object, &format!("--for={what}"), "--timeout=180s"], "");
    }

    /// The field of an existing object; empty if the field is missing.
    pub fn field(&self, object: &str, path: &str) -> String {
        self.kubectl(&["get", object, &format!("--output=jsonpath={{{path}}}")], "")
    }

    /// The names of the objects of a kind with this prefix.
    pub fn names(&self, kind: &str, prefix: &str) -> Vec<String> {
        let names = self.kubectl(&["get", kind, "--output=jsonpath={.items[*].metadata.name}"], "");
        let names = names.split_whitespace().filter(|name| name.starts_with(prefix));
        names.map(str::to_owned).collect()
    }

    /// Waits until a Job exists, and completes it as its controller would.
    pub fn complete(&self, job: &str) {
        let job = format!("job/{job}");
        self.wait("create", &job);
        let time = "2026-01-01T00:00:00Z";
        let condition = |kind: &str| json!({"type": kind, "status": "True", "lastTransitionTime": time});
        let status = json!({
            "startTime": time, "completionTime": time, "succeeded": 1, "uncountedTerminatedPods": {},
            "conditions": [condition("SuccessCriteriaMet"), condition("Complete")],
        });
        self.set_status(&job, &status);
    }

    /// Makes the handler of an object run once more, and waits for the end of the run.
    pub fn run_handler(&self, object: &str) {
        let request = "data.example.com/requestedAt=now";
        self.kubectl(&["annotate", object, request], "");
        self.wait("jsonpath={.status.lastHandledRequest}=now", object);
    }

    /// Kills the operator as `kill -9` does, and starts it again. It cannot observe the events in between.
    pub fn kill(&mut self, meanwhile: impl FnOnce(&Self)) {
        let frozen = match &mut self.operator {
            // `krator dev` restarts the operator at once, so the process is frozen before `meanwhile`.
            Operator::Dev(_) => {
                let running = running_with(&self.kubeconfig.display().to_string());
                let [operator] = running[..] else {
                    panic!("one operator runs: {running:?}");
                };
                kill_process(operator, Signal::STOP).expect("it runs");
                Some(operator)
            }
            Operator::Alone(operator, _) => {
                operator.take().expect("it runs").kill();
                None
            }
        };
        meanwhile(self);
        match &mut self.operator {
            Operator::Dev(session) => {
                kill_process(frozen.expect("it was frozen"), Signal::KILL).expect("it is frozen");
                session.wait_for("ready after");
            }
            Operator::Alone(operator, start) => *operator = Some(start()),
        }
    }

    /// Ends the operator, which has to exit successfully.
    pub fn end(self) {
        let ended = match self.operator {
            Operator::Dev(session) => session.end(),
            Operator::Alone(operator, _) => operator.expect("it runs").terminate(),
        };
        assert!(ended.success(), "{ended}");
    }
}
