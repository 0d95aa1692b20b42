//! The authorizer in expressions, which checks access, after `cel/library/authz.go` of `k8s.io/apiserver`.

use std::fmt;
use std::sync::Arc;

/// An access check by an expression.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AccessCheck {
    /// The namespace and the name of the service account to check, instead of the sender of the request.
    pub service_account: Option<(String, String)>,
    /// The verb, such as `operate`.
    pub verb: String,
    /// The API group.
    pub group: String,
    /// The resource; empty if the check is for a path.
    pub resource: String,
    /// The subresource.
    pub subresource: String,
    /// The namespace.
    pub namespace: String,
    /// The name of the object.
    pub name: String,
    /// The path, if the check is not for a resource.
    pub path: Option<String>,
}

/// Returns whether the access is allowed, and the reason.
pub type Decide = dyn Fn(&AccessCheck) -> (bool, String) + Send + Sync;

/// The authorizer, and the checks that expressions build from it.
#[derive(Clone)]
pub(crate) struct Authorizer {
    decide: Arc<Decide>,
    asked: AccessCheck,
    /// The check for the request itself, without a verb.
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

    /// The check for the resource of the request.
    pub(crate) fn request_resource(&self) -> Self {
        self.with(|asked| *asked = AccessCheck::clone(&self.request))
    }

    /// A copy of the check with one more part.
    pub(crate) fn with(&self, complete: impl FnOnce(&mut AccessCheck)) -> Self {
        let mut found = self.clone();
        complete(&mut found.asked);
        found
    }

    /// Performs the check for a verb.
    pub(crate) fn check(&self, verb: &str) -> Self {
        let mut found = self.with(|asked| asked.verb = verb.to_owned());
        found.decision = Some((found.decide)(&found.asked));
        found
    }

    /// Whether the access is allowed, and the reason; none before [`Authorizer::check`].
    pub(crate) fn decision(&self) -> Option<&(bool, String)> {
        self.decision.as_ref()
    }
}
