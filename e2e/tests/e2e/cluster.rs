//! A real Kubernetes API server, which most tests of a run share, and the embedded one for tests that need any API
//! server.
//!
//! Each test creates a namespace and does not delete it, because the whole control plane ends later: an own one with
//! its test, the shared one with the process. At most three real ones run at any time. There are two users: `admin`,
//! for the requests of tests, and `operator`, for operators, without rights at first.

pub mod audit;
mod embedded;
pub mod process_guard;
mod server;
mod slots;
pub mod watch;

use embedded::Embedded;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use process_guard::ProcessGuard;
use server::Server;
use slots::Slot;
use std::fmt::Debug;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// The deadline of all waits in tests. Waits are much shorter, unless the machine is very busy.
pub const DEADLINE: Duration = Duration::from_secs(180);

/// The prefix of the namespaces of tests, which distinguishes them from others.
pub const NAMESPACE_PREFIX: &str = "it-";

/// A control plane, and the folder with its kubeconfigs and logs. It ends when it is dropped, or at the end of this
/// process.
pub struct Cluster {
    kubectl: Kubectl,
    plane: Plane,
    /// Shared with operators and watches: the processes that they have started end with them, and the folder is removed
    /// with the last owner.
    guard: Arc<ProcessGuard>,
    /// Released at the end, so that another server may start.
    _slot: Option<Slot>,
}

/// How kubectl is run.
#[derive(Clone)]
struct Kubectl {
    /// The folder with kubectl, and with the binaries of a real server.
    assets: PathBuf,
    /// The folder with the kubeconfigs.
    dir: PathBuf,
}

impl Kubectl {
    fn command(&self, user: &str, args: &[&str]) -> Command {
        let mut command = Command::new(self.assets.join("kubectl"));
        command.arg("--kubeconfig").arg(self.kubeconfig(user));
        // Without this option kubectl would write to the home directory of the user.
        command.arg("--cache-dir").arg(self.dir.join("kubectl-cache"));
        command.args(args);
        command
    }

    fn kubeconfig(&self, user: &str) -> PathBuf {
        self.dir.join(format!("{user}.kubeconfig"))
    }
}

/// The server of the requests.
enum Plane {
    Real(Box<Server>),
    /// It ends when it is dropped.
    Embedded {
        _server: Embedded,
    },
}

/// The API server that tests share, started by the first of them. It ends with this process. None if [`assets`] has no
/// binaries.
pub fn shared() -> Option<&'static Cluster> {
    static SHARED: OnceLock<Cluster> = OnceLock::new();
    let assets = assets()?;
    Some(SHARED.get_or_init(|| Cluster::run(&assets, &[], None)))
}

/// An API server for one test, with admission plugins that are off by default: for operators whose rights must not be
/// added to those of others, or whose requests are all counted. None if [`assets`] has no binaries.
pub fn own(plugins: &[&str]) -> Option<Cluster> {
    Some(Cluster::with_plugins(&assets()?, plugins))
}

/// The embedded API server for one test, behind the same interface: for tests that need an API server but not the real
/// one. Apart from a real server's admission plugins it lacks only the parts that its README lists; controllers that
/// delete dependents are included. None, with a message that the test is skipped, if kubectl is neither in
/// `KUBEBUILDER_ASSETS` nor installed.
pub fn embedded() -> Option<Cluster> {
    let assets = std::env::var_os("KUBEBUILDER_ASSETS").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let with_kubectl = assets
        .into_iter()
        .chain(std::env::split_paths(&path))
        .find(|folder| folder.join("kubectl").exists());
    let Some(assets) = with_kubectl else {
        say(&format!("{}: skipped: there is no kubectl", test_name()));
        return None;
    };
    let dir = tempfile::tempdir().expect("a temporary folder").keep();
    let guard = Arc::new(ProcessGuard::new(&dir));
    let server = Embedded::start(&dir);
    Some(Cluster {
        kubectl: Kubectl { assets, dir },
        plane: Plane::Embedded { _server: server },
        guard,
        _slot: None,
    })
}

