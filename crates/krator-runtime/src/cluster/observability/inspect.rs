//! The view of a running operator for people: the graph of each kind with the number of objects in each state, the objects
//! of a state, and the last transitions of an object.
//!
//! Between two looks nothing is kept but a bounded number of transitions. The dispatcher of the kind is asked for its
//! objects; it collects pointers, and the thread of the server makes JSON of them.
mod answer;
mod graph;
mod history;
mod page;
mod query;
mod request;

pub(in crate::cluster) use history::History;
pub(in crate::cluster) use page::Page;
#[cfg(feature = "dev")]
pub(in crate::cluster) use page::protect;
pub(in crate::cluster) use request::{FoundObject, Position, View, ViewRequest, Viewed};

#[cfg(feature = "dev")]
use super::development::{Development, Target};
use super::{
    Problem,
    metrics::{KindMetrics, Measures},
};
use crate::{
    cluster::process::{
        clock::Clock,
        health::Health,
        serve::{self, text},
    },
    graph::{Graph, StateId},
    lock::Lock as _,
    machine::Object,
    status::{MachineStatus, ObjectStatus as _},
};
use futures::future::join_all;
use http::{Response, StatusCode};
use query::{Query, Selected};
use request::Wanted;
use serde::{Deserialize, Deserializer, de::IgnoredAny};
use serde_json::json;
use std::{
    borrow::Cow,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::timeout,
};

/// How long a dispatcher may take to answer. It is slower only if handlers block its thread.
const LONGEST_ANSWER: Duration = Duration::from_secs(5);
/// How many requests may wait for a dispatcher.
const REQUESTS: usize = 4;

/// The view of the process. Clones share it.
#[derive(Clone)]
pub(in crate::cluster) struct Inspection(Arc<Sources>);

struct Sources {
    operator: &'static str,
    version: &'static str,
    clock: Arc<Clock>,
    health: Health,
    leads: watch::Receiver<bool>,
    kinds: Mutex<Vec<Arc<Kind>>>,
    #[cfg(feature = "dev")]
    development: Development,
}

/// The view of one kind.
struct Kind {
    group: Cow<'static, str>,
    kind: Cow<'static, str>,
    graph: &'static Graph<'static>,
    metrics: Arc<KindMetrics>,
    history: Arc<History>,
    requests: mpsc::Sender<ViewRequest>,
}

/// The ends of a kind's view that its loop holds.
pub(in crate::cluster) struct Inspected {
    /// Records transitions for the state page; `None` without that page.
    pub history: Option<Arc<History>>,
    /// Queries from the state page; closed without that page.
    pub requests: mpsc::Receiver<ViewRequest>,
}

impl Inspection {
    pub fn new(
        operator: &'static str,
        version: &'static str,
        clock: Arc<Clock>,
        health: Health,
        leads: watch::Receiver<bool>,
    ) -> Self {
        Self(Arc::new(Sources {
            operator,
            version,
            clock,
            health,
            leads,
            kinds: Mutex::default(),
            #[cfg(feature = "dev")]
            development: Development::default(),
        }))
    }

    /// The view of a process without kinds.
    #[cfg(test)]
    pub fn of_nothing() -> Self {
        let (_, leads) = watch::channel(true);
        let clock = Arc::new(Clock::new());
        Self::new("moose-operator", "0.1.0", clock, Health::default(), leads)
    }

    /// The state that the controls of a development build change.
    #[cfg(feature = "dev")]
    pub fn development(&self) -> &Development {
        &self.0.development
    }

    #[cfg(feature = "dev")]
    pub fn clock(&self) -> &Clock {
        &self.0.clock
    }

    /// Makes the dispatchers recalculate all timers, because the clock was advanced. Returns when they have.
    ///
    /// # Errors
    ///
    /// If a dispatcher does not answer; its objects then go by the former timers.
    #[cfg(feature = "dev")]
    pub async fn set_timers_again(&self) -> Result<(), (StatusCode, String)> {
        for kind in self.kinds() {
            kind.ask(Wanted::TimersAgain).await?;
        }
        Ok(())
    }

