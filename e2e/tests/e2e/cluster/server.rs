//! etcd and kube-apiserver as child processes on free ports of the loopback interface, and kube-controller-manager if a
//! test needs some of its controllers. There is no kubelet, so no pod ever runs.

use super::process_guard::ProcessGuard;
use std::fs::{self, File};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The users: an administrator, and the operator, which has no rights until RBAC grants some.
const TOKENS: &str = "admin-token,admin,admin,system:masters\noperator-token,operator,operator,operators\n";

/// Only the requests of the operator are logged, because other clients send many more.
const AUDIT_POLICY: &str = "\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: Metadata, users: [operator]}
- {level: None}
";

/// The binary that runs the controllers of a cluster. setup-envtest does not install it.
pub const CONTROLLER_MANAGER: &str = "kube-controller-manager";

/// A running control plane.
pub struct Server {
    etcd: Child,
    apiserver: Child,
    manager: Option<Child>,
}

impl Server {
    /// Starts a control plane in `dir`, with additional admission plugins. The folder gets `admin.kubeconfig`,
    /// `operator.kubeconfig`, `audit.log`, `etcd.url` and its logs.
    pub fn start(assets: &Path, dir: &Path, plugins: &[&str], guard: &ProcessGuard) -> Server {
        fs::write(dir.join("tokens.csv"), TOKENS).expect("tokens");
        fs::write(dir.join("audit.yaml"), AUDIT_POLICY).expect("audit policy");
        // Another process may bind a free port before the server does. Then the server ends, and other ports are tried.
        for _ in 0..5 {
            if let Some(server) = Server::try_start(assets, dir, plugins, guard) {
                return server;
            }
        }
        panic!(
            "no control plane\netcd: {}\nkube-apiserver: {}",
            super::tail(&dir.join("etcd.log")),
            super::tail(&dir.join("apiserver.log"))
        );
    }

    fn try_start(assets: &Path, dir: &Path, plugins: &[&str], guard: &ProcessGuard) -> Option<Server> {
        for leftover in ["etcd.data", "certs"] {
            let _ = fs::remove_dir_all(dir.join(leftover));
        }
        let [client, peer, secure] = free_ports();
        write_kubeconfigs(dir, secure);
        let etcd_url = format!("http://127.0.0.1:{client}");
        fs::write(dir.join("etcd.url"), &etcd_url).expect("the address of etcd");
        let etcd = spawn(
            Command::new(assets.join("etcd"))
                .args([
                    "--data-dir",
                    "etcd.data",
                    "--unsafe-no-fsync",
                    "--log-level",
                    "error",
                ])
                .args([
                    "--listen-client-urls",
                    &etcd_url,
                    "--advertise-client-urls",
                    &etcd_url,
                ])
                .args(["--listen-peer-urls", &format!("http://127.0.0.1:{peer}")]),
            dir,
            "etcd.log",
            guard,
        );
        let apiserver = spawn(
            Command::new(assets.join("kube-apiserver"))
                .args([&format!("--etcd-servers={etcd_url}"), "--bind-address=127.0.0.1"])
                .args([&format!("--secure-port={secure}"), "--cert-dir=certs"])
                .args(["--authorization-mode=RBAC", "--token-auth-file=tokens.csv"])
                // The server requires keys for service accounts, which no test uses, so its TLS key is reused.
                .args(["--service-account-key-file=certs/apiserver.key"])
                .args(["--service-account-signing-key-file=certs/apiserver.key"])
                .args(["--service-account-issuer=https://apiserver.test"])
                .args([
                    "--service-cluster-ip-range=10.0.0.0/24",
                    "--disable-admission-plugins=ServiceAccount",
                ])
                .args(
                    (!plugins.is_empty())
                        .then(|| format!("--enable-admission-plugins={}", plugins.join(","))),
                )
                .args(["--audit-policy-file=audit.yaml", "--audit-log-path=audit.log"]),
            dir,
            "apiserver.log",
            guard,
        );
        let mut server = Server {
            etcd,
            apiserver,
            manager: None,
        };
        if server.becomes_ready(assets, dir) {
            return Some(server);
        }
        server.end(guard);
        None
    }

    fn becomes_ready(&mut self, assets: &Path, dir: &Path) -> bool {
        let deadline = Instant::now() + super::DEADLINE;
        while Instant::now() < deadline {
            for child in [&mut self.etcd, &mut self.apiserver] {
                if child.try_wait().expect("our own child").is_some() {
                    return false;
                }
            }
            let ready = Command::new(assets.join("kubectl"))
                .args(["--kubeconfig", "admin.kubeconfig", "get", "--raw", "/readyz"])
                .current_dir(dir)
                .output()
                .expect("kubectl");
            if ready.status.success() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        false
    }

    /// Starts kube-controller-manager with these controllers only, as administrator.
    pub fn start_controllers(
        &mut self,
        controllers: &[&str],
        assets: &Path,
        dir: &Path,
        guard: &ProcessGuard,
    ) {
        let manager = spawn(
            Command::new(assets.join(CONTROLLER_MANAGER))
                .args(["--kubeconfig=admin.kubeconfig", "--leader-elect=false"])
                .args([
                    "--secure-port=0",
                    "--service-account-private-key-file=certs/apiserver.key",
                ])
                .arg(format!("--controllers={}", controllers.join(","))),
            dir,
            "manager.log",
            guard,
        );
        self.manager = Some(manager);
    }

    /// Freezes kube-controller-manager, or resumes it.
    pub fn freeze_controllers(&self, frozen: bool) {
        let manager = self.manager.as_ref().expect("controllers were started");
        let signal = if frozen { "-STOP" } else { "-CONT" };
        let sent = Command::new("kill")
            .args([signal, &manager.id().to_string()])
            .status();
        assert!(sent.expect("kill").success());
    }

    /// Kills all processes and waits for them. All data is temporary, so nothing is lost.
    pub fn end(&mut self, guard: &ProcessGuard) {
        let running = [
            self.manager.as_mut(),
            Some(&mut self.apiserver),
            Some(&mut self.etcd),
        ];
        for child in running.into_iter().flatten() {
            // `kill` fails for a process that has ended already, which does not matter here.
            let _ = child.kill();
            let _ = child.wait();
            guard.free(child);
        }
    }
}

fn free_ports() -> [u16; 3] {
    // All listeners are open at the same time, so that the ports differ.
    let listeners = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").expect("a free port"));
    listeners.map(|listener| listener.local_addr().expect("its own address").port())
}

fn spawn(command: &mut Command, dir: &Path, log: &str, guard: &ProcessGuard) -> Child {
    let log = File::create(dir.join(log)).expect("a log file");
    let child = command
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(log.try_clone().expect("a log file"))
        .stderr(log)
        .spawn()
        .unwrap_or_else(|e| panic!("{}: {e}", command.get_program().display()));
    guard.hold(&child);
    child
}

fn write_kubeconfigs(dir: &Path, port: u16) {
    for user in ["admin", "operator"] {
        let config = format!(
            "apiVersion: v1\n\
             kind: Config\n\
             clusters: [{{name: it, cluster: {{server: 'https://127.0.0.1:{port}', certificate-authority: certs/apiserver.crt}}}}]\n\
             users: [{{name: {user}, user: {{token: {user}-token}}}}]\n\
             contexts: [{{name: it, context: {{cluster: it, user: {user}, namespace: default}}}}]\n\
             current-context: it\n"
        );
        fs::write(dir.join(format!("{user}.kubeconfig")), config).expect("kubeconfig");
    }
}