/// The folder with the binaries of an API server. None if `KUBEBUILDER_ASSETS` is not set, with a message that the test
/// is skipped.
pub fn assets() -> Option<PathBuf> {
    let assets = std::env::var_os("KUBEBUILDER_ASSETS").map(PathBuf::from);
    if assets.is_none() {
        say(&format!(
            "{}: skipped: KUBEBUILDER_ASSETS is not set",
            test_name()
        ));
    }
    assets
}

fn test_name() -> String {
    std::thread::current().name().unwrap_or("a test").to_owned()
}

/// Prints a line even when the test passes. (The test runner hides the output of `eprintln!` then.)
pub fn say(line: &str) {
    // A closed standard error must not fail the test.
    let _ = writeln!(std::io::stderr(), "{line}");
}

impl Cluster {
    /// Starts a control plane with the binaries in `assets`, when fewer than the maximum are running.
    pub fn start(assets: &Path) -> Cluster {
        Cluster::with_plugins(assets, &[])
    }

    /// Starts a control plane as above, with admission plugins that are off by default.
    pub fn with_plugins(assets: &Path, plugins: &[&str]) -> Cluster {
        Cluster::run(assets, plugins, Some(Slot::wait()))
    }

    fn run(assets: &Path, plugins: &[&str], slot: Option<Slot>) -> Cluster {
        let dir = tempfile::tempdir().expect("a temporary folder").keep();
        let guard = Arc::new(ProcessGuard::new(&dir));
        let server = Server::start(assets, &dir, plugins, &guard);
        let assets = assets.to_owned();
        Cluster {
            kubectl: Kubectl { assets, dir },
            plane: Plane::Real(Box::new(server)),
            guard,
            _slot: slot,
        }
    }

    /// Starts a control plane with some of the controllers of kube-controller-manager, such as
    /// `garbage-collector-controller`. None, with a message that the test is skipped, if the binaries are missing.
    pub fn with_controllers(controllers: &[&str]) -> Option<Cluster> {
        let mut cluster = Cluster::for_controllers()?;
        cluster.start_controllers(controllers);
        Some(cluster)
    }

    /// Starts a control plane to which controllers can be added. None, with a message that the test is skipped, if the
    /// binaries are missing.
    pub fn for_controllers() -> Option<Cluster> {
        let assets = assets()?;
        if !assets.join(server::CONTROLLER_MANAGER).exists() {
            say(&format!(
                "{}: skipped: KUBEBUILDER_ASSETS has no {}",
                test_name(),
                server::CONTROLLER_MANAGER
            ));
            return None;
        }
        Some(Cluster::start(&assets))
    }

    /// Starts some of the controllers of kube-controller-manager. The garbage collector discovers the kinds that are
    /// installed now; kinds that are installed later it discovers only after half a minute.
    pub fn start_controllers(&mut self, controllers: &[&str]) {
        // The embedded server has the needed controllers built in.
        if let Plane::Real(server) = &mut self.plane {
            let Kubectl { assets, dir } = &self.kubectl;
            server.start_controllers(controllers, assets, dir, &self.guard);
        }
    }

    /// Freezes all controllers, or resumes them.
    pub fn freeze_controllers(&self, frozen: bool) {
        if let Plane::Real(server) = &self.plane {
            server.freeze_controllers(frozen);
        }
    }

    /// Creates the namespace of a test.
    pub fn namespace(&self, test: &str) -> String {
        let namespace = format!("{NAMESPACE_PREFIX}{test}");
        self.kubectl(&["create", "namespace", &namespace]);
        namespace
    }

    /// Runs kubectl as `admin` and returns its output. Panics when kubectl fails.
    pub fn kubectl(&self, args: &[&str]) -> String {
        self.try_kubectl("admin", args, "")
            .unwrap_or_else(|error| panic!("kubectl {}: {error}", args.join(" ")))
    }

