//! One run of a simulation, from its seed to what was found.

use super::network::{Faults, Network};
use crate::cluster::watch::Event;
use crate::contract::Oracle;
use crate::dice::Dice;
use crate::scripted_operator::{change, foreign_kinds};
use crate::yaml::documents;
use futures::StreamExt as _;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use k8s_openapi::jiff::Timestamp;
use krator::model::{Description, Kind};
use krator_apiserver::Server;
use krator_runtime::simulation::Process;
use kube::Config;
use serde_json::{Value, json};
use simulated_operator::script::STARTS;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

/// When each simulation begins.
const BEGIN: &str = "2026-01-01T00:00:00Z";
const NAMESPACE: &str = "simulated";
/// How long people and faults disturb the operator.
const DISTURBED: Duration = Duration::from_secs(120);
/// How long objects may take to come to rest afterwards.
const REST: Duration = Duration::from_secs(240);
/// Objects of each kind.
const OBJECTS: usize = 3;

/// What a run has shown.
pub struct Played {
    /// The requests that reached the server, in their order.
    pub log: Vec<String>,
    pub findings: Vec<String>,
    pub objects: usize,
    /// Entries of states.
    pub entries: usize,
}

/// Plays a seed. The same one gives the same run.
pub fn play(seed: u64) -> Played {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime without I/O");
    STARTS.set(Some(String::new()));
    runtime.block_on(async { Simulation::begin(seed).await.run().await })
}

fn description() -> &'static Description {
    static DESCRIPTION: OnceLock<Description> = OnceLock::new();
    DESCRIPTION.get_or_init(|| {
        let checked = krator::check("krator.yaml", simulated_operator::DESCRIPTION.as_bytes());
        checked.description.expect("it was rendered")
    })
}

/// A process and what it runs.
struct Replica {
    process: Process,
    running: JoinHandle<krator_runtime::Result<()>>,
}

struct Simulation {
    dice: Dice,
    began: Instant,
    server: Server,
    network: Network,
    replica: Option<Replica>,
    starts: u64,
    kinds: Vec<(Arc<Mutex<Vec<Event>>>, Oracle)>,
    samples: Vec<Value>,
}

impl Simulation {
    async fn begin(seed: u64) -> Simulation {
        let began: Timestamp = BEGIN.parse().expect("a time");
        let server = Server::builder().rbac(true).simulated(began, seed).start();
        let network = Network::new(server.clone(), seed);
        let description = description();
        let [rbac, policies, sample] = simulated_operator::MANIFESTS.map(|text| documents(text.as_bytes()));
        let namespace =
            |name: &str| json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
        let namespaces = [NAMESPACE, description.namespace.as_str()].map(namespace);
        let definitions = documents(simulated_operator::ABOUT.crd.as_bytes());
        let manifests = namespaces
            .into_iter()
            .chain(definitions)
            .chain(foreign_kinds(description));
        for object in manifests.chain(rbac).chain(policies) {
            server
                .apply(&object, "people")
                .await
                .expect("manifests are taken");
        }
        let mut kinds = Vec::new();
        for kind in &description.kinds {
            let seen = watch(&server, kind).await;
            kinds.push((seen, Oracle::new(kind)));
        }
        Simulation {
            dice: Dice::new(seed),
            began: Instant::now(),
            server,
            network,
            replica: None,
            starts: 0,
            kinds,
            samples: sample,
        }
    }

    async fn run(mut self) -> Played {
        for kind in &description().kinds {
            for number in 0..OBJECTS {
                self.create(kind, number).await;
            }
        }
        self.start();
        self.network.set(Faults {
            slow: 50,
            lost: 10,
            unanswered: 10,
            refused: 20,
            cut: 300,
        });
        while self.began.elapsed() < DISTURBED {
            sleep(Duration::from_millis(self.dice.below(2000) as u64)).await;
            self.disturb().await;
        }
        self.network.set(Faults::default());
        sleep(REST).await;
        self.follow();
        let mut findings: Vec<String> = Vec::new();
        let replica = self.replica.take().expect("it was started");
        if replica.running.is_finished() {
            findings.push("the operator has ended by itself".to_owned());
        }
        replica.process.stop();
        if tokio::time::timeout(Duration::from_secs(30), replica.running)
            .await
            .is_err()
        {
            findings.push("the operator does not end".to_owned());
        }
        self.follow();
        let starts = STARTS.take().unwrap_or_default();
        let (mut objects, mut entries) = (0, 0);
        for (_, oracle) in &mut self.kinds {
            oracle.check_handler_starts(&starts);
            findings.extend(oracle.findings().iter().cloned());
            let restless = oracle.restless().into_iter();
            findings.extend(restless.map(|what| format!("{what} has not come to rest")));
            objects += oracle.objects();
            entries += oracle.entries();
        }
        Played {
            log: self.network.log(),
            findings,
            objects,
            entries,
        }
    }

