//! Counts the allocations of an operator: the bytes of an object at rest, and the blocks and bytes of an edit that
//! leads the object through two states. It fails if a count exceeds its bound below; each bound has the count at the
//! time when it was set. Nothing is timed, and operator and server are simulated, so the counts are about the same on
//! every machine; allocations of the server during its responses are subtracted. `.ci/nightly allocations` runs it.

use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use jiff::Timestamp;
use krator_apiserver::Server;
use krator_runtime::simulation::{Connection, Process};
use kube::{
    Config,
    client::{Body, DynBody},
};
use serde_json::{Value, json};
use simulated_operator::script::STARTS;
use std::{
    cell::Cell,
    ops::{Add, Sub},
    process::ExitCode,
    time::Duration,
};
use tower::{BoxError, util::BoxService};

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

const OBJECTS: usize = 1_000;
const NAMESPACE: &str = "simulated";
const BEGIN: Timestamp = Timestamp::constant(1_767_225_600, 0);
/// Long enough for all objects to come to rest.
const REST: Duration = Duration::from_secs(60);

/// The bounds for each object, and the counts when they were set.
const BOUNDS: [(&str, u64, u64); 3] = [
    ("bytes at rest", 1_800, 1_636),
    ("blocks of an edit", 1_400, 1_284),
    ("bytes of an edit", 290_000, 262_858),
];

/// Allocations so far, and the bytes that are in use.
#[derive(Clone, Copy, Default)]
struct Count {
    used: i64,
    blocks: u64,
    bytes: u64,
}

impl Count {
    fn now() -> Count {
        let stats = dhat::HeapStats::get();
        Count {
            used: i64::try_from(stats.curr_bytes).expect("memory is smaller"),
            blocks: stats.total_blocks,
            bytes: stats.total_bytes,
        }
    }

    /// The allocations apart from those of the server.
    fn of_operator() -> Count {
        Count::now() - OF_SERVER.get()
    }
}

impl Sub for Count {
    type Output = Count;
    fn sub(self, other: Count) -> Count {
        Count {
            used: self.used - other.used,
            blocks: self.blocks - other.blocks,
            bytes: self.bytes - other.bytes,
        }
    }
}

impl Add for Count {
    type Output = Count;
    fn add(self, other: Count) -> Count {
        Count {
            used: self.used + other.used,
            blocks: self.blocks + other.blocks,
            bytes: self.bytes + other.bytes,
        }
    }
}

thread_local! {
    /// Allocations of the server during its responses.
    static OF_SERVER: Cell<Count> = const { Cell::new(Count { used: 0, blocks: 0, bytes: 0 }) };
}

/// Awaits work of the server, and counts its allocations separately.
async fn of_server<T>(does: impl Future<Output = T>) -> T {
    let before = Count::now();
    let done = does.await;
    OF_SERVER.set(OF_SERVER.get() + (Count::now() - before));
    done
}

fn connect(server: Server) -> Connection {
    BoxService::new(tower::service_fn(move |request: Request<Body>| {
        let server = server.clone();
        async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await?.to_bytes();
            let response = of_server(server.answer(Request::from_parts(parts, Full::new(body)))).await;
            let (parts, body) = response.into_parts();
            let body = body.map_err(|never| -> BoxError { match never {} });
            Ok(Response::from_parts(parts, Box::new(body) as Box<DynBody>))
        }
    }))
}

/// Prints the counts per object, and returns whether all are within the bounds.
fn judged(counted: [u64; 3]) -> bool {
    let mut is_good = true;
    for ((what, most, was), counted) in BOUNDS.into_iter().zip(counted) {
        let counted = counted / OBJECTS as u64;
        println!("{what}: {counted} for each object; at most {most}, and {was} when that was set");
        is_good &= counted <= most;
    }
    is_good
}

async fn measured() -> [u64; 3] {
    let server = Server::builder().simulated(BEGIN, 1).start();
    let definitions = serde_yaml::Deserializer::from_str(simulated_operator::ABOUT.crd);
    let definitions =
        definitions.map(|document| serde::Deserialize::deserialize(document).expect("a manifest"));
    let definitions: Vec<Value> = definitions.collect();
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
    for object in definitions.into_iter().chain([namespace]) {
        server
            .apply(&object, "people")
            .await
            .expect("manifests are taken");
    }
    let object = |number: usize, instances: usize| {
        json!({
            "apiVersion": "acid.zalan.do/v1",
            "kind": "Postgresql",
            // In the state `Invalid` an object waits only for an edit.
            "metadata": {
                "name": format!("it-{number}"), "namespace": NAMESPACE, "annotations": {"script": "Validating>Invalid,"},
            },
            "spec": {
                "teamId": "storage", "numberOfInstances": instances, "postgresql": {"version": "16"}, "volume": {"size": "10Gi"},
            },
        })
    };
    for number in 0..OBJECTS {
        server
            .apply(&object(number, 1), "people")
            .await
            .expect("a valid object");
    }
    let before = Count::of_operator();
    let network = server.clone();
    let process = Process::new("operator", BEGIN, 1, move || connect(network.clone()));
    let runtime = krator_runtime::OperatorRuntime::new("scripted-operator")
        .operator(simulated_operator::postgresql::PostgresqlOperator::default())
        .handlers(krator_runtime::Handlers::OneThread)
        .health_probe_bind_address("0")
        .metrics_bind_address("0")
        .config(Config::new("http://simulated".parse().expect("a URL")))
        .namespaces([NAMESPACE]);
    let running = tokio::spawn(process.run(runtime.start()));
    tokio::time::sleep(REST).await;
    STARTS.set(Some(String::new()));
    let at_rest = Count::of_operator();
    for number in 0..OBJECTS {
        let edited = object(number, 2);
        let applied = of_server(server.apply(&edited, "people")).await;
        applied.expect("a valid object");
    }
    tokio::time::sleep(REST).await;
    let edited = Count::of_operator();
    let starts = STARTS.take().unwrap_or_default();
    assert_eq!(
        starts.lines().count(),
        2 * OBJECTS,
        "each edit leads through two states"
    );
    assert!(!running.is_finished(), "the operator runs");
    let bytes = u64::try_from((at_rest - before).used).expect("objects take memory");
    let edit = edited - at_rest;
    [bytes, edit.blocks, edit.bytes]
}

fn main() -> ExitCode {
    let _profiler = dhat::Profiler::builder().testing().build();
    let clock = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime without I/O");
    STARTS.set(Some(String::new()));
    match judged(clock.block_on(measured())) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}
