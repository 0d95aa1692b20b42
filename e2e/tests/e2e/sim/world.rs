//! A simulated cluster: the API server, the replicas of the operator, users, and the oracles that judge the writes.

use super::network::Network;
use super::run::Deployment;
use super::witness::Witness;
use crate::contract::Oracle;
use crate::scripted_operator::foreign_kinds;
use crate::yaml::documents;
use http::Request;
use http_body_util::Full;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use krator::model::{Description, Kind};
use krator::policies::approval_annotation;
use krator_apiserver::Server;
use krator_runtime::simulation::Process;
use kube::Config;
use serde_json::{Value, json};
use simulated_operator::script::STARTS;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

/// The time at which each simulation begins.
pub const BEGIN: Timestamp = Timestamp::constant(1_767_225_600, 0);
const NAMESPACE: &str = "simulated";
/// The time in which a process has to end after the request.
const GRACE: Duration = Duration::from_secs(30);
/// The kind whose fields are edited; each has its own effect on the state.
const EDITED: &str = "Postgresql";
/// The user for the requests of people.
const ADMINISTRATOR: &str = "admin";
/// The start of the paths of the Leases.
const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces";

/// A simulated cluster.
pub struct World {
    began: Instant,
    server: Server,
    pub network: Network,
    seed: u64,
    deployment: Deployment,
    replicas: Vec<Replica>,
    witness: Witness,
    samples: Vec<Value>,
}

/// A replica of the operator, which is restarted whenever it has ended.
struct Replica {
    /// The error of its clock.
    off: SignedDuration,
    starts: u64,
    /// The time of its next start.
    next: Instant,
    running: Option<Running>,
}

struct Running {
    name: String,
    process: Process,
    done: JoinHandle<krator_runtime::Result<()>>,
    /// The time by which it has to end.
    ends: Option<Instant>,
    /// The time until which it is frozen, and can do nothing.
    frozen: Instant,
}

/// The results of the oracles.
pub struct Judged {
    /// The requests that reached the server, in their order.
    pub log: Vec<String>,
    pub findings: Vec<String>,
    pub objects: usize,
    /// The number of entries of states.
    pub entries: usize,
    /// The number of writes that stored the judgement of a spec change.
    pub judgements: usize,
    /// The simulated time.
    pub length: Duration,
}

/// The description of the operator.
pub fn description() -> &'static Description {
    static DESCRIPTION: OnceLock<Description> = OnceLock::new();
    DESCRIPTION.get_or_init(|| {
        let checked = krator::check("krator.yaml", simulated_operator::DESCRIPTION.as_bytes());
        checked.description.expect("it was rendered")
    })
}

/// The kind whose handlers are controlled by scripts and by edits of fields.
pub fn postgresql() -> &'static Kind {
    let mut kinds = description().kinds.iter();
    let kind = kinds.find(|kind| kind.resource.kind.as_str() == EDITED);
    kind.expect("it is one of the kinds")
}

/// Runs a simulation on a clock of its own.
pub fn simulate<T>(simulation: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime without I/O");
    STARTS.set(Some(String::new()));
    runtime.block_on(simulation)
}

impl World {
    /// A cluster with the operator, whose replicas have these clock errors in seconds.
    pub async fn begin(seed: u64, deployment: Deployment, clocks: &[i64]) -> World {
        let server = Server::builder().rbac(true).simulated(BEGIN, seed).start();
        let network = Network::new(server.clone(), seed);
        let description = description();
        let [rbac, policies, samples] = simulated_operator::MANIFESTS.map(|text| documents(text.as_bytes()));
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
        let began = Instant::now();
        let acting = deployment.acting();
        let oracle = if acting > 1 {
            Oracle::contested
        } else {
            Oracle::new
        };
        let oracles = description.kinds.iter().map(oracle).collect();
        let witness = Witness::new(began, oracles, acting);
        for (number, kind) in description.kinds.iter().enumerate() {
            witness.watch(&server, &path(kind, ""), Some(number)).await;
        }
        if let Deployment::Elected(_) = deployment {
            network.elect();
            let leases = format!("{LEASES}/{}/leases", description.namespace.as_str());
            witness.watch(&server, &leases, None).await;
        }
        let replica = |number| Replica {
            off: SignedDuration::from_secs(clocks.get(number).copied().unwrap_or_default()),
            starts: 0,
            next: began,
            running: None,
        };
        World {
            began,
            server,
            network,
            seed,
            deployment,
            replicas: (0..deployment.replicas()).map(replica).collect(),
            witness,
            samples,
        }
    }

