//! The context of a handler: the object, its memory, and ways to write its status, to record events, and to reach
//! objects of other kinds.
use super::{Machine, ManifestOf, SharedOf, StatusOf};
use crate::{
    applied::Applied,
    error::{Fallible as _, Result},
    graph::Graph,
    status::Condition,
};
#[cfg(feature = "kube")]
use crate::{
    engine::{Cause, Moved},
    graph::StateKind,
};
use futures::channel::mpsc::UnboundedSender;
use jiff::Timestamp;
use std::{any::Any, sync::Arc, time::Duration};
use tokio::sync::{oneshot, watch};

/// One object, with everything that its handlers may use.
///
/// The type is the same for all states of a machine, so that helper functions can take it. The prelude of a generated
/// crate has an alias for each kind, without the machine: `Context<'_>`.
///
/// ```
#[doc = include_str!("../doc/website.txt")]
/// impl State for Publish {
///     async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
///         let website = cx.manifest();
///         cx.message(format!("{} replicas", website.spec.replicas));
///         if cx.status().url.is_none() {
///             cx.status_mut().url = Some(url_for(cx.entry()));
///             // The tag has to be stored before the next line, even if the process dies there.
///             cx.save().await?;
///         }
///         cx.event("Published", "The website is online.");
///         cx.set(WebsiteCondition::Reachable, true, "UrlStored", "");
///         Ok(Transition::to(Live))
///     }
/// }
///
/// fn url_for(entry: &str) -> String {
///     format!("tag-{entry}")
/// }
/// ```
#[cfg_attr(
    not(feature = "kube"),
    expect(dead_code, reason = "there are no other kinds without a cluster")
)]
pub struct Context<'a, M: Machine> {
    /// The memory of this object. A restarted operator begins with a new value.
    pub object: &'a mut M::ObjectState,
    /// The state in memory that all objects of the kind share.
    pub shared: &'a Arc<SharedOf<M>>,
    pub(crate) graph: &'a Graph<'a>,
    pub(crate) status: &'a mut StatusOf<M>,
    pub(crate) manifest: &'a Manifest<ManifestOf<M>>,
    pub(crate) message: &'a mut Option<String>,
    pub(crate) conditions: &'a mut Vec<Condition>,
    pub(crate) events: &'a (dyn Fn(Event) + Send + Sync),
    pub(crate) clock: &'a (dyn Fn() -> Timestamp + Send + Sync),
    pub(crate) run: &'a Run,
    /// `None` in a test of one handler.
    pub(crate) saves: Option<UnboundedSender<Save<StatusOf<M>>>>,
    /// The access to objects of other kinds: a connection to a cluster, or its replacement in a test. Only the module
    /// that creates it depends on its type; the core passes it from a [`World`](crate::world::World) to the handlers.
    pub(crate) backend: &'a (dyn Any + Send + Sync),
    /// The children that the handlers of the object have applied.
    pub(crate) applied: &'a Arc<Applied>,
    /// The objects of other kinds that were found before the run.
    pub(crate) found: &'a [RelatedObject],
}

/// An object of another kind that is related to an object of the operator: the number of the link, and the object.
pub(crate) type RelatedObject = (usize, Arc<dyn Any + Send + Sync>);

/// The facts about a run at its beginning.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub first: bool,
    pub attempt: u32,
    pub in_state_for: Duration,
    pub entry: String,
    pub deleting: bool,
    pub name: String,
    pub namespace: String,
}

/// A status that a running handler requests to be written, and the channel for the result.
pub(crate) type Save<T> = (T, oneshot::Sender<Result<()>>);

/// A Kubernetes event about the object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// A word for programs.
    pub reason: String,
    /// A sentence for people.
    pub note: String,
    /// Whether the event is a warning.
    pub warning: bool,
}

impl Event {
    /// A warning of the runtime.
    pub(crate) fn warning(reason: &str, note: impl Into<String>) -> Self {
        Self {
            reason: reason.to_owned(),
            note: note.into(),
            warning: true,
        }
    }
    /// The event of an entry into a state.
    #[cfg(feature = "kube")]
    pub(crate) fn of_entry(moved: &Moved<'_>) -> Self {
        let reason = match moved.cause {
            Cause::TimedOut | Cause::RetriesExhausted | Cause::LimitReached | Cause::SpecChanged => {
                moved.cause.name()
            }
            _ => moved.to.name.to_owned(),
        };
        let mut note = format!("entered {}", moved.to.name);
        if let Some(from) = moved.from {
            note += &format!(" from {}", from.name);
        }
        if !moved.message().is_empty() {
            note += &format!(": {}", moved.message());
        }
        Self {
            reason,
            note,
            warning: moved.to.kind == StateKind::Failed,
        }
    }
    /// The event of a child that is kept although its owner is deleted.
    #[cfg(feature = "kube")]
    pub(crate) fn released(child: &str) -> Self {
        Self {
            reason: "Released".to_owned(),
            note: format!("released {child}, which now has no owner"),
            warning: false,
        }
    }
}

