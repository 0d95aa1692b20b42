//! The requests per second of the embedded API server, beside those of a real API server: `cargo bench -p e2e --bench
//! throughput`, with `KUBEBUILDER_ASSETS` set as for the tests. To profile the embedded server, `cargo bench -p e2e
//! --bench throughput -- --alone` measures only this server, in process, and `--rounds N` sets how many times each
//! status is patched.

/// The control plane of the tests.
#[path = "../tests/e2e"]
#[allow(dead_code, reason = "only tests of krator use all of it")]
mod e2e {
    pub mod cluster;
}

use e2e::cluster::{self, Cluster};
use futures::{AsyncBufReadExt as _, StreamExt as _};
use http::{Method, Request};
use krator_apiserver::Server;
use kube::{
    Client, Config,
    client::Body,
    config::{KubeConfigOptions, Kubeconfig},
};
use serde_json::{Value as Json, json};
use std::{fs, time::Instant};

const OBJECTS: usize = 1_000;
/// How many times each status is patched, without `--rounds`.
const ROUNDS: usize = 5;
const WATCHES: usize = 100;
/// How many requests are in flight at once.
const AT_ONCE: usize = 16;
const DEFINITIONS: &str = include_str!("../../crates/krator-apiserver/testdata/definitions.yaml");
const MOOSE: &str = "/apis/conformance.krator.dev/v1/namespaces/default/moose";

struct Figures {
    creates: f64,
    patches: f64,
    events: f64,
}

async fn send(client: &Client, method: Method, path: &str, form: &str, body: &Json) {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", form);
    let request = request
        .body(Body::from(body.to_string().into_bytes()))
        .expect("a request");
    let response = client.send(request).await.expect("the server answers");
    assert!(response.status().is_success(), "{path}: {}", response.status());
    // The measurement includes the body.
    response
        .into_body()
        .collect_bytes()
        .await
        .expect("the server answers to the end");
}

fn status(name: &str, round: usize) -> Json {
    json!({
        "apiVersion": "conformance.krator.dev/v1",
        "kind": "Moose",
        "metadata": {"name": name},
        "status": {"phase": format!("Round{round}"), "conditions": [
            {"type": "Ready", "status": "False", "reason": "Roaming"},
            {"type": "Reconciling", "status": "True", "reason": "Roaming"},
            {"type": "Stalled", "status": "False", "reason": "Roaming"},
        ]},
    })
}

