//! A simulator of workloads, which become ready or fail after a time, on demand: statuses as the controllers of Kubernetes and
//! a kubelet would write them, although nothing runs here.
//!
//! Starts are remembered by the clock of tokio, so that tests need not wait.

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

/// When Deployments, StatefulSets, DaemonSets, Jobs and Pods become ready, or fail.
///
/// A Job that is ready is complete. StatefulSets and DaemonSets have no status that says that they have failed; those that
/// fail stay as they begin. A changed spec of a Deployment, a StatefulSet or a DaemonSet begins again.
#[derive(Debug, Clone, Copy, Default)]
pub struct WorkloadSimulator {
    ready_after: Option<Duration>,
}

impl WorkloadSimulator {
    /// The annotation of a workload with the time after which it becomes ready, such as `5s`. It is stronger than
    /// [`ready_after`](Self::ready_after).
    pub const READY_AFTER: &str = "apiserver.krator.dev/ready-after";
    /// The annotation of a workload with the time after which it fails. It is stronger than [`READY_AFTER`](Self::READY_AFTER).
    pub const FAIL_AFTER: &str = "apiserver.krator.dev/fail-after";

    /// Only workloads with an annotation become anything.
    pub fn annotated() -> Self {
        Self::default()
    }

    /// All workloads become ready after a time, unless an annotation says otherwise.
    pub fn ready_after(time: Duration) -> Self {
        Self {
            ready_after: Some(time),
        }
    }

    /// The outcome of an object, and the time after which it comes. `None` if the object stays as it is.
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

/// The kinds whose objects become ready: their groups, kinds and resources, and the writers of their statuses.
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
    /// Whether its outcome has come.
    is_over: bool,
}

/// A workload, and which of its specs.
type Workload = (ResourceId, Key, String, i64);
type Starts = BTreeMap<Workload, Started>;

/// Runs until the server is gone.
pub(crate) async fn run(state: Weak<Mutex<State>>, simulator: WorkloadSimulator) {
    let Some(mut versions) = state.upgrade().map(|state| lock(&state).store.versions()) else {
        return;
    };
    let mut started = BTreeMap::new();
    loop {
        let Some(strong) = state.upgrade() else { return };
        // Its own writes are no reason for another round.
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

/// Looks at all workloads: writes the statuses that are due, and returns when the next one will be.
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

/// A Job or a Pod begins once; others begin again with each spec.
fn workload(kind: &str, resource: &ResourceId, key: &Key, object: &Json) -> Workload {
    let generation = match kind {
        "Job" | "Pod" => 0,
        _ => at(object, &["metadata", "generation"]).as_i64().unwrap_or(0),
    };
    let uid = meta(object, "uid").to_owned();
    (resource.clone(), key.clone(), uid, generation)
}

/// Writes the status of an object as its controller would.
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
    // A status that others have written may leave no way to this one, as for a Job that has ended.
    drop(rest::update(
        state,
        &kind,
        key,
        (Edit::Replace(object), Vec::new()),
        &options,
    ));
}
