//! Admission and conversion webhooks, which the API server calls before it stores an object.
mod patch;
mod request;
mod verdict;

pub use request::Operation;
pub(crate) use request::{AdmissionRequest, AdmissionReview};
pub use verdict::Verdict;

use crate::{
    error::Result,
    machine::{Machine, Object, ObjectState, SharedOf},
    versions::Functions,
};
use futures::future::BoxFuture;
use k8s_openapi::api::authentication::v1::UserInfo;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::{any::Any, future::Future};

/// A kind with webhooks. Generated.
pub trait Reviewed: Object + Serialize + DeserializeOwned {
    /// The machine that drives the objects of the kind.
    type Machine: Machine<ObjectState: ObjectState<Manifest = Self>>;
}

/// Says whether an object may be stored as it is. You write it, in `admission.rs`.
///
/// The API server calls it for each request that creates an object or changes its spec, before it answers. It does not for
/// changes of the status, of labels and of finalizers, nor for an object that is being deleted. A call that fails, takes too
/// long or panics is decided by the `failurePolicy` in krator.yaml.
#[diagnostic::on_unimplemented(
    message = "nothing validates `{Self}`",
    note = "`webhooks.validate` is in krator.yaml: implement `Validate` in admission.rs"
)]
pub trait Validate: Reviewed {
    /// Judges the object that a request would store.
    fn validate(review: &Review<'_, Self>) -> impl Future<Output = Verdict> + Send;
}

/// Changes an object before it is stored. You write it, in `admission.rs`.
///
/// The API server calls it as it calls [`Validate`], and before that. It may do so again for the object that this has
/// changed, so a second call has to leave that object as it is.
#[diagnostic::on_unimplemented(
    message = "nothing mutates `{Self}`",
    note = "`webhooks.mutate` is in krator.yaml: implement `Mutate` in admission.rs"
)]
pub trait Mutate: Reviewed {
    /// Changes `object`, which begins as [`Review::object`]. Only what it changes is sent to the API server, so fields
    /// that the type does not know survive.
    fn mutate(review: &Review<'_, Self>, object: &mut Self) -> impl Future<Output = Verdict> + Send;
}

/// A request that waits for a [`Verdict`].
pub struct Review<'a, K: Reviewed> {
    /// The object as it would be stored; for a deletion, the one that would be deleted. A request to `/scale` is shown as
    /// the change of the field that it stands for.
    pub object: K,
    /// The object as it is stored; `None` for one that is created or deleted, and where what is stored does not fit the type.
    pub old: Option<K>,
    /// The operation: create, update or delete.
    pub operation: Operation,
    /// The user who makes the request.
    pub user: &'a UserInfo,
    /// Whether nothing is stored, whatever the verdict.
    pub dry_run: bool,
    shared: &'a SharedOf<K::Machine>,
    backend: &'a Backend,
}

/// The connection of a review to other objects: a cluster, or the memory of a test.
pub(crate) type Backend = dyn Any + Send + Sync;

impl<K: Reviewed> Review<'_, K> {
    /// The state that all objects of the kind share, also with the handlers of states.
    pub fn shared(&self) -> &SharedOf<K::Machine> {
        self.shared
    }
    pub(crate) fn backend(&self) -> &Backend {
        self.backend
    }
}

/// The webhooks of a kind. Generated code constructs it.
///
/// ```ignore
/// impl Linked for WebsiteMachine {
///     fn webhooks() -> Webhooks<Self> {
///         Webhooks::none().validate::<Website>().mutate::<Website>()
///     }
/// }
/// ```
pub struct Webhooks<M: Machine> {
    pub(crate) validate: Option<Ask<M>>,
    pub(crate) mutate: Option<Ask<M>>,
    /// The path of the field that `/scale` changes.
    pub(crate) scale: &'static [&'static str],
    /// The versions of the kind, if objects have to be converted between them.
    pub(crate) versions: Option<Conversions>,
}