    /// Applies a manifest as `admin`, with strict validation: unknown and duplicate fields are errors. Panics if the
    /// server refuses it.
    pub fn apply(&self, manifest: &str, args: &[&str]) -> String {
        let all = [&["apply", "--server-side", "--validate=strict", "-f", "-"], args].concat();
        self.try_kubectl("admin", &all, manifest)
            .unwrap_or_else(|error| panic!("kubectl apply: {error}\n{manifest}"))
    }

    /// Applies the status of an object as operators do, but as administrator, with further arguments for kubectl.
    pub fn try_apply_status(&self, object: &str, args: &[&str]) -> Result<String, String> {
        let apply = ["apply", "--server-side", "--subresource=status", "-f", "-"];
        self.try_kubectl("admin", &[&apply[..], args].concat(), object)
    }

    /// Waits until the API server serves the kinds of these CRDs, which are arguments for kubectl.
    pub fn wait_established(&self, definitions: &[&str]) {
        let wait = ["wait", "--for=condition=Established", "--timeout=60s"];
        // kubectl fails at once for a CRD that has no conditions yet.
        until(&format!("{definitions:?} are established"), || {
            self.try_kubectl("admin", &[&wait[..], definitions].concat(), "")
                .ok()
        });
    }

    /// Runs kubectl as `user` with `input`, and returns its output, or its standard error when it fails.
    pub fn try_kubectl(&self, user: &str, args: &[&str], input: &str) -> Result<String, String> {
        let output = self.kubectl_output(user, args, input);
        let text = |bytes| String::from_utf8(bytes).expect("kubectl writes UTF-8");
        if output.status.success() {
            Ok(text(output.stdout))
        } else {
            Err(text(output.stderr))
        }
    }

    /// Runs kubectl as `user` with `input`, and returns all of its output: it may succeed for some objects and fail for
    /// others.
    pub fn kubectl_output(&self, user: &str, args: &[&str], input: &str) -> Output {
        let mut command = self.kubectl.command(user, args);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("kubectl starts");
        // kubectl reads all of its input before it writes. When it ends early, its error message tells more than the
        // failed write.
        let _ = child
            .stdin
            .take()
            .expect("a pipe was asked for")
            .write_all(input.as_bytes());
        child.wait_with_output().expect("kubectl ends")
    }

    /// Runs `kubectl edit` as `user`, with this command as the editor.
    pub fn kubectl_edit(&self, user: &str, args: &[&str], editor: &str) -> Output {
        let mut command = self.kubectl.command(user, &[&["edit"], args].concat());
        let output = command.env("KUBE_EDITOR", editor).stdin(Stdio::null()).output();
        output.expect("kubectl starts")
    }

    /// The kubeconfig of `admin` or `operator`.
    pub fn kubeconfig(&self, user: &str) -> PathBuf {
        self.kubectl.kubeconfig(user)
    }

    /// The folder with the binaries of the server and with kubectl.
    pub fn assets(&self) -> &Path {
        &self.kubectl.assets
    }

    /// A folder for files of tests; it is removed with the cluster.
    pub fn dir(&self) -> &Path {
        &self.kubectl.dir
    }

    /// The guard that ends processes together with the cluster.
    pub fn process_guard(&self) -> &Arc<ProcessGuard> {
        &self.guard
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if let Plane::Real(server) = &mut self.plane {
            server.end(&self.guard);
        }
    }
}

/// A client with the credentials of a kubeconfig.
pub async fn client(kubeconfig: &Path) -> Client {
    Client::try_from(config(kubeconfig).await).expect("a client")
}

/// The configuration of a client from a kubeconfig.
pub async fn config(kubeconfig: &Path) -> Config {
    let kubeconfig = Kubeconfig::read_from(kubeconfig).expect("somebody has written it");
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
    config.expect("a kubeconfig")
}