impl<'a, M: Machine> Context<'a, M> {
    /// The latest version of the object that was observed. It is never older than the operator's own last write.
    ///
    /// ```
    #[doc = include_str!("../doc/website.txt")]
    #[doc = include_str!("../doc/publish.txt")]
    /// fn is_heavy(cx: &Context<'_>) -> bool {
    ///     cx.manifest().spec.replicas > 5
    /// }
    /// ```
    pub fn manifest(&self) -> Arc<ManifestOf<M>> {
        self.manifest.latest()
    }
    /// The object together with its future versions, so that a long-running handler can wait for changes.
    ///
    /// ```
    #[doc = include_str!("../doc/website.txt")]
    #[doc = include_str!("../doc/publish.txt")]
    /// /// Waits until a host is assigned to the website.
    /// async fn host(cx: &Context<'_>) -> Result<String> {
    ///     let mut changes = cx.changes();
    ///     let mut website = changes.latest();
    ///     loop {
    ///         if let Some(host) = &website.spec.host {
    ///             return Ok(host.clone());
    ///         }
    ///         website = changes.changed().await.context("the run is over")?;
    ///     }
    /// }
    /// ```
    pub fn changes(&self) -> Manifest<ManifestOf<M>> {
        self.manifest.clone()
    }
    /// The fields of `.status` that the description declares.
    pub fn status(&self) -> &StatusOf<M> {
        self.status
    }
    /// Mutable access to the fields of `.status` that the description declares. Changes are written when the run ends,
    /// whether it succeeds, fails or is dropped. If the API server rejects them, the run counts as failed.
    ///
    /// ```
    #[doc = include_str!("../doc/website.txt")]
    #[doc = include_str!("../doc/publish.txt")]
    /// fn tag(cx: &mut Context<'_>) {
    ///     cx.status_mut().url = Some("https://blog.example.com".to_owned());
    /// }
    /// ```
    pub fn status_mut(&mut self) -> &mut StatusOf<M> {
        self.status
    }
    /// Writes the status now and waits until it is stored. Use it for data that is needed even if the process dies
    /// before the run ends, for example the name of an object that is about to be created.
    ///
    /// # Errors
    ///
    /// If the status could not be written. It is written again when the run ends.
    ///
    /// ```
    #[doc = include_str!("../doc/website.txt")]
    #[doc = include_str!("../doc/publish.txt")]
    /// async fn tag(cx: &mut Context<'_>) -> Result<()> {
    ///     cx.status_mut().url = Some("https://blog.example.com".to_owned());
    ///     cx.save().await
    /// }
    /// ```
    pub async fn save(&mut self) -> Result<()> {
        let Some(saves) = &self.saves else {
            return Ok(());
        };
        let (answer, answered) = oneshot::channel();
        saves.unbounded_send((self.status.clone(), answer))?;
        answered.await.context("cannot save the status")?
    }
    /// Sets the message of the state that the object is in after this run: of this state if the handler stays or fails,
    /// otherwise of the state that it chooses, in place of the `message` of that state in `krator.yaml`. It is
    /// `.status.message` and the message of the standard conditions until the object enters another state, or until a
    /// later run sets another message. While a handler fails, the error is shown instead. If a timeout or a `limit`
    /// ends the stay, the message is kept beside that cause.
    ///
    /// To give the reason why the object enters another state, see [`Transition::because`](crate::Transition::because).
    ///
    /// ```
    #[doc = include_str!("../doc/website.txt")]
    #[doc = include_str!("../doc/publish.txt")]
    /// fn explain(cx: &mut Context<'_>) {
    ///     cx.message("waiting for spring");
    /// }
    /// ```
    pub fn message(&mut self, message: impl Into<String>) {
        *self.message = Some(message.into());
    }
    /// Records a Kubernetes event about the object, which `kubectl describe` shows. `reason` is a word for programs,
    /// `note` a sentence for people. Events are best effort: an event that cannot be published is dropped. An event
    /// that is equal to an earlier one of the same stay in the state is not recorded again, so a handler that polls may
    /// repeat its events.
    ///
    /// ```
    #[doc = include_str!("../doc/website.txt")]
    #[doc = include_str!("../doc/publish.txt")]
    /// fn celebrate(cx: &Context<'_>) {
    ///     cx.event("Published", "The website is online.");
    /// }
    /// ```
    pub fn event(&self, reason: impl Into<String>, note: impl Into<String>) {
        (self.events)(Event {
            reason: reason.into(),
            note: note.into(),
            warning: false,
        });
    }
    /// Like [`event`](Self::event), for problems that need attention: the type of the event is `Warning`.
    ///
    /// ```
    #[doc = include_str!("../doc/website.txt")]
    #[doc = include_str!("../doc/publish.txt")]
    /// fn complain(cx: &Context<'_>) {
    ///     cx.warn("TooLarge", format!("The website {} has more than 800 pages.", cx.name()));
    /// }
    /// ```
    pub fn warn(&self, reason: impl Into<String>, note: impl Into<String>) {
        (self.events)(Event::warning(&reason.into(), note));
    }
    /// `metadata.name` of the object. It does not borrow the context, which may be changed while the name is in use.
    ///
    /// ```
    #[doc = include_str!("../doc/website.txt")]
    #[doc = include_str!("../doc/publish.txt")]
    /// fn greet(cx: &mut Context<'_>) {
    ///     let name = cx.name();
    ///     cx.message(format!("{name} says hello"));
    /// }
    /// ```
    pub fn name(&self) -> &'a str {
        &self.run.name
    }
    /// `metadata.namespace` of the object; empty for a cluster-scoped one.
    ///
    /// ```
    #[doc = include_str!("../doc/website.txt")]
    #[doc = include_str!("../doc/publish.txt")]
    /// fn host(cx: &Context<'_>) -> String {
    ///     format!("{}.{}.svc", cx.name(), cx.namespace())
    /// }
    /// ```
    pub fn namespace(&self) -> &'a str {
        &self.run.namespace
    }
    /// The current time by the clock of the API server, accurate to about two seconds; in tests, by the stopped clock.
    /// Compare times in objects with this time, because the clocks of nodes differ.
    ///
    /// ```
    #[doc = include_str!("../doc/website.txt")]
    #[doc = include_str!("../doc/publish.txt")]
    /// /// The time of the last update, for the status.
    /// fn fed_now(cx: &mut Context<'_>) {
    ///     let now = cx.now();
    ///     cx.status_mut().url = Some(format!("updated at {now}"));
    /// }
    /// ```
    pub fn now(&self) -> Timestamp {
        (self.clock)()
    }
    /// Whether no run of this handler has succeeded since the object entered the state, or since the operator
    /// started.
    pub fn first_run(&self) -> bool {
        self.run.first
    }
    /// The number of this attempt: 1 unless the previous run failed, and one more for each consecutive failure.
    ///
    /// ```
    #[doc = include_str!("../doc/website.txt")]
    #[doc = include_str!("../doc/publish.txt")]
    /// fn is_hopeless(cx: &Context<'_>) -> bool {
    ///     cx.attempt() > 10 && cx.in_state_for() > Duration::from_secs(3600)
    /// }
    /// ```
    pub fn attempt(&self) -> u32 {
        self.run.attempt
    }
    /// How long the object had been in this state when the run began, including the time before a restart.
    pub fn in_state_for(&self) -> Duration {
        self.run.in_state_for
    }
    /// Identifies this stay in the state: 16 random hexadecimal digits, which stay the same across runs and restarts.
    /// Use it as the idempotency key of requests to other systems.
    ///
    /// ```
    #[doc = include_str!("../doc/website.txt")]
    #[doc = include_str!("../doc/publish.txt")]
    /// fn order(cx: &Context<'_>) -> String {
    ///     format!("POST /feed?key={}", cx.entry())
    /// }
    /// ```
    pub fn entry(&self) -> &str {
        &self.run.entry
    }
    /// Whether the object was being deleted when the run began.
    pub fn deleting(&self) -> bool {
        self.run.deleting
    }
}

/// An object and its future versions; see [`Context::changes`].
#[derive(Debug)]
pub struct Manifest<T>(pub(crate) watch::Receiver<Arc<T>>);

impl<T> Clone for Manifest<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Manifest<T> {
    /// The latest version of the object that was observed.
    pub fn latest(&self) -> Arc<T> {
        Arc::clone(&self.0.borrow())
    }
    /// Waits for the next version of the object. `None` means that the run is over and no more versions will arrive.
    pub async fn changed(&mut self) -> Option<Arc<T>> {
        self.0.changed().await.ok()?;
        Some(Arc::clone(&self.0.borrow_and_update()))
    }
}
