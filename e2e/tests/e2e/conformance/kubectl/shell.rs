//! Runs sessions in a shell with kubectl.

use super::{masked::Mask, sessions::Session};
use serde_json::Value as Json;
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// Functions for all commands: `shown TEXT FILE` waits until a file contains a text. A command in the background may
/// create its file late, so `grep` must not report a missing file: its message would be compared, too.
const PRELUDE: &str = "shown() { until grep -qs \"$1\" \"$2\"; do sleep 0.05; done; }\n";
/// The seconds after which a command is killed. Commands are much faster, unless they wait for an event that does not
/// occur.
const DEADLINE: &str = "100";

/// A shell for one server.
pub struct Shell {
    /// The folder with kubectl.
    assets: PathBuf,
    /// The folder for kubeconfigs and the cache of kubectl.
    folder: PathBuf,
    kubeconfig: Json,
}

impl Shell {
    pub fn new(assets: &Path, folder: &Path, kubeconfig: &str) -> Self {
        Self {
            assets: assets.to_owned(),
            folder: folder.to_owned(),
            kubeconfig: serde_yaml::from_str(kubeconfig).expect("a kubeconfig is YAML"),
        }
    }

    /// Creates definitions, and waits until their kinds are served.
    pub fn define(&self, definitions: &str) {
        let session = Session {
            name: "default".to_owned(),
            commands: vec![
                format!("kubectl apply --server-side -f - <<'END'\n{definitions}\nEND"),
                "kubectl wait crd --all --for=condition=Established --timeout=60s".to_owned(),
            ],
        };
        let transcript = self.transcript(&session);
        assert_eq!(transcript.matches("exit 0\n").count(), 2, "{transcript}");
    }

    /// Runs a session in a namespace of its own, and returns its commands and their output.
    pub fn run(&self, session: &Session) -> String {
        let create = Session {
            name: session.name.clone(),
            commands: vec![format!("kubectl create namespace {}", session.name)],
        };
        self.transcript(&create) + &self.transcript(session)
    }

    fn transcript(&self, session: &Session) -> String {
        let mut kubeconfig = self.kubeconfig.clone();
        if let Some(context) = kubeconfig.pointer_mut("/contexts/0/context") {
            context["namespace"] = session.name.as_str().into();
        }
        let server = kubeconfig
            .pointer("/clusters/0/cluster/server")
            .and_then(Json::as_str);
        let mask = Mask::new(server.expect("a kubeconfig has a server"));
        // Next to the certificates, because its paths are relative.
        let file = self.folder.join(format!("{}.kubeconfig", session.name));
        fs::write(&file, kubeconfig.to_string()).expect("a kubeconfig");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut transcript = String::new();
        for command in &session.commands {
            let output = Command::new("timeout")
                .args([DEADLINE, "sh", "-c", &format!("{PRELUDE}{command}")])
                .env_clear()
                .env(
                    "PATH",
                    format!("{}:/usr/local/bin:/usr/bin:/bin", self.assets.display()),
                )
                .env("KUBECONFIG", &file)
                .env("KUBECACHEDIR", self.folder.join("kubectl-cache"))
                .env("HOME", folder.path())
                .env("TMPDIR", folder.path())
                .current_dir(&folder)
                .stdin(Stdio::null())
                .output()
                .expect("a shell");
            let code = output
                .status
                .code()
                .map_or_else(|| "by a signal".to_owned(), |code| code.to_string());
            transcript.push_str(&format!("$ {command}\n"));
            for printed in [output.stdout, output.stderr] {
                transcript.push_str(&mask.text(&String::from_utf8_lossy(&printed)));
            }
            transcript.push_str(&format!("\nexit {code}\n"));
        }
        transcript
    }
}