    /// Waits until a time after the beginning. Replicas that have ended are restarted meanwhile.
    pub async fn wait_until(&mut self, at: Duration) {
        while self.began.elapsed() < at {
            self.look_after_replicas();
            self.approve().await;
            let rest = at.saturating_sub(self.began.elapsed());
            sleep(rest.min(Duration::from_secs(1))).await;
        }
        self.look_after_replicas();
    }

    /// Waits as [`wait_until`](Self::wait_until) does, but at most until a condition is true. Returns whether it is.
    pub async fn wait_for(&mut self, most: Duration, holds: impl Fn(&World) -> bool) -> bool {
        let end = self.began.elapsed() + most;
        loop {
            self.witness.follow();
            if holds(self) {
                return true;
            }
            let now = self.began.elapsed();
            if now >= end {
                return false;
            }
            self.wait_until(now + Duration::from_secs(1)).await;
        }
    }

    /// Users read the objects that wait for an approval, and approve one in four asks.
    async fn approve(&mut self) {
        self.witness.follow();
        let second = self.began.elapsed().as_secs();
        for oracle in &self.witness.oracles {
            let kind = oracle.kind();
            for (name, id) in oracle.unapproved() {
                let random = u64::from_str_radix(id, 16).unwrap_or_default();
                if random.wrapping_add(second).is_multiple_of(4) {
                    let approval = format!("{id} by {ADMINISTRATOR}");
                    let patch = json!({"metadata": {"annotations": {approval_annotation(kind): approval}}});
                    self.patch(kind, name, patch.to_string()).await;
                }
            }
        }
    }

    /// Ends a replica as by `kill -9`. It is restarted after a while.
    pub fn kill(&mut self, replica: usize, length: Duration) {
        let replica = &mut self.replicas[replica];
        replica.next = Instant::now() + length;
        if let Some(running) = replica.running.take() {
            running.process.kill();
        }
    }

    /// Ends a replica as by SIGTERM. It is restarted after a while.
    pub fn stop(&mut self, replica: usize, length: Duration) {
        let replica = &mut self.replicas[replica];
        replica.next = Instant::now() + length;
        if let Some(running) = &mut replica.running {
            running.process.stop();
            running.ends.get_or_insert(Instant::now() + GRACE);
        }
    }

    /// Freezes a replica for a while, as by SIGSTOP.
    pub fn freeze(&mut self, replica: usize, length: Duration) {
        let Some(running) = &mut self.replicas[replica].running else {
            return;
        };
        running.frozen = running.frozen.max(Instant::now() + length);
        let process = running.process.clone();
        process.freeze();
        tokio::spawn(async move {
            sleep(length).await;
            process.thaw();
        });
    }

    /// Cuts a replica off from the server for a while.
    pub fn cut_off(&self, replica: usize, length: Duration) {
        if let Some(running) = &self.replicas[replica].running {
            self.network.cut_off(&running.name, length);
        }
    }

    /// Creates an object of a kind, if it does not exist.
    pub async fn create(&self, kind: &Kind, name: &str, script: Option<&str>) {
        let mut samples = self.samples.iter();
        let sample = samples.find(|sample| sample["kind"] == kind.resource.kind.as_str());
        let mut object = sample.expect("a sample of each kind").clone();
        object["metadata"] = json!({"name": name, "namespace": NAMESPACE});
        if let Some(script) = script {
            object["metadata"]["annotations"] = json!({"script": script});
        }
        self.ask(
            Request::post(path(kind, "")),
            "application/json",
            object.to_string(),
        )
        .await;
    }

    /// Changes an object by a merge patch, if it exists.
    pub async fn patch(&self, kind: &Kind, name: &str, patch: String) {
        self.ask(
            Request::patch(path(kind, name)),
            "application/merge-patch+json",
            patch,
        )
        .await;
    }

    /// Stores a status, as an operator of another description may have.
    pub async fn patch_status(&self, kind: &Kind, name: &str, status: &Value) {
        self.ask(
            Request::patch(format!("{}/status", path(kind, name))),
            "application/merge-patch+json",
            json!({"status": status}).to_string(),
        )
        .await;
    }

    /// Removes the policies, which refuse states without an edge.
    pub async fn lift_policies(&self) {
        let bindings = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";
        self.ask(Request::delete(bindings), "application/json", String::new())
            .await;
    }

    /// The stored objects of a kind.
    pub fn stored(&self, kind: &Kind) -> Vec<Arc<Value>> {
        let (group, plural) = (&kind.resource.group.value, &kind.resource.plural.value);
        self.server.objects(group.as_str(), plural.as_str())
    }

