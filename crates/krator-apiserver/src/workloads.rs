//! A simulator of workloads, which become ready or fail after a time. It writes statuses like the controllers of
//! Kubernetes and a kubelet, although no pods run.
//!
//! Times are measured by the clock of tokio, which tests can pause.

use crate::{
    object::{at, is_deleting, meta},
    parameters::Unknown,
    request::Subresource,
    rest::{self, Edit, Options},
    state::{State, id, lock},
    store::{Key, ResourceId},
    users::User,
};
use krator_machine::reported::{Progress, report};
use serde_json::Value as Json;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, Weak},
    time::Duration,
};
use tokio::time::{Instant, sleep_until};

/// Defines when Deployments, StatefulSets, DaemonSets, Jobs and Pods become ready or fail.
///
/// A Job that is ready is complete. The statuses of StatefulSets and DaemonSets cannot express a failure, so failing
/// ones keep their first status. A changed spec of a Deployment, a StatefulSet or a DaemonSet restarts it.
#[derive(Debug, Clone, Copy, Default)]
pub struct WorkloadSimulator {
    ready_after: Option<Duration>,
}

impl WorkloadSimulator {
    /// The annotation of a workload with the time after which it becomes ready, such as `5s`. It takes precedence over
    /// [`ready_after`](Self::ready_after).
    pub const READY_AFTER: &str = "apiserver.krator.dev/ready-after";
    /// The annotation of a workload with the time after which it fails. It takes precedence over
    /// [`READY_AFTER`](Self::READY_AFTER).
    pub const FAIL_AFTER: &str = "apiserver.krator.dev/fail-after";

    /// Simulates only workloads that have an annotation.
    pub fn annotated() -> Self {
        Self::default()
    }

    /// All workloads become ready after this time, unless they have an annotation.
    pub fn ready_after(time: Duration) -> Self {
        Self {
            ready_after: Some(time),
        }
    }

    /// The outcome of an object, and the time until then. `None` if its status does not change.
    fn outcome(self, object: &Json) -> Option<(Progress, Duration)> {
        let annotated = |name| {
            let text = at(object, &["metadata", "annotations", name]).as_str()?;
            let time: jiff::SignedDuration = text.parse().ok()?;
            Duration::try_from(time).ok()
        };
        let failing = annotated(Self::FAIL_AFTER).map(|time| (Progress::Failed, time));
        let ready = || {
            Some((
                Progress::Ready,
                annotated(Self::READY_AFTER).or(self.ready_after)?,
            ))
        };
        failing.or_else(ready)
    }
}

/// The simulated kinds: their groups, kinds and resources, and the field managers of their statuses.
const WORKLOADS: [[&str; 4]; 5] = [
    ["apps", "Deployment", "deployments", "kube-controller-manager"],
    ["apps", "StatefulSet", "statefulsets", "kube-controller-manager"],
    ["apps", "DaemonSet", "daemonsets", "kube-controller-manager"],
    ["batch", "Job", "jobs", "kube-controller-manager"],
    ["", "Pod", "pods", "kubelet"],
];

/// A workload that has started.
struct Started {
    since: Instant,
    /// Whether the outcome was written.
    is_over: bool,
}

/// The identity of a workload with one of its specs.
type Workload = (ResourceId, Key, String, i64);
type Starts = BTreeMap<Workload, Started>;

/// Runs until the server is dropped.
pub(crate) async fn run(state: Weak<Mutex<State>>, simulator: WorkloadSimulator) {
    let Some(mut versions) = state.upgrade().map(|state| lock(&state).store.versions()) else {
        return;
    };
    let mut started = BTreeMap::new();
    loop {
        let Some(strong) = state.upgrade() else { return };
        // The simulator's own writes do not cause another round.
        let next = {
            let mut state = lock(&strong);
            let next = round(&mut state, simulator, &mut started);
            versions.mark_unchanged();
            next
        };
        drop(strong);
        let due = async {
            match next {
                Some(next) => sleep_until(next).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            changed = versions.changed() => if changed.is_err() { return },
            () = due => {}
        }
    }
}

/// Writes the statuses of all workloads that are due, and returns the time of the next one.
fn round(state: &mut State, simulator: WorkloadSimulator, started: &mut Starts) -> Option<Instant> {
    let mut seen = BTreeMap::new();
    let mut next: Option<Instant> = None;
    for [group, kind, resource, manager] in WORKLOADS {
        let resource = id(group, resource);
        let write = |state: &mut State, key: &Key, progress| {
            let Some(object) = state.store.get(&resource, key) else {
                return;
            };
            let mut object = Json::clone(object);
            report((group, kind), progress, &state.world.time(), &mut object);
            write(state, manager, &resource, key, object);
        };
        let all: Vec<(Key, Arc<Json>)> = state
            .store
            .list(&resource, "")
            .filter(|(_, object)| !is_deleting(object))
            .map(|(key, object)| (key.clone(), Arc::clone(object)))
            .collect();
        for (key, object) in all {
            let Some((outcome, after)) = simulator.outcome(&object) else {
                continue;
            };
            let workload = workload(kind, &resource, &key, &object);
            let mut now = started.remove(&workload).unwrap_or_else(|| {
                write(state, &key, Progress::Started);
                Started {
                    since: Instant::now(),
                    is_over: false,
                }
            });
            let due = now.since + after;
            if !now.is_over && due <= Instant::now() {
                write(state, &key, outcome);
                now.is_over = true;
            }
            if !now.is_over {
                next = Some(next.map_or(due, |next| next.min(due)));
            }
            seen.insert(workload, now);
        }
    }
    *started = seen;
    next
}

/// Identifies a workload. Jobs and Pods start once; others start again with each generation.
fn workload(kind: &str, resource: &ResourceId, key: &Key, object: &Json) -> Workload {
    let generation = match kind {
        "Job" | "Pod" => 0,
        _ => at(object, &["metadata", "generation"]).as_i64().unwrap_or(0),
    };
    let uid = meta(object, "uid").to_owned();
    (resource.clone(), key.clone(), uid, generation)
}

/// Writes the status of an object with the field manager of its controller.
fn write(state: &mut State, manager: &str, resource: &ResourceId, key: &Key, object: Json) {
    let Some(kind) = state.kinds.any(resource).map(Arc::clone) else {
        return;
    };
    let options = Options {
        user: Arc::new(User::admin()),
        manager: manager.to_owned(),
        subresource: Subresource::Status,
        dry_run: false,
        sent: None,
        unknown: Unknown::Ignore,
    };
    // The update may fail if another client has written a status with which this one conflicts, as for a Job that has
    // ended.
    drop(rest::update(
        state,
        &kind,
        key,
        (Edit::Replace(object), Vec::new()),
        &options,
    ));
}
