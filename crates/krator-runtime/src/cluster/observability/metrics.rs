//! The metrics of the operator, in the text format of Prometheus. Labels have the names of kinds, states and
//! causes, never that of an object: the number of time series does not depend on the number of objects.
mod admission;
mod certificates;
mod measures;
mod process;
mod requests;

pub(in crate::cluster) use requests::count_requests;

use crate::{
    engine::{Cause, Ended, Measured, Moved},
    error::Class,
    graph::{Graph, Limit, StateId},
    world::RunEnd,
};
use certificates::Certificates;
pub(in crate::cluster) use measures::Measures;
use process::Process;
use prometheus_client::{
    encoding::text,
    metrics::{
        counter::Counter,
        family::{Family, MetricConstructor},
        gauge::Gauge,
        histogram::Histogram,
    },
    registry::{Metric, Registry},
};
use std::{borrow::Cow, fmt, hash::Hash, sync::Arc, time::Duration};

/// The metrics of the process. Clones share them.
#[derive(Clone)]
pub(in crate::cluster) struct Metrics(Arc<Families>);

struct Families {
    registry: Registry,
    objects: Family<Labels<3>, Gauge>,
    oldest: Family<Labels<3>, Gauge>,
    waiting: Family<Labels<3>, Gauge>,
    parked: Family<Labels<2>, Gauge>,
    missing: Family<Labels<2>, Gauge>,
    transitions: Family<Labels<5>, Counter>,
    state_durations: Histograms<Labels<3>>,
    handler_durations: Histograms<Labels<3>>,
    handler_errors: Family<Labels<4>, Counter>,
    slow_polls: Family<Labels<3>, Counter>,
    retries_exhausted: Family<Labels<3>, Counter>,
    objectives: Family<Labels<4>, Counter>,
    limit_taken: Family<Labels<3>, Gauge>,
    limit_waiting: Family<Labels<3>, Gauge>,
    events_dropped: Counter,
    reconciles: Family<Labels<2>, Counter>,
    reconcile_errors: Family<Labels<1>, Counter>,
    reconcile_times: Histograms<Labels<1>>,
    queue_depth: Family<Labels<1>, Gauge>,
    leads: Family<Labels<1>, Gauge>,
    certificates: Certificates,
    requests: Family<Labels<3>, Counter>,
    admissions: admission::Admissions,
}

type Histograms<L> = Family<L, Histogram, Buckets>;
type Text = Cow<'static, str>;