    /// Takes an edge for an object whose handler is not written, as that handler could.
    ///
    /// # Errors
    ///
    /// If there is no such object or edge, or if the handler is written.
    #[cfg(feature = "dev")]
    pub async fn take_by_hand(&self, object: &Target, to: &str) -> Result<(), Problem> {
        let kinds = self.kinds();
        let is_asked = |kind: &&Arc<Kind>| kind.kind == object.kind && kind.group == object.group;
        let kind = kinds.iter().find(is_asked).ok_or_else(|| missing("kind"))?;
        let to = kind.state(to)?;
        let (namespace, name) = (object.namespace.clone(), object.name.clone());
        let found = kind.named(&namespace, &name).await?;
        let at = found
            .and_then(|found| found.at)
            .ok_or_else(|| missing("object"))?;
        let policy = kind.graph.state(at);
        if policy.written {
            let problem = format!("the handler of {} is written: it takes the edges", policy.name);
            return Err((StatusCode::CONFLICT, problem));
        }
        if !kind.graph.has_edge(at, to) {
            return Err(missing("edge"));
        }
        kind.ask(Wanted::ByHand { namespace, name, to }).await?;
        Ok(())
    }

    /// The states whose handlers nobody has written, and the objects in them, each with the states that it may be led to.
    #[cfg(feature = "dev")]
    pub async fn unwritten(&self) -> Vec<(Target, Vec<&'static str>)> {
        let mut all = Vec::new();
        for kind in self.kinds() {
            let states = kind.graph.states.iter().zip(0..);
            for (policy, number) in states.filter(|(policy, _)| !policy.written) {
                let found = kind
                    .ask(Wanted::At(Some(StateId(number))))
                    .await
                    .unwrap_or_default();
                let next = policy.next.iter().map(|to| kind.graph.state(*to).name);
                let next: Vec<&'static str> = next.collect();
                all.extend(found.iter().filter_map(|found| {
                    let shown = found.look()?;
                    let target = Target {
                        group: kind.group.clone().into_owned(),
                        kind: kind.kind.clone().into_owned(),
                        namespace: shown.metadata.namespace,
                        name: shown.metadata.name,
                    };
                    Some((target, next.clone()))
                }));
            }
        }
        all
    }

    /// Answers `/state` with this query.
    pub async fn respond(&self, query: Option<&str>) -> Response<String> {
        let answer = match Query::parse(query.unwrap_or_default()) {
            Ok(query) => self.answer(&query).await,
            Err(problem) => Err((StatusCode::BAD_REQUEST, problem)),
        };
        match answer {
            Ok(json) => {
                let mut answer = serve::answer("application/json", json);
                page::protect(answer.headers_mut());
                answer
            }
            Err((status, problem)) => text(status, problem + "\n"),
        }
    }

    async fn answer(&self, query: &Query<'_>) -> Result<String, Problem> {
        let kinds = self.kinds();
        let render = |details| Ok(answer::render(&self.0, &kinds, details));
        let Some(name) = query.kind else {
            return render(Vec::new());
        };
        let is_asked =
            |kind: &&Arc<Kind>| kind.kind == name && query.group.is_none_or(|group| kind.group == group);
        let kind = kinds.iter().find(is_asked).ok_or_else(|| missing("kind"))?;
        let found = match query.selected {
            Selected::Nothing => Vec::new(),
            Selected::State(name) => kind.ask(Wanted::At(Some(kind.state(name)?))).await?,
            Selected::Parked => kind.ask(Wanted::At(None)).await?,
            Selected::Object { namespace, name } => kind.named(namespace, name).await?.into_iter().collect(),
        };
        let transitions = |of| ("transitions", json!(kind.history.last(query.limit, of)));
        render(match query.selected {
            Selected::Nothing => vec![transitions(None)],
            Selected::State(_) | Selected::Parked => {
                vec![("objects", answer::objects(kind, &found, query))]
            }
            Selected::Object { namespace, name } => {
                let object = found
                    .first()
                    .and_then(|found| Some(answer::object(kind, found.at, &found.look()?)));
                vec![("object", json!(object)), transitions(Some((namespace, name)))]
            }
        })
    }

    /// Updates the metrics that need a scan of all objects. If a dispatcher does not answer, the metrics of
    /// its kind are omitted.
    pub async fn measure(&self) {
        let kinds = self.kinds();
        let measured = kinds.iter().map(async |kind| {
            let measures = kind.measures().await.ok();
            kind.metrics.set_measures(measures.as_deref());
        });
        join_all(measured).await;
    }