/// The conversions between the versions of a kind.
#[derive(Clone, Copy)]
pub(crate) struct Conversions {
    /// [`Versions`] as JSON.
    pub text: &'static str,
    /// The functions of the author.
    pub functions: &'static Functions<'static>,
}

/// Calls a handler for a request.
type Ask<M> = for<'a> fn(Asked<'a, M>) -> BoxFuture<'a, Result<AdmissionResponse>>;

/// A request with the new and the old object.
pub(crate) struct Asked<'a, M: Machine> {
    pub request: &'a AdmissionRequest,
    pub object: &'a Value,
    pub old: Option<&'a Value>,
    pub shared: &'a SharedOf<M>,
    pub backend: &'a Backend,
}

/// The answer of a handler.
#[derive(Default)]
pub(crate) struct AdmissionResponse {
    pub verdict: Verdict,
    /// The operations of a JSON patch; empty if nothing changes.
    pub patch: Vec<Value>,
    /// The object as a handler has changed it, in the form of its type.
    pub changed: Option<Value>,
}

impl<M: Machine> Webhooks<M> {
    /// No webhooks.
    #[must_use]
    pub fn none() -> Self {
        Self {
            validate: None,
            mutate: None,
            scale: &[],
            versions: None,
        }
    }
    /// Converts objects between these versions, a [`Versions`](crate::versions::Versions) as JSON, with the
    /// help of these functions.
    #[must_use]
    pub fn versions(mut self, text: &'static str, functions: &'static Functions<'static>) -> Self {
        self.versions = Some(Conversions { text, functions });
        self
    }
    /// Validates objects with [`Validate`].
    #[must_use]
    pub fn validate<K: Validate + Reviewed<Machine = M>>(mut self) -> Self
    where
        M: Machine<ObjectState: ObjectState<Manifest = K>>,
    {
        self.validate = Some(|asked| {
            Box::pin(async move {
                let verdict = K::validate(&asked.review::<K>()?).await;
                Ok(AdmissionResponse {
                    verdict,
                    ..AdmissionResponse::default()
                })
            })
        });
        self
    }
    /// Mutates objects with [`Mutate`].
    #[must_use]
    pub fn mutate<K: Mutate + Reviewed<Machine = M>>(mut self) -> Self
    where
        M: Machine<ObjectState: ObjectState<Manifest = K>>,
    {
        self.mutate = Some(|asked| {
            Box::pin(async move {
                // An invalid object is let through: the API server rejects it later, with a better message.
                let Ok(review) = asked.review::<K>() else {
                    return Ok(AdmissionResponse::default());
                };
                let mut changed = review.object.clone();
                let verdict = K::mutate(&review, &mut changed).await;
                let (before, after) = (
                    serde_json::to_value(&review.object)?,
                    serde_json::to_value(&changed)?,
                );
                let patch = patch::of(asked.object, &before, &after);
                Ok(AdmissionResponse {
                    verdict,
                    patch,
                    changed: Some(after),
                })
            })
        });
        self
    }
    /// Sets the path of the field that `/scale` changes.
    #[must_use]
    pub fn scale(mut self, field: &'static [&'static str]) -> Self {
        self.scale = field;
        self
    }
}

impl<'a, M: Machine> Asked<'a, M> {
    /// Decodes the request for the handler.
    ///
    /// # Errors
    ///
    /// If the object does not fit its type.
    fn review<K: Reviewed<Machine = M>>(&self) -> Result<Review<'a, K>>
    where
        M: Machine<ObjectState: ObjectState<Manifest = K>>,
    {
        let request = self.request;
        Ok(Review {
            object: K::deserialize(self.object)?,
            old: self.old.and_then(|old| K::deserialize(old).ok()),
            operation: request.operation,
            user: &request.user_info,
            dry_run: request.dry_run,
            shared: self.shared,
            backend: self.backend,
        })
    }
}
