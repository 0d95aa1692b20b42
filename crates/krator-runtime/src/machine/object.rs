//! The objects of a machine: the properties that it uses, and the memory of each object.
use crate::status::ObjectStatus;
use std::future::Future;

/// The memory of one object from one run of a handler to the next.
///
/// A restarted operator begins with a new value, which [`Operator::initialize_object_state`] creates; data that has to
/// survive a restart belongs in `.status`. Keep it small: an operator holds one value for each object.
///
/// ```
#[doc = include_str!("../doc/website.txt")]
#[doc = include_str!("../doc/publish.txt")]
/// /// The number of updates since the operator started.
/// struct Appetite {
///     updates: u32,
/// }
///
/// impl ObjectState for Appetite {
///     type Manifest = Website;
///     type SharedState = Sites;
///
///     async fn async_drop(self, shared: &Sites) {
///         shared.released.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
///     }
/// }
/// ```
///
/// [`Operator::initialize_object_state`]: crate::Operator::initialize_object_state
pub trait ObjectState: Sized + Send + Sync + 'static {
    /// The type of the object.
    type Manifest: Object;
    /// The state that all objects of the kind share. Handlers run concurrently, so it needs its own synchronization.
    type SharedState: Send + Sync + 'static;

    /// Cleans up after an object that is gone from the API server. It is not called when the process ends.
    fn async_drop(self, shared: &Self::SharedState) -> impl Future<Output = ()> + Send {
        let _ = shared;
        async move { drop(self) }
    }
}

/// The object of a machine. With the feature `kube`, it is implemented for every custom resource that has a status.
pub trait Object: Clone + Send + Sync + 'static {
    /// The type of its status.
    type Status: ObjectStatus;

    /// `metadata.name`.
    fn name(&self) -> &str;
    /// `metadata.namespace`; empty for cluster-scoped objects.
    fn namespace(&self) -> &str;
    /// `metadata.uid`.
    fn uid(&self) -> &str;
    /// `metadata.generation`: the API server increments it with each change of the spec, and with the deletion.
    fn generation(&self) -> i64;
    /// `metadata.resourceVersion` as a number; 0 if there is none. Later versions are greater.
    fn version(&self) -> u64;
    /// Whether `metadata.deletionTimestamp` is set.
    fn deleting(&self) -> bool;
    /// Whether this finalizer is set.
    fn has_finalizer(&self, name: &str) -> bool;
    /// Whether both objects have the same labels and annotations.
    fn same_labels(&self, other: &Self) -> bool;
    /// The value of this annotation. `<group>/paused`, `<group>/requestedAt` and `<group>/approve` control single
    /// objects; the default implementation has no annotations.
    fn annotation(&self, name: &str) -> Option<&str> {
        let _ = name;
        None
    }
    /// The status, if there is one.
    fn status(&self) -> Option<&Self::Status>;
    /// The fields of its status that handlers set, as JSON, for tests that compare two objects; `None` if there is no
    /// such form.
    #[doc(hidden)]
    fn status_fields(&self) -> Option<String> {
        None
    }
    /// Changes the object as an API server would. Only machines in memory call it.
    fn edit(&mut self, edit: Edit<'_, Self::Status>);
}

/// A change of an object in memory.
#[derive(Debug)]
pub enum Edit<'a, S> {
    /// Sets `metadata.resourceVersion`.
    Version(u64),
    /// Sets `metadata.generation`.
    Generation(i64),
    /// Sets `metadata.deletionTimestamp`.
    Delete,
    /// Adds this finalizer (`true`) or removes it (`false`).
    Finalizer(&'a str, bool),
    /// Sets this annotation to a value.
    Annotation(&'a str, &'a str),
    /// Replaces the status.
    Status(S),
}