/// The upper bounds of a histogram's buckets, in seconds.
#[derive(Clone, Debug)]
struct Buckets(&'static [f64]);

impl MetricConstructor<Histogram> for Buckets {
    fn new_metric(&self) -> Histogram {
        Histogram::new(self.0.iter().copied())
    }
}

/// From 5 ms to a minute.
const OF_RUNS: Buckets = Buckets(&[
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0,
]);
/// From 100 ms to a week: 1 s, 10 s, a minute, 5 and 30 minutes, 2, 6 and 24 hours.
const OF_STATES: Buckets = Buckets(&[
    0.1, 1.0, 10.0, 60.0, 300.0, 1_800.0, 7_200.0, 21_600.0, 86_400.0, 604_800.0,
]);

/// The names and the values of labels.
type Labels<const N: usize> = [(&'static str, Text); N];

/// The labels of a kind, and one of its states.
fn of_state([group, kind]: Labels<2>, state: impl Into<Text>) -> Labels<3> {
    [group, kind, ("state", state.into())]
}

impl Metrics {
    pub fn new() -> Self {
        let mut registry = Registry::default();
        let r = &mut registry;
        let stayed = "Time that objects spent in a state, recorded when they leave it";
        let oldest = "Unix time at which the object that has been in the state longest entered it, or 0 if no object is in it";
        let parked =
            "Objects in a stored state that is unknown to the operator, so that no handler runs for them";
        let missing = "Fields and values that the operator writes and the CustomResourceDefinition in the cluster lacks";
        let ran = "Duration of handler runs";
        let taken = "Objects that a limit counts, including those just admitted";
        let waiting_for_place = "Objects that wait for a place in a limit";
        let waiting = "Objects that wait for the gate of a state";
        let results = "Handler runs by result: success, error, or requeue for an interrupted run";
        Self(Arc::new(Families {
            objects: add(r, "krator_objects", "Objects in each state", Family::default()),
            oldest: add(
                r,
                "krator_state_oldest_entry_timestamp_seconds",
                oldest,
                Family::default(),
            ),
            waiting: add(r, "krator_gate_waiting", waiting, Family::default()),
            parked: add(r, "krator_parked_objects", parked, Family::default()),
            missing: add(r, "krator_crd_missing", missing, Family::default()),
            transitions: add(r, "krator_transitions", "Entries into states", Family::default()),
            state_durations: add(r, "krator_state_duration_seconds", stayed, histograms(OF_STATES)),
            handler_durations: add(r, "krator_handler_duration_seconds", ran, histograms(OF_RUNS)),
            handler_errors: add(
                r,
                "krator_handler_errors",
                "Errors of handlers",
                Family::default(),
            ),
            slow_polls: add(
                r,
                "krator_handler_slow_polls",
                "Polls of handler futures that took more than 2 ms of computing or blocking",
                Family::default(),
            ),
            retries_exhausted: add(
                r,
                "krator_retries_exhausted",
                "Transitions because no retry was left",
                Family::default(),
            ),
            limit_taken: add(r, "krator_limit_taken", taken, Family::default()),
            limit_waiting: add(r, "krator_limit_waiting", waiting_for_place, Family::default()),
            objectives: add(
                r,
                "krator_objective",
                "Objects that were measured from one state to another, by result",
                Family::default(),
            ),
            events_dropped: add(
                r,
                "krator_events_dropped",
                "Events that were dropped because the queue was full, or that the API server refused",
                Counter::default(),
            ),
            reconciles: add(r, "controller_runtime_reconcile", results, Family::default()),
            reconcile_errors: add(
                r,
                "controller_runtime_reconcile_errors",
                "Handler runs that failed",
                Family::default(),
            ),
            reconcile_times: add(
                r,
                "controller_runtime_reconcile_time_seconds",
                ran,
                histograms(OF_RUNS),
            ),
            queue_depth: add(
                r,
                "workqueue_depth",
                "Objects in the work queue",
                Family::default(),
            ),
            leads: add(
                r,
                "leader_election_master_status",
                "1 if this process holds the lease, else 0",
                Family::default(),
            ),
            certificates: Certificates::new(r),
            requests: add(
                r,
                "rest_client_requests",
                "Requests to the API server, by the status of the answer",
                Family::default(),
            ),
            admissions: admission::Admissions::new(r),
            registry: {
                r.register_collector(Box::new(Process::new()));
                registry
            },
        }))
    }

    /// The metrics of one kind, with all its states.
    pub fn of_kind(&self, group: Text, kind: Text, graph: &'static Graph<'static>) -> Arc<KindMetrics> {
        let families = &*self.0;
        // The dashboards of controller-runtime know the kind by this label, in lower case.
        let name: Text = kind.to_lowercase().into();
        let (controller, queue) = ([("controller", name.clone())], [("name", name)]);
        let of_kind = [("group", group), ("kind", kind)];
        let objects = graph.states.iter().map(|policy| {
            let labels = of_state(of_kind.clone(), policy.name);
            // They are there from the beginning.
            drop(families.state_durations.get_or_create(&labels));
            drop(families.retries_exhausted.get_or_create(&labels));
            drop(families.handler_durations.get_or_create(&labels));
            families.objects.get_or_create_owned(&labels)
        });
        let of_objective = |objective: usize| {
            let [group, kind] = of_kind.clone();
            let objective = ("objective", graph.objective_name(objective).into());
            Measured::ALL.map(|result| {
                let labels = [
                    group.clone(),
                    kind.clone(),
                    objective.clone(),
                    ("result", result.name().into()),
                ];
                families.objectives.get_or_create_owned(&labels)
            })
        };
        let objectives = (0..graph.objectives.len()).map(of_objective).collect();
        let of_limit = |limit: &Limit<'static>| {
            let [group, kind] = of_kind.clone();
            let labels = [group, kind, ("limit", limit.name.into())];
            [&families.limit_taken, &families.limit_waiting].map(|family| family.get_or_create_owned(&labels))
        };
        Arc::new(KindMetrics {
            objectives,
            limits: graph.limits.iter().map(of_limit).collect(),
            objects: objects.collect(),
            graph,
            parked: families.parked.get_or_create_owned(&of_kind),
            missing: families.missing.get_or_create_owned(&of_kind),
            reconcile_errors: families.reconcile_errors.get_or_create_owned(&controller),
            reconcile_times: families.reconcile_times.get_or_create_owned(&controller),
            queue_depth: families.queue_depth.get_or_create_owned(&queue),
            controller,
            metrics: self.clone(),
            of_kind,
        })
    }

    /// The counter of events that were dropped.
    pub fn events_dropped(&self) -> Counter {
        self.0.events_dropped.clone()
    }

    /// The gauge that is 1 while this process holds the lease of this name.
    pub fn leads(&self, lease: &'static str) -> Gauge {
        self.0.leads.get_or_create_owned(&[("name", lease.into())])
    }

    /// All metrics as text.
    pub fn render(&self) -> Result<String, fmt::Error> {
        self.0.certificates.look();
        let mut out = String::new();
        text::encode(&mut out, &self.0.registry)?;
        Ok(out)
    }
}

/// Adds a metric to the registry, and returns a handle of it.
fn add<M: Metric + Clone>(registry: &mut Registry, name: &str, help: &str, metric: M) -> M {
    registry.register(name, help, metric.clone());
    metric
}

fn histograms<L: Clone + Hash + Eq>(buckets: Buckets) -> Histograms<L> {
    Family::new_with_constructor(buckets)
}

/// The metrics of one kind.
pub(in crate::cluster) struct KindMetrics {
    metrics: Metrics,
    of_kind: Labels<2>,
    controller: Labels<1>,
    graph: &'static Graph<'static>,
    /// By the number of the state.
    objects: Vec<Gauge>,
    /// By the number of the objective and the result.
    objectives: Vec<[Counter; 3]>,
    /// By the number of the limit: the places that are taken, and the objects that wait.
    limits: Vec<[Gauge; 2]>,
    parked: Gauge,
    missing: Gauge,
    reconcile_errors: Counter,
    reconcile_times: Histogram,
    queue_depth: Gauge,
}

impl KindMetrics {
    /// An object has entered a state.
    pub fn moved(&self, moved: &Moved<'_>) {
        let families = &*self.metrics.0;
        let name = |name: &str| Text::from(name.to_owned());
        if let Some(from) = moved.from {
            let labels = of_state(self.of_kind.clone(), name(from.name));
            let stayed = families.state_durations.get_or_create(&labels);
            stayed.observe(moved.stayed.as_secs_f64());
            if moved.cause == Cause::RetriesExhausted {
                families.retries_exhausted.get_or_create(&labels).inc();
            }
        }
        let [group, kind] = self.of_kind.clone();
        let from = ("from", name(moved.from.map_or("", |from| from.name)));
        let (to, cause) = (("to", name(moved.to.name)), ("cause", moved.cause.name().into()));
        families
            .transitions
            .get_or_create(&[group, kind, from, to, cause])
            .inc();
        moved.ended.iter().for_each(|ended| self.measured(*ended));
    }

    /// A measurement for an objective has ended.
    pub fn measured(&self, (objective, result): Ended) {
        self.objectives[objective][result as usize].inc();
    }

    /// A handler was run, or could not be run.
    pub fn ran(&self, state: StateId, took: Option<Duration>, end: RunEnd) {
        let families = &*self.metrics.0;
        let labels = of_state(self.of_kind.clone(), self.graph.state(state).name);
        if let Some(took) = took {
            let of_state = families.handler_durations.get_or_create(&labels);
            of_state.observe(took.as_secs_f64());
            self.reconcile_times.observe(took.as_secs_f64());
        }
        let result = match end {
            RunEnd::Done => "success",
            RunEnd::Interrupted => "requeue",
            RunEnd::Failed(class) => {
                self.reconcile_errors.inc();
                let [group, kind, state] = labels;
                let labels = [group, kind, state, ("class", name_of(class).into())];
                families.handler_errors.get_or_create(&labels).inc();
                "error"
            }
        };
        let [controller] = self.controller.clone();
        let labels = [controller, ("result", result.into())];
        families.reconciles.get_or_create(&labels).inc();
    }

    /// A handler has computed or blocked for long.
    pub fn polled_slowly(&self, state: StateId) {
        let labels = of_state(self.of_kind.clone(), self.graph.state(state).name);
        self.metrics.0.slow_polls.get_or_create(&labels).inc();
    }

    /// So many places of each limit are taken, and so many objects wait for one.
    pub fn limited(&self, counts: &[(u32, u32)]) {
        for ([taken, waiting], counts) in self.limits.iter().zip(counts) {
            taken.set(counts.0.into());
            waiting.set(counts.1.into());
        }
    }

    /// How many places of each limit are taken, and how many objects wait for one.
    pub fn limits(&self) -> impl Iterator<Item = (&'static str, [i64; 2])> {
        let counts = self.limits.iter().map(|counts| counts.each_ref().map(Gauge::get));
        self.graph.limits.iter().map(|limit| limit.name).zip(counts)
    }

    /// So many objects have something to do.
    pub fn busy(&self, objects: usize) {
        self.queue_depth.set(i64::try_from(objects).unwrap_or(i64::MAX));
    }

    /// The number of objects in each state, by the number of the state.
    pub fn objects_by_state(&self) -> impl Iterator<Item = i64> {
        self.objects.iter().map(Gauge::get)
    }

    /// The number of states, values and fields that the CustomResourceDefinition in the cluster lacks.
    pub fn missing(&self) -> Gauge {
        self.missing.clone()
    }

    /// The number of objects whose stored state is unknown.
    pub fn parked_objects(&self) -> i64 {
        self.parked.get()
    }

    fn objects(&self, at: Option<StateId>) -> &Gauge {
        let objects = at.and_then(|at| self.objects.get(usize::from(at.0)));
        objects.unwrap_or(&self.parked)
    }
}

/// An object as it is counted: in its state or, if that is unknown, as parked.
pub(in crate::cluster) struct Counted {
    kind: Arc<KindMetrics>,
    at: Option<StateId>,
}

impl Counted {
    pub fn new(kind: Arc<KindMetrics>, at: Option<StateId>) -> Self {
        kind.objects(at).inc();
        Self { kind, at }
    }

    /// The object is in this state now.
    pub fn is_at(&mut self, at: Option<StateId>) {
        if self.at != at {
            self.kind.objects(self.at).dec();
            self.kind.objects(at).inc();
            self.at = at;
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.kind.objects(self.at).dec();
    }
}

fn name_of(class: Class) -> &'static str {
    match class {
        Class::Transient => "transient",
        Class::After(_) => "after",
        Class::Blocked => "blocked",
        Class::Permanent => "permanent",
        Class::NamespaceTerminating => "namespace_terminating",
        Class::Refused => "refused",
    }
}

#[cfg(test)]
mod tests;
