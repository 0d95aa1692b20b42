//! What a handler has at hand.
use crate::{
    Error, Fallible as _, Machine, ManifestOf, Result, SharedOf, StatusOf, conditions::SetCondition,
    status::truncated,
};
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::sync::{Notify, oneshot, watch};

/// One object, as its handler sees it. The same type for all states of a machine, so that helpers can take it.
pub struct Context<'a, M: Machine> {
    /// What this object carries in memory.
    pub object: &'a mut M::ObjectState,
    /// What all objects share.
    pub shared: &'a Arc<SharedOf<M>>,
    pub(crate) status: &'a mut StatusOf<M>,
    pub(crate) manifest: &'a Manifest<ManifestOf<M>>,
    pub(crate) message: &'a mut Option<String>,
    pub(crate) conditions: &'a mut Vec<SetCondition>,
    pub(crate) events: &'a (dyn Fn(Event) + Send + Sync),
    pub(crate) run: &'a Run,
    /// `None` in a test of one handler.
    pub(crate) saves: Option<&'a Saves<StatusOf<M>>>,
    #[cfg(feature = "kube")]
    pub(crate) applied: &'a Arc<crate::applied::Applied>,
    #[cfg(feature = "kube")]
    pub(crate) around: crate::cluster::Around<'a, M>,
}

/// What is known of a run when it begins.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub first: bool,
    pub attempt: u32,
    pub in_state_for: Duration,
    pub entry: String,
    pub deleting: bool,
}

/// What a running handler asks its actor to write: one at a time, for it waits for the answer.
pub(crate) struct Saves<T> {
    asked: Mutex<Option<Save<T>>>,
    arrived: Notify,
}

type Save<T> = (T, oneshot::Sender<Result<()>>);

impl<T> Default for Saves<T> {
    fn default() -> Self {
        Self {
            asked: Mutex::default(),
            arrived: Notify::new(),
        }
    }
}

impl<T> Saves<T> {
    fn locked(&self) -> MutexGuard<'_, Option<Save<T>>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
    async fn ask(&self, draft: T) -> Result<()> {
        let (answer, answered) = oneshot::channel();
        *self.locked() = Some((draft, answer));
        self.arrived.notify_one();
        answered.await.context("the status was not saved")?
    }
    /// The next thing to be written.
    pub async fn next(&self) -> Save<T> {
        loop {
            if let Some(asked) = self.locked().take() {
                return asked;
            }
            self.arrived.notified().await;
        }
    }
}

/// Something to tell people, as an event on the object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// A word for programs.
    pub reason: String,
    /// A sentence for people.
    pub note: String,
    /// Whether it is a warning.
    pub warning: bool,
}

impl Event {
    /// Something of the runtime's that asks for somebody's attention.
    pub(crate) fn warning(reason: &str, note: impl Into<String>) -> Self {
        Self {
            reason: reason.to_owned(),
            note: note.into(),
            warning: true,
        }
    }
}

impl<M: Machine> Context<'_, M> {
    /// The object as last seen, never older than the operator's own last write.
    pub fn manifest(&self) -> Arc<ManifestOf<M>> {
        self.manifest.latest()
    }
    /// The object and its changes, to keep or to await.
    pub fn changes(&self) -> Manifest<ManifestOf<M>> {
        self.manifest.clone()
    }
    /// Your fields of `.status`.
    pub fn status(&self) -> &StatusOf<M> {
        self.status
    }
    /// Your fields of `.status`; written however the run ends.
    pub fn status_mut(&mut self) -> &mut StatusOf<M> {
        self.status
    }
    /// Writes your fields of `.status` now, and ends when they are stored: what is to be known even if the process
    /// dies in this run. An error says that they are not; they are written again when the run ends.
    pub async fn save(&mut self) -> Result<()> {
        match self.saves {
            Some(saves) => saves.ask(self.status.clone()).await,
            None => Ok(()),
        }
    }
    /// `.status.message`, instead of the state's, for as long as the object stays here.
    pub fn message(&mut self, message: impl Into<String>) {
        *self.message = Some(message.into());
    }
    /// A condition that the description declares under `conditions`, or that a state sets. It stays until it is
    /// set again. `None` is Unknown. An error says that the description does not declare it.
    pub fn condition(
        &mut self,
        kind: &str,
        status: impl Into<Option<bool>>,
        reason: impl Into<String>,
        message: impl Into<String>,
    ) -> Result<()> {
        let declared = M::GRAPH
            .own_conditions()
            .into_iter()
            .find(|declared| *declared == kind);
        let Some(kind) = declared else {
            return Err(Error::permanent(format!(
                "krator.yaml does not declare the condition `{kind}`"
            )));
        };
        let status = match status.into() {
            Some(true) => "True",
            Some(false) => "False",
            None => "Unknown",
        };
        let (reason, message) = (reason.into(), truncated(&message.into()));
        self.conditions.push(SetCondition {
            kind,
            status,
            reason,
            message,
        });
        Ok(())
    }
    /// An event on the object; best effort.
    pub fn event(&self, reason: impl Into<String>, note: impl Into<String>) {
        (self.events)(Event {
            reason: reason.into(),
            note: note.into(),
            warning: false,
        });
    }
    /// No run of this handler has ended without an error since the object came into this state, or since a
    /// restart.
    pub fn first_run(&self) -> bool {
        self.run.first
    }
    /// 1, and one more after each error in a row.
    pub fn attempt(&self) -> u32 {
        self.run.attempt
    }
    /// How long the object had been in this state when the run began, restarts included.
    pub fn in_state_for(&self) -> Duration {
        self.run.in_state_for
    }
    /// Random and the same for this stay in the state: the idempotency key for the outside world.
    pub fn entry(&self) -> &str {
        &self.run.entry
    }
    /// Whether the object is being deleted.
    pub fn deleting(&self) -> bool {
        self.run.deleting
    }
}

/// An object that changes: the latest is always at hand, and changes can be awaited.
#[derive(Debug)]
pub struct Manifest<T>(pub(crate) watch::Receiver<Arc<T>>);

impl<T> Clone for Manifest<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Manifest<T> {
    /// The object as last seen.
    pub fn latest(&self) -> Arc<T> {
        Arc::clone(&self.0.borrow())
    }
    /// The next version; `None` when nobody looks any more, because the run is over.
    pub async fn changed(&mut self) -> Option<Arc<T>> {
        self.0.changed().await.ok()?;
        Some(Arc::clone(&self.0.borrow_and_update()))
    }
}
