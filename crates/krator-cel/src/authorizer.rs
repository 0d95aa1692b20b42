//! The authorizer of expressions, which answers who may do what, after `cel/library/authz.go` of `k8s.io/apiserver`.

use std::fmt;
use std::sync::Arc;

/// A check that an expression requests from the authorizer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AccessCheck {
    /// The namespace and the name of the service account that it is about, unless it is about the sender of the request.
    pub service_account: Option<(String, String)>,
    /// The verb, such as `operate`.
    pub verb: String,
    /// The API group.
    pub group: String,
    /// The resource. Empty where it is about a path.
    pub resource: String,
    /// The subresource.
    pub subresource: String,
    /// The namespace.
    pub namespace: String,
    /// The name of the object.
    pub name: String,
    /// The path, of questions that are not about a resource.
    pub path: Option<String>,
}

/// Whether it is allowed, and the reason.
pub type Decide = dyn Fn(&AccessCheck) -> (bool, String) + Send + Sync;

/// The authorizer, and each part of a question to it.
#[derive(Clone)]
pub(crate) struct Authorizer {
    decide: Arc<Decide>,
    asked: AccessCheck,
    /// The question about the request itself, without a verb.
    request: Arc<AccessCheck>,
    decision: Option<(bool, String)>,
}

impl fmt::Debug for Authorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.asked.fmt(f)
    }
}

impl Authorizer {
    pub(crate) fn new(decide: Arc<Decide>, request: AccessCheck) -> Self {
        Self {
            decide,
            asked: AccessCheck::default(),
            request: Arc::new(request),
            decision: None,
        }
    }

    /// The check of the resource that the request is about.
    pub(crate) fn request_resource(&self) -> Self {
        self.with(|asked| *asked = AccessCheck::clone(&self.request))
    }

    /// The question with one more part.
    pub(crate) fn with(&self, complete: impl FnOnce(&mut AccessCheck)) -> Self {
        let mut found = self.clone();
        complete(&mut found.asked);
        found
    }

    /// Asks for a verb.
    pub(crate) fn check(&self, verb: &str) -> Self {
        let mut found = self.with(|asked| asked.verb = verb.to_owned());
        found.decision = Some((found.decide)(&found.asked));
        found
    }

    /// Whether it is allowed, and the reason; not before [`Authorizer::check`].
    pub(crate) fn decision(&self) -> Option<&(bool, String)> {
        self.decision.as_ref()
    }
}
