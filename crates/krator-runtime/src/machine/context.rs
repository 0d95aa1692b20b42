//! What a handler is given: the object, its memory, and ways to write its status, to record events, and to reach
//! objects of other kinds.
use super::{Machine, ManifestOf, SharedOf, StatusOf};
use crate::{
    applied::Applied,
    conditions::SetCondition,
    error::{Error, Fallible as _, Result},
    graph::Graph,
    status::truncated,
};
use std::{
    any::Any,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::sync::{Notify, oneshot, watch};

/// One object, as its handlers see it.
///
/// The type is the same for all states of a machine, so helper functions can take it. The prelude of a generated
/// crate has an alias for each kind, which leaves out the machine: `Context<'_>`.
///
/// ```
#[doc = include_str!("../doc/moose.txt")]
/// impl State for Eat {
///     async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
///         let moose = cx.manifest();
///         cx.message(format!("{} kg to go", 600 - moose.spec.weight.min(600)));
///         if cx.status().tag.is_none() {
///             cx.status_mut().tag = Some(tag_for(cx.entry()));
///             // The tag has to be stored before the next line, even if the process dies there.
///             cx.save().await?;
///         }
///         cx.event("Fed", "The moose has eaten.");
///         cx.condition("Tagged", true, "TagStored", "")?;
///         Ok(Transition::to(Sleep))
///     }
/// }
///
/// fn tag_for(entry: &str) -> String {
///     format!("tag-{entry}")
/// }
/// ```
pub struct Context<'a, M: Machine> {
    /// What this object keeps in memory. A restarted operator begins with a new value.
    pub object: &'a mut M::ObjectState,
    /// What all objects of the kind share in memory.
    pub shared: &'a Arc<SharedOf<M>>,
    pub(crate) graph: &'a Graph<'a>,
    pub(crate) status: &'a mut StatusOf<M>,
    pub(crate) manifest: &'a Manifest<ManifestOf<M>>,
    pub(crate) message: &'a mut Option<String>,
    pub(crate) conditions: &'a mut Vec<SetCondition>,
    pub(crate) events: &'a (dyn Fn(Event) + Send + Sync),
    pub(crate) run: &'a Run,
    /// `None` in a test of one handler.
    pub(crate) saves: Option<&'a Saves<StatusOf<M>>>,
    /// How the handler reaches objects of other kinds.
    #[cfg_attr(
        not(feature = "kube"),
        expect(dead_code, reason = "there are no other kinds without a cluster")
    )]
    pub(crate) backend: Backend<'a>,
}

/// Where objects of other kinds are: the connection to a cluster, or what stands in for it in a test. Only the room
/// that made it knows its type; the core passes it on from a [`World`](crate::world::World) to the handlers.
#[derive(Clone, Copy)]
#[cfg_attr(
    not(feature = "kube"),
    expect(dead_code, reason = "there are no other kinds without a cluster")
)]
pub(crate) struct Backend<'a> {
    /// The connection, or its stand-in.
    pub of: &'a (dyn Any + Send + Sync),
    /// What the handlers of the object have applied.
    pub applied: &'a Arc<Applied>,
}

/// What is known about a run when it begins.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub first: bool,
    pub attempt: u32,
    pub in_state_for: Duration,
    pub entry: String,
    pub deleting: bool,
}

/// A status that a running handler asks the runtime to write. There is at most one, because the handler waits for the
/// answer.
pub(crate) struct Saves<T> {
    requested: Mutex<Option<Save<T>>>,
    arrived: Notify,
}

type Save<T> = (T, oneshot::Sender<Result<()>>);

impl<T> Default for Saves<T> {
    fn default() -> Self {
        Self {
            requested: Mutex::default(),
            arrived: Notify::new(),
        }
    }
}

impl<T> Saves<T> {
    fn locked(&self) -> MutexGuard<'_, Option<Save<T>>> {
        self.requested.lock().unwrap_or_else(PoisonError::into_inner)
    }
    async fn request(&self, draft: T) -> Result<()> {
        let (answer, answered) = oneshot::channel();
        *self.locked() = Some((draft, answer));
        self.arrived.notify_one();
        answered.await.context("the status was not saved")?
    }
    /// Waits for the next request.
    pub async fn next(&self) -> Save<T> {
        loop {
            if let Some(requested) = self.locked().take() {
                return requested;
            }
            self.arrived.notified().await;
        }
    }
}

/// A Kubernetes event about the object.
#[derive(Clone, Debug, PartialEq, Eq)]
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
}