async fn define(client: &Client) {
    for document in DEFINITIONS.split("\n---\n") {
        let definition: Json = serde_yaml::from_str(document).expect("YAML");
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        send(client, Method::POST, path, "application/json", &definition).await;
    }
    loop {
        let request = Request::get(MOOSE).body(Body::empty()).expect("a request");
        if client
            .send(request)
            .await
            .expect("the server answers")
            .status()
            .is_success()
        {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}

async fn create(client: &Client, from: usize, to: usize) {
    let made = |number: usize| async move {
        let object = json!({
            "apiVersion": "conformance.krator.dev/v1",
            "kind": "Moose",
            "metadata": {"name": format!("moose-{number:05}"), "labels": {"app.kubernetes.io/part-of": "bench"}},
            "spec": {"park": "glacier", "tags": ["a", "b"], "notes": {"sender": "Ada", "recipient": "Charles"}},
        });
        send(client, Method::POST, MOOSE, "application/json", &object).await;
    };
    futures::stream::iter(from..to)
        .map(made)
        .buffer_unordered(AT_ONCE)
        .count()
        .await;
}

async fn patch(client: &Client, round: usize) {
    let made = |number: usize| async move {
        let name = format!("moose-{number:05}");
        let path = format!("{MOOSE}/{name}/status?fieldManager=bench&force=true");
        let form = "application/apply-patch+yaml";
        send(client, Method::PATCH, &path, form, &status(&name, round)).await;
    };
    futures::stream::iter(0..OBJECTS)
        .map(made)
        .buffer_unordered(AT_ONCE)
        .count()
        .await;
}

async fn measure(client: &Client, rounds: usize) -> Figures {
    define(client).await;
    let per_second = |count: usize, start: Instant| count as f64 / start.elapsed().as_secs_f64();
    let start = Instant::now();
    create(client, 0, OBJECTS).await;
    let creates = per_second(OBJECTS, start);
    let start = Instant::now();
    for round in 0..rounds {
        patch(client, round).await;
    }
    let patches = per_second(OBJECTS * rounds, start);
    let mut watches = Vec::new();
    for _ in 0..WATCHES {
        let path = format!("{MOOSE}?watch=true&resourceVersion=0&timeoutSeconds=600");
        let request = Request::get(path).body(Vec::new()).expect("a request");
        let mut lines = client
            .request_stream(request)
            .await
            .expect("the server watches")
            .lines();
        // The existing objects come first. A watch that had to read them while objects change would be slow, and a
        // server may cut off slow watches.
        let listed = lines.by_ref().take(OBJECTS).count().await;
        assert_eq!(listed, OBJECTS);
        watches.push(tokio::spawn(lines.take(OBJECTS).count()));
    }
    let start = Instant::now();
    patch(client, rounds).await;
    for watch in watches {
        assert_eq!(watch.await.expect("a watch"), OBJECTS);
    }
    Figures {
        creates,
        patches,
        events: per_second(OBJECTS * WATCHES, start),
    }
}

/// The resident memory of this process, in KiB.
fn resident() -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS"))
        .expect("every process has one");
    line.split_whitespace()
        .nth(1)
        .and_then(|kib| kib.parse().ok())
        .expect("a number")
}

async fn of(kubeconfig: Kubeconfig) -> Client {
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
    Client::try_from(config.expect("a kubeconfig")).expect("a client")
}

/// The value of `--rounds`.
fn rounds() -> usize {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--rounds");
    arguments
        .nth(1)
        .map_or(ROUNDS, |rounds| rounds.parse().expect("a number of rounds"))
}

fn print_header() {
    println!(
        "\n| server | creates/s | status patches/s | events/s to {WATCHES} watches |\n|---|---|---|---|"
    );
}

/// Prints a row of the table, with ratios if there is a real server to compare with.
fn print_row(name: &str, of: &Figures, real: Option<&Figures>) {
    let cell = |figure: fn(&Figures) -> f64| match real {
        Some(real) => format!("{:.0} ({:.1})", figure(of), figure(of) / figure(real)),
        None => format!("{:.0}", figure(of)),
    };
    println!(
        "| {name} | {} | {} | {} |",
        cell(|of| of.creates),
        cell(|of| of.patches),
        cell(|of| of.events)
    );
}

/// Starts a server in process.
async fn start() -> Client {
    let start = Instant::now();
    let client = Client::new(Server::start(), "default");
    send(&client, Method::GET, "/version", "application/json", &Json::Null).await;
    println!("start: {:.3} s", start.elapsed().as_secs_f64());
    client
}

async fn print_memory(client: &Client) {
    let before = resident();
    create(client, OBJECTS, 11 * OBJECTS).await;
    let each = (resident() - before) as f64 / (10 * OBJECTS) as f64;
    println!("\nmemory: {each:.1} KiB an object, its change included, as long as that is remembered");
}

#[tokio::main]
async fn main() {
    if std::env::args().any(|argument| argument == "--alone") {
        let client = start().await;
        print_header();
        print_row("embedded, in process", &measure(&client, rounds()).await, None);
        print_memory(&client).await;
        return;
    }
    let Some(assets) = cluster::assets() else { return };
    let in_process = start().await;
    let start = Instant::now();
    let cluster = tokio::task::spawn_blocking(move || Cluster::start(&assets))
        .await
        .expect("it starts");
    println!("start of the real one: {:.3} s", start.elapsed().as_secs_f64());

    let served = Server::start();
    let serving = served
        .serve(([127, 0, 0, 1], 0).into())
        .await
        .expect("a free port");
    let over_https = of(Kubeconfig::from_yaml(&serving.kubeconfig()).expect("a kubeconfig")).await;
    let real = of(Kubeconfig::read_from(cluster.kubeconfig("admin")).expect("a kubeconfig")).await;

    let real = measure(&real, rounds()).await;
    print_header();
    print_row("real", &real, Some(&real));
    print_row(
        "embedded, in process",
        &measure(&in_process, rounds()).await,
        Some(&real),
    );
    print_row(
        "embedded, over HTTPS",
        &measure(&over_https, rounds()).await,
        Some(&real),
    );
    print_memory(&in_process).await;
}
