//! Requests while no webhook answers, and an operator's responses to requests that are not reviews.

use super::{Zoo, built, moose};
use crate::cluster::{self, Cluster, until};
use crate::dice::Dice;
use crate::operator::{OperatorProcess, ShownOnPanic};
use crate::probes::logged_address;
use serde_json::json;
use std::fs;
use std::io::{Read as _, Write as _};

#[test]
fn what_must_go_on_goes_on_while_nobody_answers() {
    let Some(cluster) = &Cluster::with_controllers(&["namespace-controller"]) else {
        return;
    };
    let (krate, binary) = built();
    let zoo = Zoo::new(cluster, &krate, &binary);
    let _log = ShownOnPanic(&zoo.log);
    let operator = zoo.open(&[]);
    for name in ["m-one", "m-two", "m-three"] {
        zoo.say("admin", &["apply", "-f", "-"], &moose(name, "north", ""));
    }
    let failing = |zone: &str| zoo.say("admin", &["apply", "-f", "-"], &moose("m-new", zone, ""));
    // The handler panics: the request fails, and the next one is answered.
    assert!(
        failing("broken").contains("failed calling webhook"),
        "{}",
        failing("broken")
    );
    let late = failing("far");
    assert!(late.contains("context deadline exceeded"), "{late}");
    assert!(failing("crowded").contains("the zone is full"));

    let ready = |name: &str| {
        let condition = "-o=jsonpath={.status.state}";
        zoo.say("admin", &["get", "moose", name, condition], "") == "Roam"
    };
    until("moose roam", || (ready("m-one") && ready("m-two")).then_some(()));
    operator.kill();
    let refused = failing("north");
    assert!(
        refused.contains("failed calling webhook") && refused.contains("refused"),
        "{refused}"
    );

    // An operator whose webhooks are not called: it writes the status and finalizers, and the objects and the namespace
    // can be deleted.
    let late = OperatorProcess::start(
        cluster,
        &binary,
        &[
            "--leader-elect",
            "--leader-elect-resource-namespace=doorkeeper-system",
        ],
        &zoo.log,
    );
    let status = r#"{"status":{"calves":1}}"#;
    let patched = zoo.say(
        "admin",
        &[
            "patch",
            "moose",
            "m-one",
            "--subresource=status",
            "--type=merge",
            "-p",
            status,
        ],
        "",
    );
    assert!(patched.contains("patched"), "{patched}");
    let finalizer = r#"{"metadata":{"finalizers":["zoo.example.com/moose","a.b/c"]}}"#;
    for (patch, then) in [
        (finalizer, "patched"),
        (
            r#"{"metadata":{"finalizers":["zoo.example.com/moose"]}}"#,
            "patched",
        ),
    ] {
        let patched = zoo.say(
            "admin",
            &["patch", "moose", "m-two", "--type=merge", "-p", patch],
            "",
        );
        assert!(patched.contains(then), "{patched}");
    }
    let deleted = zoo.say(
        "admin",
        &["delete", "moose", "m-one", "m-two", "--timeout=60s"],
        "",
    );
    assert_eq!(deleted.matches("deleted").count(), 2, "{deleted}");
    cluster.kubectl(&["delete", "namespace", "it-zoo", "--timeout=120s"]);
    assert!(late.terminate().success());
}

/// The number of malformed requests to the operator.
const MALFORMED: usize = 10_000;

#[test]
fn malformed_reviews_get_an_answer_and_take_no_memory() {
    let Some(cluster) = &cluster::embedded() else {
        return;
    };
    let (krate, binary) = built();
    let zoo = Zoo::new(cluster, &krate, &binary);
    let _log = ShownOnPanic(&zoo.log);
    let mut operator = zoo.open(&[]);
    let logged = || fs::read_to_string(&zoo.log).unwrap_or_default();
    let address = logged_address(logged, "serving webhooks");
    let review = json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "1", "kind": {"group": "zoo.example.com", "version": "v1", "kind": "Moose"},
            "resource": {"group": "zoo.example.com", "version": "v1", "resource": "moose"},
            "name": "m", "namespace": "it-zoo", "operation": "UPDATE", "userInfo": {"username": "u"},
            "object": {"apiVersion": "zoo.example.com/v1", "kind": "Moose", "metadata": {"name": "m"}, "spec": {"zone": "a"}},
            "oldObject": {"apiVersion": "zoo.example.com/v1", "kind": "Moose", "metadata": {"name": "m"}, "spec": {"zone": "b"}},
            "dryRun": false,
        },
    })
    .to_string();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let url: http::Uri = format!("https://{address}").parse().expect("an address");
        let mut config = kube::Config::new(url);
        config.accept_invalid_certs = true;
        let client = kube::Client::try_from(config).expect("a client");
        let ask = async |path: &str, body: Vec<u8>| {
            let request = http::Request::post(path)
                .body(kube::client::Body::from(body))
                .expect("a request");
            client.send(request).await.map(|answer| answer.status().as_u16())
        };
        let path = "/validate-zoo-example-com-v1-moose";
        assert_eq!(
            ask(path, review.clone().into_bytes()).await.expect("an answer"),
            200
        );
        assert_eq!(
            ask("/", review.clone().into_bytes()).await.expect("an answer"),
            404
        );
        let memory = || {
            let status = fs::read_to_string(format!("/proc/{}/status", operator.id())).expect("it runs");
            let line = status
                .lines()
                .find_map(|line| line.strip_prefix("VmRSS:"))
                .expect("on Linux")
                .to_owned();
            line.trim()
                .trim_end_matches(" kB")
                .parse::<usize>()
                .expect("a number")
        };
        let mut dice = Dice::new(7);
        let mut malformed = async |count: usize| {
            for _ in 0..count {
                let mut body = review.clone().into_bytes();
                for _ in 0..=dice.below(4) {
                    let at = dice.below(body.len());
                    match dice.below(4) {
                        0 => body.truncate(at.max(1)),
                        1 => body[at] = u8::try_from(dice.below(256)).expect("a byte"),
                        2 => body.insert(at, b"{}[]\",:0"[dice.below(8)]),
                        _ => {
                            let end = (at + dice.below(40)).min(body.len());
                            let part = body[at..end].to_vec();
                            body.splice(at..at, part);
                        }
                    }
                }
                let status = ask(path, body).await.expect("an answer");
                assert!([200, 400, 500].contains(&status), "{status}");
            }
        };
        malformed(MALFORMED / 10).await;
        let before = memory();
        malformed(MALFORMED).await;
        // Larger than any review: the connection may be closed before the whole body was sent.
        let huge = ask(path, vec![b' '; 9 << 20]).await;
        assert!(huge.is_err() || huge.is_ok_and(|status| status == 413));
        // The first request may use the closed connection and fail.
        drop(ask(path, review.clone().into_bytes()).await);
        assert_eq!(
            ask(path, review.clone().into_bytes()).await.expect("an answer"),
            200
        );
        let after = memory();
        assert!(after < before + 16 * 1024, "{before} kB before, {after} kB after");
    });
    assert!(operator.is_running());
    assert!(
        !logged().contains("panicked"),
        "no handler was asked about garbage"
    );
    // Requests without TLS get no response.
    let mut plain = std::net::TcpStream::connect(&address).expect("somebody listens");
    plain
        .write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        .expect("a request");
    let mut said = Vec::new();
    let _ = plain.read_to_end(&mut said);
    assert!(!said.starts_with(b"HTTP"), "{}", String::from_utf8_lossy(&said));
    assert!(operator.terminate().success());
}
