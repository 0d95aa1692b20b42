//! The first steps of a newcomer, without a cluster: the crate of the moose is generated, its own tests pass, and its
//! operator leads an object through its states and releases it on the embedded API server.

use crate::descriptions::MOOSE;
use crate::operator::Crate;
use crate::yaml::documents;
use krator_apiserver::Server;
use serde_json::Value;
use std::fs;
use std::net::Ipv4Addr;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// The deadline of all waits in the test. Waits are much shorter, unless the machine is very busy.
const DEADLINE: Duration = Duration::from_secs(180);

/// An operator that ends with the test.
struct Operator(Child);

impl Drop for Operator {
    fn drop(&mut self) {
        // `kill` fails for a process that has ended already, which does not matter here.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until the condition is true for the moose of the server.
async fn until(server: &Server, what: &str, is_reached: impl Fn(&[Arc<Value>]) -> bool) {
    let mut versions = server.versions();
    let reached = async {
        while !is_reached(&server.objects("animals.com", "moose")) {
            versions.changed().await.expect("the server runs");
        }
    };
    if tokio::time::timeout(DEADLINE, reached).await.is_err() {
        panic!("{what}: {:#?}", server.objects("animals.com", "moose"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_generated_operator_passes_its_tests_and_leads_an_object_to_its_end() {
    let krate = Crate::generate(MOOSE, |_| ());
    krate.cargo(&[&["test", "--locked", "--quiet"]]);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| folder.path().join(name);
    krate.build(&at("operator"));

    let server = Server::start();
    let serving = server.serve((Ipv4Addr::LOCALHOST, 0).into()).await;
    let serving = serving.expect("a free port");
    fs::write(at("kubeconfig"), serving.kubeconfig()).expect("a folder of our own");
    let mut path = String::new();
    for file in ["namespace.yaml", "crd.yaml", "sample.yaml"] {
        let manifest = fs::read(krate.dir().join("deploy").join(file)).expect("generated");
        for object in documents(&manifest) {
            let applied = server
                .apply(&object, "test")
                .await
                .expect("the server accepts it");
            let metadata = &applied["metadata"];
            path = format!(
                "/apis/{}/namespaces/{}/moose/{}",
                applied["apiVersion"].as_str().unwrap_or_default(),
                metadata["namespace"].as_str().unwrap_or_default(),
                metadata["name"].as_str().unwrap_or_default()
            );
        }
    }
    let log = fs::File::create(at("log")).expect("a folder of our own");
    let operator = Command::new(at("operator"))
        .args(["--health-probe-bind-address=0"])
        .env("KUBECONFIG", at("kubeconfig"))
        .stdin(Stdio::null())
        .stdout(log.try_clone().expect("a file of our own"))
        .stderr(log)
        .spawn();
    let _operator = Operator(operator.expect("the operator starts"));
    until(&server, "the moose does not roam", |moose| {
        moose.iter().any(|moose| moose["status"]["state"] == "Roam")
    })
    .await;

    let request = http::Request::delete(path).body(String::new());
    let answer = server.answer(request.expect("a path of our own")).await;
    assert!(answer.status().is_success(), "{answer:?}");
    until(&server, "the moose is not released", <[_]>::is_empty).await;
}
