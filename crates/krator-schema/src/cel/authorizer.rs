//! The authorizer of expressions, which answers who may do what, after `cel/library/authz.go` of `k8s.io/apiserver`.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use kube_cel::cel::extractors::This;
use kube_cel::cel::objects::Opaque;
use kube_cel::cel::{Context, ExecutionError, Value};

/// What the names of the authorizer's types begin with.
pub(super) const TYPES: &str = "kubernetes.authorization.";

/// The overloads that are evaluated here. Selectors of fields and labels are not among them.
pub(super) const OVERLOADS: [&str; 13] = [
    "authorizer_group",
    "authorizer_path",
    "authorizer_serviceaccount",
    "groupcheck_resource",
    "resourcecheck_subresource",
    "resourcecheck_namespace",
    "resourcecheck_name",
    "resourcecheck_check",
    "pathcheck_check",
    "decision_allowed",
    "decision_reason",
    "decision_errored",
    "decision_error",
];

/// A check costs 350,000 units, and an expression must not cost more than a million.
pub(super) const MOST_CHECKS: u32 = 2;

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
    /// The checks of the expression that is evaluated.
    checks: Arc<AtomicU32>,
}

impl fmt::Debug for Authorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.asked.fmt(f)
    }
}

impl PartialEq for Authorizer {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.decide, &other.decide)
            && self.asked == other.asked
            && self.decision == other.decision
    }
}

impl Eq for Authorizer {}

impl Opaque for Authorizer {
    fn runtime_type_name(&self) -> &str {
        "kubernetes.authorization.Authorizer"
    }
}

impl Authorizer {
    pub(super) fn new(decide: Arc<Decide>, request: Question, checks: Arc<AtomicU32>) -> Self {
        Self {
            decide,
            asked: Question::default(),
            request: Arc::new(request),
            decision: None,
            checks,
        }
    }

    pub(super) fn into_value(self) -> Value {
        Value::Opaque(Arc::new(self))
    }

    /// The check of the resource that the request is about.
    pub(super) fn request_resource(&self) -> Value {
        let asked = Question::clone(&self.request);
        Self {
            asked,
            ..self.clone()
        }
        .into_value()
    }
}

fn authorizer(value: &Value) -> Result<Authorizer, ExecutionError> {
    let found = match value {
        Value::Opaque(opaque) => opaque.downcast_ref::<Authorizer>(),
        _ => None,
    };
    found.cloned().ok_or(ExecutionError::NoSuchOverload)
}

/// Adds a function that completes a question by a text.
fn part(context: &mut Context<'static>, name: &str, set: fn(&mut Question, String)) {
    context.add_function(
        name,
        move |This(this): This<Value>, text: Arc<String>| -> Result<Value, ExecutionError> {
            let mut found = authorizer(&this)?;
            set(&mut found.asked, text.to_string());
            Ok(found.into_value())
        },
    );
}

pub(super) fn add_to(context: &mut Context<'static>) {
    part(context, "group", |asked, group| asked.group = group);
    part(context, "resource", |asked, resource| asked.resource = resource);
    part(context, "subresource", |asked, it| asked.subresource = it);
    part(context, "namespace", |asked, namespace| {
        asked.namespace = namespace
    });
    part(context, "name", |asked, name| asked.name = name);
    part(context, "path", |asked, path| asked.path = Some(path));
    context.add_function(
        "serviceAccount",
        |This(this): This<Value>,
         namespace: Arc<String>,
         name: Arc<String>|
         -> Result<Value, ExecutionError> {
            let mut found = authorizer(&this)?;
            found.asked.service_account = Some((namespace.to_string(), name.to_string()));
            Ok(found.into_value())
        },
    );
    context.add_function(
        "check",
        |This(this): This<Value>, verb: Arc<String>| -> Result<Value, ExecutionError> {
            let mut found = authorizer(&this)?;
            found.checks.fetch_add(1, Ordering::Relaxed);
            found.asked.verb = verb.to_string();
            found.decision = Some((found.decide)(&found.asked));
            Ok(found.into_value())
        },
    );
    context.add_function(
        "allowed",
        |This(this): This<Value>| -> Result<bool, ExecutionError> {
            Ok(authorizer(&this)?.decision.is_some_and(|(allowed, _)| allowed))
        },
    );
    context.add_function(
        "reason",
        |This(this): This<Value>| -> Result<Arc<String>, ExecutionError> {
            Ok(Arc::new(
                authorizer(&this)?
                    .decision
                    .map_or_else(String::new, |(_, reason)| reason),
            ))
        },
    );
    context.add_function("errored", |This(_): This<Value>| false);
    context.add_function("error", |This(_): This<Value>| Arc::new(String::new()));
}
