//! The authorizer of expressions, which answers who may do what, after `cel/library/authz.go` of `k8s.io/apiserver`.

use std::fmt;
use std::sync::Arc;

use super::eval::{Fallible, Value};

/// What an expression asks the authorizer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Question {
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
pub type Decide = dyn Fn(&Question) -> (bool, String) + Send + Sync;

/// The authorizer, and each part of a question to it.
#[derive(Clone)]
pub(super) struct Authorizer {
    decide: Arc<Decide>,
    asked: Question,
    /// The question about the request itself, without a verb.
    request: Arc<Question>,
    decision: Option<(bool, String)>,
}

impl fmt::Debug for Authorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.asked.fmt(f)
    }
}

impl Authorizer {
    pub(super) fn new(decide: Arc<Decide>, request: Question) -> Self {
        Self {
            decide,
            asked: Question::default(),
            request: Arc::new(request),
            decision: None,
        }
    }

    /// The check of the resource that the request is about.
    pub(super) fn request_resource<'a>(&self) -> Value<'a> {
        self.with(|asked| *asked = Question::clone(&self.request))
    }

    fn with<'a>(&self, complete: impl FnOnce(&mut Question)) -> Value<'a> {
        let mut found = self.clone();
        complete(&mut found.asked);
        Value::Authorizer(Arc::new(found))
    }

    /// The result of a function of the authorizer, or of a part of a question to it.
    pub(super) fn call<'a>(&self, function: &str, operands: &[Value<'a>]) -> Option<Fallible<Value<'a>>> {
        Some(Ok(match (function, operands) {
            ("group", [Value::Text(group)]) => self.with(|asked| asked.group = group.to_string()),
            ("resource", [Value::Text(resource)]) => self.with(|asked| asked.resource = resource.to_string()),
            ("subresource", [Value::Text(it)]) => self.with(|asked| asked.subresource = it.to_string()),
            ("namespace", [Value::Text(namespace)]) => {
                self.with(|asked| asked.namespace = namespace.to_string())
            }
            ("name", [Value::Text(name)]) => self.with(|asked| asked.name = name.to_string()),
            ("path", [Value::Text(path)]) => self.with(|asked| asked.path = Some(path.to_string())),
            // What RBAC decides does not depend on them.
            ("fieldSelector" | "labelSelector", [Value::Text(_)]) => self.with(|_| ()),
            ("serviceAccount", [Value::Text(namespace), Value::Text(name)]) => {
                self.with(|asked| asked.service_account = Some((namespace.to_string(), name.to_string())))
            }
            ("check", [Value::Text(verb)]) => {
                let mut found = self.clone();
                found.asked.verb = verb.to_string();
                found.decision = Some((found.decide)(&found.asked));
                Value::Authorizer(Arc::new(found))
            }
            ("allowed", []) => self.decision.as_ref().is_some_and(|(allowed, _)| *allowed).into(),
            ("reason", []) => self.decision.as_ref().map_or("", |(_, reason)| reason).into(),
            ("errored", []) => false.into(),
            ("error", []) => "".into(),
            _ => return None,
        }))
    }
}
