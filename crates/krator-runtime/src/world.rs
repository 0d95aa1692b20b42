//! What drives an object: the seam between the machine and the cluster, or a test.
use crate::{
    Error, Event, Machine, ManifestOf, Object, Result, SharedOf, StatusOf, Watch, applied::ChildKey,
    engine::Now,
};
use std::{
    future::Future,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::{sync::Notify, time::Instant};

/// Where objects live. One implementation talks to an API server, one keeps an object in memory.
pub(crate) trait World<M: Machine>: Send + Sync {
    /// The present.
    fn now(&self) -> Now;
    /// When `Now::elapsed` was zero.
    fn origin(&self) -> Instant;
    fn shared(&self) -> &Arc<SharedOf<M>>;
    fn initialize(&self, manifest: &ManifestOf<M>) -> impl Future<Output = Result<M::ObjectState>> + Send;
    /// Writes all of the status over this version of the object, and answers with what is stored then.
    fn write_status(&self, manifest: &ManifestOf<M>, status: &StatusOf<M>) -> impl Written<M>;
    /// Sets or takes the finalizer of the machine, on this version of the object.
    fn set_finalizer(&self, manifest: &ManifestOf<M>, present: bool) -> impl Written<M>;
    /// Deletes this object, not another of its name.
    fn delete(&self, manifest: &ManifestOf<M>) -> impl Future<Output = Result<(), WriteError>> + Send;
    /// The object as stored now; `None` when it is gone.
    fn read(
        &self,
        manifest: &ManifestOf<M>,
    ) -> impl Future<Output = Result<Option<Arc<ManifestOf<M>>>>> + Send;
    /// Tells people; best effort.
    fn publish(&self, manifest: &ManifestOf<M>, event: Event);
    #[cfg(feature = "kube")]
    fn around(&self) -> crate::cluster::Around<'_, M>;
}

/// A write to come: what is stored after it.
pub(crate) trait Written<M: Machine>:
    Future<Output = Result<Arc<ManifestOf<M>>, WriteError>> + Send
{
}
impl<M: Machine, F: Future<Output = Result<Arc<ManifestOf<M>>, WriteError>> + Send> Written<M> for F {}

/// Why a write did not happen.
#[derive(Debug)]
#[cfg_attr(
    not(feature = "kube"),
    allow(dead_code, reason = "a world in memory refuses nothing")
)]
pub(crate) enum WriteError {
    /// The object is another version by now.
    Conflict,
    /// The object is no more.
    Gone,
    /// The API server refuses what is written.
    Invalid(Error),
    Other(Error),
}

/// A change of another object, that states may wait for.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    /// The names that `wait.watch` may call it by.
    pub names: Vec<Watch>,
    /// The child that changed, and its version now.
    pub child: Option<(ChildKey, u64)>,
}

/// A version of the object, decoded by whom it is new to: most are the echo of a write of our own.
pub(crate) struct Sighting<T> {
    pub version: u64,
    decode: Box<dyn FnOnce() -> Option<Arc<T>> + Send>,
}

impl<T> Sighting<T> {
    pub fn new(version: u64, decode: impl FnOnce() -> Option<Arc<T>> + Send + 'static) -> Self {
        Self {
            version,
            decode: Box::new(decode),
        }
    }
    /// `None`: it is not what its type says, and that has been reported.
    pub fn decode(self) -> Option<Arc<T>> {
        (self.decode)()
    }
}

impl<T: Object> From<Arc<T>> for Sighting<T> {
    fn from(object: Arc<T>) -> Self {
        Self::new(object.version(), move || Some(object))
    }
}

/// What an object's run hears while it goes on. Only the latest version of the object is kept.
pub(crate) struct Mailbox<T> {
    mail: Mutex<Mail<T>>,
    arrived: Notify,
}

pub(crate) struct Mail<T> {
    pub object: Option<Sighting<T>>,
    pub changes: Vec<Change>,
    pub gone: bool,
    /// The process is about to end: no new run.
    pub stop: bool,
}

impl<T> Default for Mail<T> {
    fn default() -> Self {
        Self {
            object: None,
            changes: Vec::new(),
            gone: false,
            stop: false,
        }
    }
}

impl<T> Default for Mailbox<T> {
    fn default() -> Self {
        Self {
            mail: Mutex::default(),
            arrived: Notify::new(),
        }
    }
}

impl<T> Mailbox<T> {
    /// Leaves mail, and wakes who waits for it.
    pub fn post(&self, write: impl FnOnce(&mut Mail<T>)) {
        write(&mut self.mail.lock().unwrap_or_else(PoisonError::into_inner));
        self.arrived.notify_one();
    }
    /// Takes what arrived; `stop` stays.
    pub fn take(&self) -> Mail<T> {
        let mut mail = self.mail.lock().unwrap_or_else(PoisonError::into_inner);
        let stop = mail.stop;
        std::mem::replace(
            &mut *mail,
            Mail {
                stop,
                ..Mail::default()
            },
        )
    }
    /// Ends when there is mail.
    pub async fn arrived(&self) {
        self.arrived.notified().await;
    }
}

/// The delay before a failed request is tried again: from 200 ms, doubling, to 30 s.
pub(crate) fn request_backoff(failures: u32, random: u64) -> Duration {
    let retry = crate::Retry::DEFAULT.backoff(Duration::from_millis(200), 2.0, Duration::from_secs(30));
    retry.delay(failures, random)
}
