//! The audit log: requests, their users and their results, after `pkg/audit` of `k8s.io/apiserver` at its level
//! `Metadata` and stage `ResponseComplete`.

use crate::{
    object::{meta, of_texts},
    rbac::{Attributes, Decision},
    request::header_text,
    users::User,
};
use http::{HeaderMap, header};
use jiff::Timestamp;
use serde_json::{Value as Json, json};
use std::{
    fmt,
    io::Write,
    sync::{Arc, Mutex, PoisonError},
};

/// The destination of the log: one line of JSON for each request. Clones write to the same log.
#[derive(Clone)]
pub(crate) struct Audit(Arc<Mutex<dyn Write + Send>>);

impl fmt::Debug for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Audit")
    }
}

/// The body of the response if it is a `Status`, as an extension of the response.
#[derive(Debug, Clone)]
pub(crate) struct Status(pub Json);

/// The audit event of a request before it ends. The line is written when this value is dropped: for a watch, when its
/// reader is gone.
#[derive(Debug)]
pub(crate) struct AuditEvent {
    log: Audit,
    event: Json,
}

impl Audit {
    pub fn new(writer: impl Write + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(writer)))
    }

    /// Starts the event of a request.
    pub fn begin(&self, uri: &str, headers: &HeaderMap, asked: &Attributes) -> AuditEvent {
        let agent = header_text(headers, header::USER_AGENT.as_str());
        let mut event = json!({
            "kind": "Event",
            "apiVersion": "audit.k8s.io/v1",
            "level": "Metadata",
            "auditID": uuid::Uuid::new_v4().to_string(),
            "stage": "ResponseComplete",
            "requestURI": uri,
            "verb": asked.verb,
            "user": {},
            "sourceIPs": ["127.0.0.1"],
        });
        if !agent.is_empty() {
            event["userAgent"] = agent.into();
        }
        if asked.path.is_none() {
            event["objectRef"] = reference(asked, uri);
        }
        event["requestReceivedTimestamp"] = now();
        AuditEvent {
            log: self.clone(),
            event,
        }
    }
}

/// The reference to the object, with the parts that the path contains.
fn reference(asked: &Attributes, uri: &str) -> Json {
    let mut parts = uri.trim_start_matches('/').split(['/', '?']);
    let version = if asked.group.is_empty() {
        parts.nth(1)
    } else {
        parts.nth(2)
    };
    let fields = [
        ("resource", asked.resource.as_str()),
        ("namespace", &asked.namespace),
        ("name", &asked.name),
        ("apiGroup", &asked.group),
        ("apiVersion", version.unwrap_or_default()),
        ("subresource", &asked.subresource),
    ];
    of_texts(fields).into()
}

fn now() -> Json {
    Timestamp::now()
        .strftime("%Y-%m-%dT%H:%M:%S%.6fZ")
        .to_string()
        .into()
}

impl AuditEvent {
    /// Adds the metadata of the object in the body, which may name more than the path.
    pub fn about(&mut self, object: &Json) {
        let Some(Json::Object(reference)) = self.event.get_mut("objectRef") else {
            return;
        };
        for key in ["namespace", "name", "uid", "resourceVersion"] {
            let text = meta(object, key);
            if !text.is_empty() && !reference.contains_key(key) {
                reference.insert(key.to_owned(), text.into());
            }
        }
    }

    /// Records the decision of the authorizer, and its reason.
    pub fn decided(&mut self, decision: &Decision) {
        self.event["annotations"] = json!({
            "authorization.k8s.io/decision": if decision.allowed { "allow" } else { "forbid" },
            "authorization.k8s.io/reason": decision.reason,
        });
    }

    /// The sender of the request.
    pub fn by(&mut self, user: &User) {
        self.event["user"] = user.info();
    }

    /// The impersonated user.
    pub fn acting_as(&mut self, user: &User) {
        self.event["impersonatedUser"] = user.info();
    }

    /// Discards the event: the API server logs no `ResponseComplete` for unauthenticated requests.
    pub fn forget(mut self) {
        self.event = Json::Null;
    }

    /// The result: the code, and the body of the response if it is a `Status`.
    pub fn ended(&mut self, code: u16, answer: Option<&Status>) {
        let mut status = json!({"metadata": {}});
        let shown = ["status", "message", "reason", "details"];
        for key in shown {
            if let Some(value) = answer.and_then(|Status(answer)| answer.get(key)) {
                status[key] = value.clone();
            }
        }
        status["code"] = code.into();
        self.event["responseStatus"] = status;
    }
}

impl Drop for AuditEvent {
    fn drop(&mut self) {
        if self.event.is_null() {
            return;
        }
        self.event["stageTimestamp"] = now();
        let mut log = self.log.0.lock().unwrap_or_else(PoisonError::into_inner);
        // As in the API server, requests do not fail if the log cannot be written.
        drop(writeln!(log, "{}", self.event));
    }
}