    /// Does what people or the machine do.
    async fn disturb(&mut self) {
        let kinds = &description().kinds;
        let kind = &kinds[self.dice.below(kinds.len())];
        let number = self.dice.below(OBJECTS);
        match self.dice.below(20) {
            0 | 1 => {
                let replica = self.replica.take().expect("it was started");
                replica.process.kill();
                replica.running.abort();
                sleep(Duration::from_millis(self.dice.below(5000) as u64)).await;
                self.start();
            }
            2 => {
                let replica = self.replica.as_ref().expect("it was started");
                replica.process.freeze();
                sleep(Duration::from_millis(self.dice.below(20_000) as u64)).await;
                replica.process.thaw();
            }
            3..=6 => {
                let object = self.object(kind, number);
                // It may not be there, or be protected.
                let _ = self.server.delete(&object).await;
            }
            7..=10 => self.create(kind, number).await,
            _ => {
                let Some(change) = change(kind, self.dice.below(1000)) else {
                    return;
                };
                let object = self.object(kind, number);
                let path = path(kind, object["metadata"]["name"].as_str().unwrap_or_default());
                let request = Request::patch(path)
                    .header("content-type", "application/merge-patch+json")
                    .body(Full::<bytes::Bytes>::from(change))
                    .expect("a request");
                // It may not be there.
                let _ = self.server.answer(request).await;
            }
        }
    }

    fn object(&self, kind: &Kind, number: usize) -> Value {
        let mut samples = self.samples.iter();
        let sample = samples.find(|sample| sample["kind"] == kind.resource.kind.as_str());
        let mut object = sample.expect("a sample of each kind").clone();
        object["metadata"] = json!({"name": format!("it-{number}"), "namespace": NAMESPACE});
        object
    }

    async fn create(&self, kind: &Kind, number: usize) {
        let object = self.object(kind, number);
        let request = Request::post(path(kind, ""))
            .header("content-type", "application/json")
            .body(Full::<bytes::Bytes>::from(object.to_string()))
            .expect("a request");
        // It may be there.
        let _ = self.server.answer(request).await;
    }

    /// Starts the operator in a new process.
    fn start(&mut self) {
        self.follow();
        let time = self.time();
        for (_, oracle) in &mut self.kinds {
            oracle.operator_starts(time);
        }
        self.starts += 1;
        let description = description();
        let user = format!(
            "system:serviceaccount:{}:{}",
            description.namespace, description.operator.value
        );
        let name = format!("replica-{}", self.starts);
        let (network, host) = (self.network.clone(), name.clone());
        let process = Process::new(name, time, self.dice.below(usize::MAX) as u64, move || {
            network.connect(&host, &user)
        });
        let runtime = simulated_operator::runtime()
            .config(Config::new("http://simulated".parse().expect("a URL")))
            .namespaces([NAMESPACE]);
        let running = tokio::spawn(process.run(runtime.start()));
        self.replica = Some(Replica { process, running });
    }

    /// The time of the server.
    fn time(&self) -> Timestamp {
        let began: Timestamp = BEGIN.parse().expect("a time");
        began + self.began.elapsed()
    }

    /// Passes what was written since the last call to the oracles.
    fn follow(&mut self) {
        for (seen, oracle) in &mut self.kinds {
            let events = std::mem::take(&mut *seen.lock().expect("nothing panics with it"));
            events.iter().for_each(|event| oracle.see(event));
        }
    }
}

/// The path of an object of a kind, or of all.
fn path(kind: &Kind, name: &str) -> String {
    let resource = &kind.resource;
    let (group, version, plural) = (
        &resource.group.value,
        &resource.version.value,
        &resource.plural.value,
    );
    let all = format!("/apis/{group}/{version}/namespaces/{NAMESPACE}/{plural}");
    match name {
        "" => all,
        name => format!("{all}/{name}"),
    }
}

/// Follows everything that is written to the objects of a kind.
async fn watch(server: &Server, kind: &Kind) -> Arc<Mutex<Vec<Event>>> {
    let request = Request::get(format!("{}?watch=1&timeoutSeconds=100000", path(kind, "")));
    let request = request.body(Full::<bytes::Bytes>::default()).expect("a request");
    let mut body = server.answer(request).await.into_body().into_data_stream();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&seen);
    tokio::spawn(async move {
        // Each frame is a line.
        while let Some(Ok(line)) = body.next().await {
            let event: Value = serde_json::from_slice(&line).expect("a server sends JSON");
            let event = Event {
                deleted: event["type"] == "DELETED",
                object: event["object"].clone(),
            };
            sink.lock().expect("nothing panics with it").push(event);
        }
    });
    seen
}
