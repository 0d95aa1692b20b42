//! Compares the conversion webhook of a generated operator with the same conversion on controller-runtime: a real API
//! server fills its watch cache of the newest version with objects that are stored in the older one, and sends one
//! object per request. `LOG.md` records the results.
//!
//! Run it with `cargo bench -p e2e --bench conversion`, with `KUBEBUILDER_ASSETS` set as for the tests. It needs Go.

mod build;
mod webhook;

/// The control plane of the tests.
#[path = "../../tests/e2e"]
#[allow(dead_code, reason = "only tests use all of it")]
mod e2e {
    pub mod cluster;
}
/// The resources of processes, counted as in the other benchmark.
#[path = "../converge/usage.rs"]
#[allow(dead_code, reason = "the other benchmark uses all of it")]
mod usage;

use clap::Parser;
use e2e::cluster::{self, Cluster};
use futures::StreamExt as _;
use http::{Method, Request, StatusCode};
use kube::{Client, client::Body};
use serde_json::{Value as Json, json};
use std::time::{Duration, Instant};
use webhook::Webhook;

/// How many objects are created at once.
const AT_ONCE: usize = 16;
const OBJECTS: &str = "/apis/bench.krator.dev/v1beta1/namespaces/default/depots";
const DEFINITION: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/depots.bench.krator.dev";
/// The time within which the API server notices a changed definition.
const NOTICED: Duration = Duration::from_secs(1);