    fn kinds(&self) -> Vec<Arc<Kind>> {
        self.0.kinds.locked().clone()
    }
}

impl Inspected {
    /// Makes a kind visible, if there is an inspection.
    pub fn new(
        inspection: Option<&Inspection>,
        metrics: &Arc<KindMetrics>,
        group: Cow<'static, str>,
        kind: Cow<'static, str>,
        graph: &'static Graph<'static>,
    ) -> Self {
        let (asks, requests) = mpsc::channel(REQUESTS);
        let Some(Inspection(sources)) = inspection else {
            return Self {
                history: None,
                requests,
            };
        };
        let history = Arc::new(History::new(graph));
        let kind = Arc::new(Kind {
            metrics: Arc::clone(metrics),
            group,
            kind,
            graph,
            history: Arc::clone(&history),
            requests: asks,
        });
        sources.kinds.locked().push(kind);
        Self {
            history: Some(history),
            requests,
        }
    }
}

impl Kind {
    fn state(&self, name: &str) -> Result<StateId, Problem> {
        let mut states = self.graph.states.iter().zip(0..);
        let found = states.find(|(policy, _)| policy.name == name);
        found
            .map(|(_, number)| StateId(number))
            .ok_or_else(|| missing("state"))
    }

    /// The object with this name. The objects are searched here, to keep the load of the dispatcher low.
    async fn named(&self, namespace: &str, name: &str) -> Result<Option<FoundObject>, Problem> {
        let mut all = self.ask(Wanted::All).await?.into_iter();
        Ok(all.find(|found| found.look().is_some_and(|shown| shown.is(namespace, name))))
    }

    /// The objects that the dispatcher finds.
    async fn ask(&self, wanted: Wanted) -> Result<Vec<FoundObject>, Problem> {
        self.answered(|answer| ViewRequest::objects(wanted, answer)).await
    }

    /// The measures of each state, by its number, from a scan of all objects.
    async fn measures(&self) -> Result<Vec<Measures>, Problem> {
        self.answered(|answer| ViewRequest::measures(self.graph.states.len(), answer))
            .await
    }

    /// The response of the dispatcher to a request.
    async fn answered<A>(&self, ask: impl FnOnce(oneshot::Sender<A>) -> ViewRequest) -> Result<A, Problem> {
        let (answer, answered) = oneshot::channel();
        let request = ask(answer);
        let asked = async {
            self.requests.send(request).await.ok()?;
            answered.await.ok()
        };
        match timeout(LONGEST_ANSWER, asked).await {
            Ok(Some(answer)) => Ok(answer),
            Ok(None) => Err((
                StatusCode::SERVICE_UNAVAILABLE,
                "the operator is shutting down".to_owned(),
            )),
            Err(_) => Err((
                StatusCode::SERVICE_UNAVAILABLE,
                "the operator is too busy to list its objects".to_owned(),
            )),
        }
    }
}

fn missing(what: &str) -> Problem {
    (StatusCode::NOT_FOUND, format!("there is no such {what}"))
}

/// The shown part of an object, whatever its type: nothing of its spec.
#[derive(Deserialize)]
pub(in crate::cluster) struct Shown {
    metadata: ShownMetadata,
    status: Option<MachineStatus>,
}

#[derive(Default, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "camelCase", default)]
struct ShownMetadata {
    namespace: String,
    name: String,
    #[serde(rename = "deletionTimestamp", deserialize_with = "is_there")]
    deleting: bool,
}

/// Whether a field has a value, whatever it is.
fn is_there<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Option::<IgnoredAny>::deserialize(deserializer).map(|value| value.is_some())
}

impl Shown {
    pub fn of<K: Object>(object: &K) -> Self {
        Self {
            metadata: ShownMetadata {
                namespace: object.namespace().to_owned(),
                name: object.name().to_owned(),
                deleting: object.deleting(),
            },
            status: object.status().map(|status| status.machine().clone()),
        }
    }

    fn is(&self, namespace: &str, name: &str) -> bool {
        self.metadata.namespace == namespace && self.metadata.name == name
    }
}

#[cfg(test)]
mod tests;