impl<M: Machine> Context<'_, M> {
    /// The latest version of the object that was observed. It is never older than the operator's own last write.
    ///
    /// ```
    #[doc = include_str!("../doc/moose.txt")]
    #[doc = include_str!("../doc/eat.txt")]
    /// fn is_heavy(cx: &Context<'_>) -> bool {
    ///     cx.manifest().spec.weight > 500
    /// }
    /// ```
    pub fn manifest(&self) -> Arc<ManifestOf<M>> {
        self.manifest.latest()
    }
    /// The object together with its future versions: a handler that runs for a long time can wait for changes.
    ///
    /// ```
    #[doc = include_str!("../doc/moose.txt")]
    #[doc = include_str!("../doc/eat.txt")]
    /// /// Waits until somebody assigns the moose to a herd.
    /// async fn herd(cx: &Context<'_>) -> Result<String> {
    ///     let mut changes = cx.changes();
    ///     let mut moose = changes.latest();
    ///     loop {
    ///         if let Some(herd) = &moose.spec.herd {
    ///             return Ok(herd.clone());
    ///         }
    ///         moose = changes.changed().await.context("the run is over")?;
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
    /// The fields of `.status` that the description declares, to be changed. The changes are written when the run
    /// ends, whether it succeeds, fails or is dropped. If the API server rejects them, the run counts as failed.
    ///
    /// ```
    #[doc = include_str!("../doc/moose.txt")]
    #[doc = include_str!("../doc/eat.txt")]
    /// fn tag(cx: &mut Context<'_>) {
    ///     cx.status_mut().tag = Some("blue".to_owned());
    /// }
    /// ```
    pub fn status_mut(&mut self) -> &mut StatusOf<M> {
        self.status
    }
    /// Writes the status now and waits until it is stored. Use it for what must be known even if the process dies
    /// before the run ends, for example the name of something that is about to be created.
    ///
    /// # Errors
    ///
    /// If the status could not be written. It is written again when the run ends.
    ///
    /// ```
    #[doc = include_str!("../doc/moose.txt")]
    #[doc = include_str!("../doc/eat.txt")]
    /// async fn tag(cx: &mut Context<'_>) -> Result<()> {
    ///     cx.status_mut().tag = Some("blue".to_owned());
    ///     cx.save().await
    /// }
    /// ```
    pub async fn save(&mut self) -> Result<()> {
        match self.saves {
            Some(saves) => saves.request(self.status.clone()).await,
            None => Ok(()),
        }
    }
    /// Sets `.status.message` for the rest of the stay in this state. It takes effect when the run ends.
    ///
    /// ```
    #[doc = include_str!("../doc/moose.txt")]
    #[doc = include_str!("../doc/eat.txt")]
    /// fn explain(cx: &mut Context<'_>) {
    ///     cx.message("waiting for spring");
    /// }
    /// ```
    pub fn message(&mut self, message: impl Into<String>) {
        *self.message = Some(message.into());
    }
    /// Sets a condition of `.status.conditions`: one that the description declares under `conditions`, or that one of
    /// its states sets. It keeps this status until something sets it again. `true`, `false` and `None` stand for
    /// `True`, `False` and `Unknown`; `reason` is a word for programs, `message` a sentence for people. It is written
    /// when the run ends.
    ///
    /// # Errors
    ///
    /// If the description does not declare the condition. The error is permanent.
    ///
    /// ```
    #[doc = include_str!("../doc/moose.txt")]
    #[doc = include_str!("../doc/eat.txt")]
    /// fn report(cx: &mut Context<'_>) -> Result<()> {
    ///     let tagged = cx.status().tag.is_some();
    ///     cx.condition("Tagged", tagged, "Checked", "The moose was looked at.")
    /// }
    /// ```
    pub fn condition(
        &mut self,
        kind: &str,
        status: impl Into<Option<bool>>,
        reason: impl Into<String>,
        message: impl Into<String>,
    ) -> Result<()> {
        if !self.graph.own_conditions().contains(&kind) {
            return Err(Error::permanent(format!(
                "krator.yaml does not declare the condition `{kind}`"
            )));
        }
        let status = match status.into() {
            Some(true) => "True",
            Some(false) => "False",
            None => "Unknown",
        };
        let (reason, message) = (reason.into(), truncated(&message.into()));
        self.conditions.push(SetCondition {
            kind: kind.to_owned(),
            status: status.to_owned(),
            reason,
            message,
        });
        Ok(())
    }
    /// Records a Kubernetes event about the object, which `kubectl describe` shows. `reason` is a word for programs,
    /// `note` a sentence for people. Events are best effort: one that cannot be published is dropped.
    ///
    /// ```
    #[doc = include_str!("../doc/moose.txt")]
    #[doc = include_str!("../doc/eat.txt")]
    /// fn celebrate(cx: &Context<'_>) {
    ///     cx.event("Fed", "The moose has eaten.");
    /// }
    /// ```
    pub fn event(&self, reason: impl Into<String>, note: impl Into<String>) {
        (self.events)(Event {
            reason: reason.into(),
            note: note.into(),
            warning: false,
        });
    }
    /// Whether no run of this handler has succeeded since the object entered the state, or since the operator
    /// started.
    pub fn first_run(&self) -> bool {
        self.run.first
    }
    /// The number of this attempt: 1 unless the previous run failed, and one more for each consecutive failure.
    ///
    /// ```
    #[doc = include_str!("../doc/moose.txt")]
    #[doc = include_str!("../doc/eat.txt")]
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
    #[doc = include_str!("../doc/moose.txt")]
    #[doc = include_str!("../doc/eat.txt")]
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