    /// Deletes an object, if it exists and is not protected.
    pub async fn delete(&self, kind: &Kind, name: &str) {
        self.ask(
            Request::delete(path(kind, name)),
            "application/json",
            String::new(),
        )
        .await;
    }

    async fn ask(&self, request: http::request::Builder, content_type: &str, body: String) {
        let request = request.header("content-type", content_type);
        let request = request.body(Full::<bytes::Bytes>::from(body));
        self.server.answer(request.expect("a request")).await;
    }

    /// The oracles, one for each kind of the description.
    pub fn oracles(&self) -> &[Oracle] {
        &self.witness.oracles
    }

    /// Declares that objects with these scripts stay in ready states.
    pub fn ready_objects_stay(&mut self) {
        self.witness
            .oracles
            .iter_mut()
            .for_each(Oracle::ready_objects_stay);
    }

    /// The objects that were not at rest since another operator or leader began.
    pub fn restless(&self) -> Vec<String> {
        self.witness.oracles.iter().flat_map(Oracle::restless).collect()
    }

    /// Ends the replicas, and judges all writes.
    pub async fn end(mut self) -> Judged {
        for number in 0..self.replicas.len() {
            self.stop(number, GRACE * 10);
        }
        let is_down = |world: &World| world.replicas.iter().all(|replica| replica.running.is_none());
        self.wait_for(GRACE * 2, is_down).await;
        self.network.close();
        let starts = STARTS.take().unwrap_or_default();
        let Witness {
            mut oracles,
            mut findings,
            ..
        } = self.witness;
        for oracle in &mut oracles {
            oracle.check_handler_starts(&starts);
            findings.extend(oracle.findings().iter().cloned());
        }
        findings.extend(self.network.findings());
        Judged {
            log: self.network.log(),
            findings,
            objects: oracles.iter().map(Oracle::objects).sum(),
            entries: oracles.iter().map(Oracle::entries).sum(),
            judgements: oracles.iter().map(Oracle::judged).sum(),
            length: self.began.elapsed(),
        }
    }

    /// Records a finding about the run.
    pub fn find(&mut self, finding: impl Into<String>) {
        self.witness.findings.push(finding.into());
    }

    /// Starts missing replicas, and checks those that have ended.
    fn look_after_replicas(&mut self) {
        let now = Instant::now();
        for number in 0..self.replicas.len() {
            let replica = &mut self.replicas[number];
            if let Some(running) = &mut replica.running {
                let has_ended = running.done.is_finished();
                let name = &running.name;
                if running
                    .ends
                    .is_some_and(|ends| now > ends.max(running.frozen + GRACE))
                {
                    self.witness.findings.push(format!("{name} does not end"));
                    running.process.kill();
                } else if has_ended && running.ends.is_none() && self.deployment == Deployment::Alone {
                    self.witness.findings.push(format!("{name} has ended by itself"));
                } else if !has_ended && !running.process.is_killed() {
                    continue;
                }
                replica.running = None;
                replica.next = replica.next.max(now + Duration::from_millis(500));
            } else if replica.next <= now {
                self.start(number);
            }
        }
    }

    fn start(&mut self, number: usize) {
        self.witness.follow();
        let time = BEGIN + self.began.elapsed();
        if !matches!(self.deployment, Deployment::Elected(_)) {
            self.witness.another_acts(time);
        }
        let description = description();
        let user = format!(
            "system:serviceaccount:{}:{}",
            description.namespace, description.operator.value
        );
        let replica = &mut self.replicas[number];
        replica.starts += 1;
        let name = format!("replica-{number}-{}", replica.starts);
        let seed = (self.seed << 16) ^ ((number as u64) << 8) ^ replica.starts;
        let (network, host) = (self.network.clone(), name.clone());
        let process = Process::new(&name, time + replica.off, seed, move || {
            network.connect(&host, &user)
        });
        self.network.add(&name, &process);
        let mut runtime = simulated_operator::runtime()
            .config(Config::new("http://simulated".parse().expect("a URL")))
            .namespaces([NAMESPACE]);
        if let Deployment::Elected(_) = self.deployment {
            runtime = runtime.leader_election(Some(description.namespace.to_string()));
        }
        let (running, ended) = (process.run(runtime.start()), process.clone());
        let done = tokio::spawn(async move {
            let result = running.await;
            // All its spawned tasks end with it.
            ended.kill();
            result
        });
        replica.running = Some(Running {
            name,
            process,
            done,
            ends: None,
            frozen: Instant::now(),
        });
    }
}

/// The path of an object of a kind, or of all its objects if the name is empty.
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
