//! The answers of an operator to probes while objects are missing in its cluster.

use crate::cluster::{self, Cluster, until};
use crate::moose::{DESCRIPTION, replaced};
use crate::operator::{Crate, OperatorProcess, PROBES, ShownOnPanic};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

/// A handler that blocks its thread, which no handler should do.
const BLOCKING: &str = r#"use super::{Eat, Roam};
use crate::moose::prelude::*;

impl State for Roam {
    async fn next(self, _: &mut Context<'_>) -> Result<Transition<Self>> {
        std::thread::sleep(std::time::Duration::from_secs(3600));
        Ok(Transition::to(Eat))
    }
}
"#;

/// The address in the first line of a log that contains `what`.
pub fn logged_address(log: impl Fn() -> String, what: &str) -> String {
    until(&format!("the log says {what:?}"), || {
        let log = log();
        let line = log.lines().find(|line| line.contains(what))?;
        let (_, address) = line.split_once("address=")?;
        Some(address.split_whitespace().next()?.to_owned())
    })
}

/// The status and the body of the answer to a GET.
pub fn get(address: &str, path: &str) -> (u16, String) {
    get_as(address, path, &[("Host", address)])
}

/// The status and the body of the answer to a GET with these headers.
pub fn get_as(address: &str, path: &str, headers: &[(&str, &str)]) -> (u16, String) {
    ask("GET", address, path, headers, "")
}

/// The status and the body of the answer to a request with these headers.
pub fn ask(method: &str, address: &str, path: &str, headers: &[(&str, &str)], body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).expect("the operator listens");
    let headers: String = headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .collect();
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    );
    // An operator that refuses a body does not read all of it, so the write may fail.
    let _ = stream.write_all(request.as_bytes());
    let mut answer = Vec::new();
    let read = stream.read_to_end(&mut answer);
    assert!(
        read.is_ok() || !answer.is_empty(),
        "the operator answers: {read:?}"
    );
    let answer = String::from_utf8(answer).expect("UTF-8");
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
    let (_, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
    (status.expect("a status line"), body.to_owned())
}

/// An operator with probes.
struct Probed {
    operator: OperatorProcess,
    address: String,
}

impl Probed {
    /// Starts the operator for a namespace, with further arguments.
    fn start(cluster: &Cluster, binary: &Path, namespace: &str, more: &[&str], log: &Path) -> Probed {
        let probes = format!("{PROBES}=127.0.0.1:0");
        let args = [&["--namespace", namespace, &probes], more].concat();
        let operator = OperatorProcess::start(cluster, binary, &args, log);
        let address = logged_address(|| fs::read_to_string(log).unwrap_or_default(), "serving probes");
        Probed { operator, address }
    }

    /// Waits for this answer to the readiness probe, and asserts that the operator is alive meanwhile.
    fn wait_for(&mut self, status: u16, parts: &[&str]) {
        until(&format!("{status} with {parts:?}"), || {
            assert!(self.operator.is_running());
            assert_eq!(get(&self.address, "/livez"), (200, "ok\n".to_owned()));
            let (is, body) = get(&self.address, "/readyz");
            (is == status && parts.iter().all(|part| body.contains(part))).then_some(())
        });
        assert_eq!(get(&self.address, "/healthz").0, status);
    }
}

#[test]
fn an_operator_is_ready_when_nothing_is_missing_and_says_what_is() {
    // At first the operator has no rights in this cluster, and nothing is installed.
    let Some(cluster) = &cluster::own(&[]) else { return };
    let krate = Crate::generate(DESCRIPTION, |dir| {
        fs::write(dir.join("src/moose/states/roam.rs"), BLOCKING).expect("a crate of our own");
        let main = dir.join("src/main.rs");
        let text = fs::read_to_string(&main).expect("generated");
        let one_thread = "runtime.handlers(krator_runtime::Handlers::OneThread).operator(";
        fs::write(main, replaced(&text, "runtime.operator(", one_thread)).expect("a crate of our own");
    });
    let binary = cluster.dir().join("moose");
    krate.build(&binary);
    let log = |name: &str| cluster.dir().join(format!("{name}.log"));
    let shown = ["forbidden", "unserved", "blocked"].map(log);
    let _shown = shown.each_ref().map(|log| ShownOnPanic(log));

    let mut operator = Probed::start(cluster, &binary, "it-later", &[], &shown[0]);
    let forbidden = "moose.animals.com in it-later: forbidden: moose.animals.com is forbidden: User \"operator\" cannot list";
    operator.wait_for(500, &[forbidden]);
    assert_eq!(operator.operator.terminate().code(), Some(0));

    let everything = [
        "create",
        "clusterrolebinding",
        "everything",
        "--clusterrole=cluster-admin",
        "--user=operator",
    ];
    cluster.kubectl(&everything);
    let mut operator = Probed::start(cluster, &binary, "it-later", &[], &shown[1]);
    let unserved = "moose.animals.com in it-later: the API server does not serve this kind\n";
    operator.wait_for(
        500,
        &[unserved, "namespace it-later: namespaces \"it-later\" not found"],
    );
    let crd = fs::read_to_string(krate.dir().join("deploy/crd.yaml")).expect("generated");
    cluster.apply(&crd, &[]);
    operator.wait_for(500, &["namespace it-later: namespaces \"it-later\" not found"]);
    cluster.namespace("later");
    operator.wait_for(200, &["ok\n"]);

    // A second operator cannot listen on the same address, and reports it.
    let taken = format!("{PROBES}={}", operator.address);
    let second = Command::new(&binary)
        .arg(taken)
        .env("KUBECONFIG", cluster.kubeconfig("operator"))
        .stdin(Stdio::null())
        .output()
        .expect("the operator runs");
    assert_eq!(second.status.code(), Some(1));
    let said = String::from_utf8_lossy(&second.stderr);
    assert!(
        said.contains(&format!(
            "listening on `{}`: Address already in use",
            operator.address
        )),
        "{said}"
    );

    // On one thread, a handler that blocks the loop of its operator delays neither the answers to probes nor the
    // renewal of the lease. The other operator has been idle for even longer, and is alive.
    let namespace = cluster.namespace("blocked");
    let elects = ["--leader-elect", "--leader-elect-resource-namespace", &namespace];
    let mut blocked = Probed::start(cluster, &binary, &namespace, &elects, &shown[2]);
    blocked.wait_for(200, &["ok\n"]);
    let sample = fs::read_to_string(krate.dir().join("deploy/sample.yaml")).expect("generated");
    cluster.apply(&sample, &["--namespace", &namespace]);
    until("the blocked operator is not alive", || {
        let (status, body) = get(&blocked.address, "/livez");
        (status == 500).then(|| {
            assert!(
                body.starts_with("moose.animals.com: the event loop has been blocked for 3"),
                "{body}"
            )
        })
    });
    let renewed = || {
        let times = "-o=jsonpath={.items[*].spec.renewTime}";
        cluster.kubectl(&["get", "leases", "--namespace", &namespace, times])
    };
    let first = renewed();
    assert_ne!(first, "");
    until("the blocked operator renews its lease", || {
        (renewed() != first).then_some(())
    });
    assert_eq!(get(&operator.address, "/livez"), (200, "ok\n".to_owned()));
    assert_eq!(operator.operator.terminate().code(), Some(0));
}
