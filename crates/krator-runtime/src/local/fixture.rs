//! Unit tests of single handlers.
use super::InMemoryApi;
use crate::{
    applied::Applied,
    error::Result,
    lock::Lock as _,
    machine::{
        Context, Event, Machine, Manifest, ManifestOf, Node, Object as _, OwnCondition, Run, SharedOf, State,
        StatusOf, Transition,
    },
    status::Condition,
};
use jiff::Timestamp;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{sync::watch, time::Instant};

/// Calls one handler at a time, for unit tests: without a machine, a clock or a cluster.
///
/// ```
#[doc = include_str!("../doc/website.txt")]
#[doc = include_str!("../doc/publish.txt")]
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let website = || Fixture::<WebsiteMachine>::new(Website::default(), WebsiteMemory::default(), Arc::default());
///
/// let mut first = website();
/// assert_eq!(first.next(Publish).await.unwrap(), Transition::stay());
///
/// let mut later = website().later(Duration::from_secs(5));
/// assert_eq!(later.next(Publish).await.unwrap(), Transition::to(Live));
/// assert_eq!(later.object.updates, 1);
/// # });
/// ```
pub struct Fixture<M: Machine> {
    /// The memory of the object.
    pub object: M::ObjectState,
    /// The state that all objects of the kind share.
    pub shared: Arc<SharedOf<M>>,
    /// The status after the last run of the handler.
    pub status: StatusOf<M>,
    /// The message that the handler set last.
    pub message: Option<String>,
    manifest: watch::Sender<Arc<ManifestOf<M>>>,
    conditions: Vec<Condition>,
    events: Mutex<Vec<Event>>,
    began: (Timestamp, Instant),
    run: Run,
    applied: Arc<Applied>,
    pub(super) others: Arc<InMemoryApi>,
}

impl<M: Machine> Fixture<M> {
    /// The first run of a handler for this object.
    pub fn new(manifest: ManifestOf<M>, object: M::ObjectState, shared: Arc<SharedOf<M>>) -> Self {
        let status = manifest.status().cloned().unwrap_or_default();
        let (name, namespace) = (manifest.name().to_owned(), manifest.namespace().to_owned());
        Self {
            object,
            shared,
            status,
            message: None,
            manifest: watch::channel(Arc::new(manifest)).0,
            conditions: Vec::new(),
            events: Mutex::default(),
            began: (Timestamp::now(), Instant::now()),
            run: Run {
                first: true,
                attempt: 1,
                in_state_for: Duration::ZERO,
                entry: "0000000000000000".to_owned(),
                deleting: false,
                name,
                namespace,
            },
            applied: Arc::default(),
            others: Arc::default(),
        }
    }
    /// Makes the run an attempt with this number: `2` is the attempt after the first failure.
    #[must_use]
    pub fn attempt(mut self, attempt: u32) -> Self {
        self.run.attempt = attempt;
        self
    }
    /// Makes the run a later one: the handler stayed before, and the object has been in the state for this long.
    #[must_use]
    pub fn later(mut self, after: Duration) -> Self {
        (self.run.first, self.run.in_state_for) = (false, after);
        self
    }
    /// Makes the run one for an object that is being deleted.
    #[must_use]
    pub fn deleting(mut self) -> Self {
        self.run.deleting = true;
        self
    }
    /// Replaces the object. A handler that is running observes the change.
    pub fn update(&self, manifest: ManifestOf<M>) {
        self.manifest.send_replace(Arc::new(manifest));
    }
    /// The events that were recorded.
    pub fn events(&self) -> Vec<Event> {
        self.events.locked().clone()
    }

    /// A condition with the values that the handler set last; `None` if it was not set.
    ///
    /// ```
    #[doc = include_str!("../doc/website.txt")]
    /// impl State for Publish {
    ///     async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
    ///         cx.set(WebsiteCondition::Reachable, false, "NotYet", "It is being published.");
    ///         Ok(Transition::stay())
    ///     }
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let mut website = Fixture::<WebsiteMachine>::new(Website::default(), WebsiteMemory::default(), Arc::default());
    /// website.next(Publish).await.unwrap();
    /// assert_eq!(website.condition(WebsiteCondition::Reachable).unwrap().reason, "NotYet");
    /// # });
    /// ```
    pub fn condition(&self, condition: impl OwnCondition<Machine = M>) -> Option<Condition> {
        let name = condition.name();
        self.conditions().into_iter().find(|set| set.kind == name)
    }
    /// The conditions that the handler has set, with the values that were set last, sorted by their types. The time and
    /// the generation, which the runtime adds, are empty.
    pub fn conditions(&self) -> Vec<Condition> {
        let set = self.conditions.iter().map(|set| (&*set.kind, set.clone()));
        set.collect::<BTreeMap<_, _>>().into_values().collect()
    }

    /// The objects of other kinds, for webhooks.
    #[cfg(feature = "kube")]
    pub(crate) fn others(&self) -> &Arc<InMemoryApi> {
        &self.others
    }

    /// Runs the handler of `state` once.
    ///
    /// # Errors
    ///
    /// The error of the handler.
    pub async fn next<S: State + Node<Machine = M>>(&mut self, state: S) -> Result<Transition<S>> {
        self.applied.begin_run();
        let manifest = Manifest(self.manifest.subscribe());
        let events = |event| {
            self.events.locked().push(event);
        };
        let (began, origin) = self.began;
        let clock = || began + origin.elapsed();
        let mut cx = Context {
            object: &mut self.object,
            shared: &self.shared,
            graph: M::GRAPH,
            status: &mut self.status,
            manifest: &manifest,
            message: &mut self.message,
            conditions: &mut self.conditions,
            events: &events,
            clock: &clock,
            run: &self.run,
            saves: None,
            backend: &self.others,
            applied: &self.applied,
            found: &[],
        };
        state.next(&mut cx).await
    }
}