#[derive(Parser)]
struct Args {
    /// How many objects are stored
    #[arg(long, default_value_t = 5_000)]
    objects: usize,
    /// How many times each webhook fills the cache; the medians are printed
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Measure the programs that an earlier run has built
    #[arg(long)]
    built: bool,
    /// What `cargo bench` passes to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

/// The costs of filling the cache once.
struct Refill {
    seconds: f64,
    /// The CPU seconds of the webhook.
    cpu: f64,
    /// The memory of the webhook afterwards, in MiB.
    resident: f64,
}

#[tokio::main]
async fn main() {
    let args = Args::parse();
    let Some(assets) = cluster::assets() else { return };
    if !args.built {
        build::all();
    }
    let cluster = Cluster::start(&assets);
    let mut config = cluster::config(&cluster.kubeconfig("admin")).await;
    // After a refusal the client would wait for a whole second before it retries, which would distort the measured
    // time.
    config.default_retry = false;
    let client = Client::try_from(config).expect("a client");
    let certificate = webhook::write_certificate(cluster.dir());
    let webhooks = [
        Webhook::krator(&cluster, &certificate).await,
        Webhook::controller_runtime(&cluster, &certificate, &[]).await,
        Webhook::controller_runtime(&cluster, &certificate, &["-http2=false"]).await,
    ];
    cluster.apply(&build::definition(), &[]);
    ask(&client, &webhooks[0]).await;
    cluster.wait_established(&["crd/depots.bench.krator.dev"]);
    cluster::say(&format!("creating {} objects", args.objects));
    create(&client, args.objects).await;

    let stored = get(&client, &format!("{OBJECTS}/depot-00000")).await;
    println!(
        "\n{} objects of {} bytes\n",
        args.objects,
        stored.to_string().len()
    );
    let mut refills = [const { Vec::new() }; 3];
    // The first round is a warm-up.
    for round in 0..=args.rounds {
        for (webhook, refills) in webhooks.iter().zip(&mut refills) {
            let refill = refill(&client, webhook).await;
            if round > 0 {
                refills.push(refill);
            }
        }
    }
    print_refills(&webhooks, &refills);
    println!("\n| webhook | ms a request | CPU ms a request |\n|---|---|---|");
    let mut firsts = None;
    for webhook in &webhooks {
        let (before, start) = (webhook.usage().cpu, Instant::now());
        for _ in 0..args.objects {
            webhook.convert(&stored).await;
        }
        let a_request = 1_000.0 / args.objects as f64;
        let service = start.elapsed().as_secs_f64() * a_request;
        let cpu = (webhook.usage().cpu - before) * a_request;
        let (first, first_cpu) = *firsts.get_or_insert((service, cpu));
        println!(
            "| {} | {service:.3} ({:.2}) | {cpu:.3} ({:.2}) |",
            webhook.name,
            service / first,
            cpu / first_cpu
        );
    }
}

/// An object of the older version, some 4 KB with its metadata. Half of the objects have a field that the newer version
/// lacks.
fn object(number: usize) -> Json {
    let route = |at: usize| {
        let (name, prefix) = (
            format!("route-{at}"),
            format!("/depots/{number}/routes/{at}/and/what/follows"),
        );
        json!({"name": name, "prefix": prefix, "weight": at})
    };
    let label = |at: usize| {
        (
            format!("label-{at}"),
            json!(format!("the value of label {at} of depot {number}")),
        )
    };
    let mut object = json!({
        "apiVersion": "bench.krator.dev/v1beta1", "kind": "Depot",
        "metadata": {"name": format!("depot-{number:05}"), "labels": {"app.kubernetes.io/part-of": "bench"}},
        "spec": {
            "size": number % 100, "host": format!("{number}.example.com"), "timeout": number % 1_000,
            "mode": if number.is_multiple_of(3) { "fast" } else { "slow" },
            "labels": (0..20).map(label).collect::<serde_json::Map<_, _>>(),
            "routes": (0..24).map(route).collect::<Vec<_>>(),
        },
    });
    if number.is_multiple_of(2) {
        object["spec"]["legacy"] = json!("what only the older version has");
    }
    object
}

async fn create(client: &Client, count: usize) {
    let create = |number| async move {
        let body = object(number).to_string().into_bytes();
        let request = Request::post(OBJECTS).header("content-type", "application/json");
        let created = client
            .request::<Json>(request.body(body).expect("a request"))
            .await;
        created.expect("the server takes objects");
    };
    futures::stream::iter(0..count)
        .map(create)
        .buffer_unordered(AT_ONCE)
        .collect::<()>()
        .await;
}

async fn get(client: &Client, path: &str) -> Json {
    let request = Request::get(path).body(Vec::new()).expect("a request");
    client.request(request).await.expect("it is there")
}

/// Directs the conversion requests of the API server to this webhook.
async fn ask(client: &Client, webhook: &Webhook<'_>) {
    let patch = json!({"spec": {"conversion": {"webhook": {"clientConfig": {
        "service": null, "url": webhook.url(), "caBundle": webhook.ca_bundle(),
    }}}}});
    let request = Request::patch(DEFINITION).header("content-type", "application/merge-patch+json");
    let request = request.body(patch.to_string().into_bytes()).expect("a request");
    client
        .request::<Json>(request)
        .await
        .expect("the definition is ours");
}

/// Makes the API server drop its watch caches of the kind, as after each change of the definition, and waits until the
/// next cache is full: watches are refused until then.
async fn refill(client: &Client, webhook: &Webhook<'_>) -> Refill {
    ask(client, webhook).await;
    tokio::time::sleep(NOTICED).await;
    let (before, start) = (webhook.usage().cpu, Instant::now());
    let watch = "/apis/bench.krator.dev/v1/depots?watch=1&resourceVersion=0&timeoutSeconds=1&fieldSelector=metadata.name%3Dnone";
    loop {
        let request = Request::builder()
            .method(Method::GET)
            .uri(watch)
            .body(Body::empty());
        let answer = client
            .send(request.expect("a request"))
            .await
            .expect("the server answers");
        match answer.status() {
            StatusCode::TOO_MANY_REQUESTS => tokio::time::sleep(Duration::from_millis(10)).await,
            status => break assert!(status.is_success(), "{status}"),
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let usage = webhook.usage();
    cluster::say(&format!("{}: {seconds:.2} s", webhook.name));
    Refill {
        seconds,
        cpu: usage.cpu - before,
        resident: usage.resident,
    }
}

fn print_refills(webhooks: &[Webhook<'_>], refills: &[Vec<Refill>]) {
    println!(
        "| webhook | seconds | CPU seconds | MiB after the first refill | after the last |\n|---|---|---|---|---|"
    );
    let all = |at: usize, of: fn(&Refill) -> f64| median(refills[at].iter().map(of).collect());
    for (at, webhook) in webhooks.iter().enumerate() {
        let cell = |of: fn(&Refill) -> f64| format!("{:.2} ({:.2})", all(at, of), all(at, of) / all(0, of));
        let resident = |refill: Option<&Refill>| refill.map_or(f64::NAN, |refill| refill.resident);
        println!(
            "| {} | {} | {} | {:.1} | {:.1} |",
            webhook.name,
            cell(|refill| refill.seconds),
            cell(|refill| refill.cpu),
            resident(refills[at].first()),
            resident(refills[at].last()),
        );
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