/// Polls `probe` until it returns something.
pub fn until<T>(what: &str, mut probe: impl FnMut() -> Option<T>) -> T {
    until_ok(what, || probe().ok_or("nothing yet"))
}

/// Polls `probe` until it succeeds. At the deadline, it panics with the last error.
pub fn until_ok<T, E: Debug>(what: &str, mut probe: impl FnMut() -> Result<T, E>) -> T {
    let deadline = Instant::now() + DEADLINE;
    loop {
        let begun = Instant::now();
        match probe() {
            Ok(found) => return found,
            Err(missing) => assert!(
                Instant::now() < deadline,
                "{what}: not within {DEADLINE:?}: {missing:?}"
            ),
        }
        // Probes that run kubectl use much CPU time, which the awaited process may need.
        let pause = (2 * begun.elapsed()).clamp(Duration::from_millis(50), Duration::from_millis(500));
        std::thread::sleep(pause);
    }
}

/// The last lines of a log, to be shown with a failure.
pub fn tail(log: &Path) -> String {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(60)..].join("\n")
}

#[test]
fn the_operator_user_has_no_right_until_one_is_granted() {
    let Some(cluster) = shared() else { return };
    let namespace = cluster.namespace("no-rights");
    let list = ["get", "secrets", "--namespace", &namespace];

    let refused = cluster
        .try_kubectl("operator", &list, "")
        .expect_err("nothing was granted");
    assert!(refused.contains("Forbidden"), "{refused}");

    cluster.kubectl(&[
        "create",
        "role",
        "look",
        "--verb=list",
        "--resource=secrets",
        "--namespace",
        &namespace,
    ]);
    let bind = [
        "create",
        "rolebinding",
        "look",
        "--role=look",
        "--user=operator",
        "--namespace",
        &namespace,
    ];
    cluster.kubectl(&bind);
    until("the right is in force", || {
        cluster.try_kubectl("operator", &list, "").ok()
    });
}

#[test]
fn a_cluster_that_is_dropped_leaves_nothing_behind() {
    if shared().is_none() {
        return;
    }
    let assets =
        PathBuf::from(std::env::var_os("KUBEBUILDER_ASSETS").expect("the shared cluster has used it"));
    let cluster = Cluster::start(&assets);
    let dir = cluster.dir().to_owned();
    let port = fs::read_to_string(cluster.kubeconfig("admin"))
        .expect("kubeconfig")
        .split("127.0.0.1:")
        .nth(1)
        .and_then(|rest| rest.split('\'').next()?.parse::<u16>().ok())
        .expect("a port in the kubeconfig");
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());

    drop(cluster);

    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err());
    assert!(!dir.exists());
}

/// kube-apiserver alone has no garbage collector: without a controller manager an object stays when its owner is
/// deleted.
#[test]
fn the_garbage_collector_deletes_the_children_of_a_deleted_owner() {
    let Some(cluster) = Cluster::with_controllers(&["garbage-collector-controller"]) else {
        return;
    };
    let namespace = cluster.namespace("garbage");
    let in_namespace = ["--namespace", namespace.as_str()];
    cluster.apply(
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: owner}}",
        &in_namespace,
    );
    let uid = cluster.kubectl(
        &[
            &["get", "configmap", "owner", "-o", "jsonpath={.metadata.uid}"],
            &in_namespace[..],
        ]
        .concat(),
    );
    let child = format!(
        "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: child, ownerReferences: \
         [{{apiVersion: v1, kind: ConfigMap, name: owner, uid: '{uid}'}}]}}}}"
    );
    cluster.apply(&child, &in_namespace);

    // `background`: the server deletes the owner at once and does not look for children.
    let delete = ["delete", "configmap", "owner", "--cascade=background"];
    cluster.kubectl(&[&delete[..], &in_namespace].concat());

    until("the child is collected", || {
        let list = [&["get", "configmap", "-o", "name"], &in_namespace[..]].concat();
        (!cluster.kubectl(&list).contains("configmap/child")).then_some(())
    });
}
