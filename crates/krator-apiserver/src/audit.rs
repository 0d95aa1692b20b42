//! The audit log: what was asked, by whom, and how it ended, after `pkg/audit` of `k8s.io/apiserver` at its level `Metadata`
//! and stage `ResponseComplete`.

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

/// The destination of the log: one line of JSON for each request. Clones are the same log.
#[derive(Clone)]
pub(crate) struct Audit(Arc<Mutex<dyn Write + Send>>);

impl fmt::Debug for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Audit")
    }
}

/// The answer, if it is a `Status`: an extension of the response.
#[derive(Debug, Clone)]
pub(crate) struct Status(pub Json);

/// A request, as the log has it before it ends. The line is written when this is dropped: for a watch, that is when nobody
/// reads it any more.
#[derive(Debug)]
pub(crate) struct AuditEvent {
    log: Audit,
    event: Json,
}

impl Audit {
    pub fn new(writer: impl Write + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(writer)))
    }

    /// Begins the line of a request.
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

/// The object, as far as the path names it.
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
    /// The object that was sent, which may say more of itself than the path.
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

    /// Whether the user may do it, and why.
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

    /// As whom the request was done.
    pub fn acting_as(&mut self, user: &User) {
        self.event["impersonatedUser"] = user.info();
    }

    /// Writes no line: the API server has none of this stage for those whom it does not know.
    pub fn forget(mut self) {
        self.event = Json::Null;
    }

    /// The outcome: the code, and the status that was the answer, if it was one.
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
        // A log that cannot be written is no reason to fail requests, as in the API server.
        drop(writeln!(log, "{}", self.event));
    }
}
