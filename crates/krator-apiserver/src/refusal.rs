//! Refusals of requests as clients read them: `Status` of `meta/v1`, after `k8s.io/apimachinery/pkg/api/errors` and
//! `pkg/util/validation/field`.

mod field_error;

pub use field_error::FieldError;

use crate::object::of_texts;
use field_error::cause_type;
use serde_json::{Value as Json, json};
use std::fmt;

/// One of the causes of a refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// The machine-readable type, such as `FieldManagerConflict`.
    pub reason: String,
    /// The message for users.
    pub message: String,
    /// The path of the field with the error; may be empty.
    pub field: String,
}

/// The refusal of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The HTTP status code.
    pub code: u16,
    /// The reason in one word, such as `NotFound`; empty if there is none.
    pub reason: &'static str,
    /// The message for users.
    pub message: String,
    /// The object that is refused. Boxed, because most results are successes.
    pub about: Box<About>,
    /// The individual causes.
    pub causes: Vec<Cause>,
    /// The seconds after which the client may retry.
    pub retry_after: Option<u32>,
    /// Whether the response has `details` even if they are empty.
    pub has_details: bool,
    /// The whole response, if a webhook has given it. Boxed, because most refusals have none.
    pub whole: Option<Box<Json>>,
}

/// The object of a refusal. All fields may be empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct About {
    /// The API group.
    pub group: String,
    /// The kind or, in most refusals, the resource.
    pub kind: String,
    /// The name of the object.
    pub name: String,
    /// The uid of the object.
    pub uid: String,
}

impl About {
    /// An object of a group and a resource or kind.
    pub fn new(group: &str, kind: &str, name: &str) -> Self {
        Self {
            group: group.to_owned(),
            kind: kind.to_owned(),
            name: name.to_owned(),
            uid: String::new(),
        }
    }

    /// The qualified name in messages, such as `deployments.apps`.
    fn qualified(&self) -> String {
        match self.group.as_str() {
            "" => self.kind.clone(),
            group => format!("{}.{group}", self.kind),
        }
    }
}

impl Refusal {
    fn new(code: u16, reason: &'static str, about: About, message: impl Into<String>) -> Self {
        Self {
            code,
            reason,
            message: message.into(),
            about: Box::new(about),
            causes: Vec::new(),
            retry_after: None,
            has_details: reason == "Forbidden",
            whole: None,
        }
    }

    /// A refusal without an object, as from those parts of the API server that have only a status code.
    pub fn generic(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            has_details: true,
            ..Self::new(code, reason, About::default(), message)
        }
    }

    /// The object does not exist; `about` names the resource.
    pub fn not_found(about: About) -> Self {
        let message = format!("{} {:?} not found", about.qualified(), about.name);
        Self::new(404, "NotFound", about, message)
    }

    /// The path does not exist.
    pub fn no_such_path() -> Self {
        Self::generic(
            404,
            "NotFound",
            "the server could not find the requested resource",
        )
    }

    /// The object already exists; `about` names the resource.
    pub fn already_exists(about: About) -> Self {
        let message = format!("{} {:?} already exists", about.qualified(), about.name);
        Self::new(409, "AlreadyExists", about, message)
    }

    /// Adds to the refusal that no unique name could be generated.
    pub fn for_want_of_a_name(self) -> Self {
        let why = "the server was not able to generate a unique name for the object";
        Self {
            message: format!("{}, {why}", self.message),
            retry_after: Some(1),
            ..self
        }
    }

    /// The object does not meet a precondition of the request; `about` names the resource.
    pub fn conflict(about: About, why: &str) -> Self {
        let message = format!(
            "Operation cannot be fulfilled on {} {:?}: {why}",
            about.qualified(),
            about.name
        );
        Self::new(409, "Conflict", about, message)
    }

    /// A server-side apply changes fields of other managers.
    pub fn apply_conflict(causes: Vec<Cause>, message: impl Into<String>) -> Self {
        Self {
            causes,
            ..Self::new(409, "Conflict", About::default(), message)
        }
    }

    /// The object is invalid; `about` names the kind.
    pub fn invalid(about: About, errors: &[FieldError]) -> Self {
        let mut texts: Vec<String> = Vec::new();
        for error in errors {
            let text = error.to_string();
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        let all = match texts.as_slice() {
            [one] => one.clone(),
            _ => format!("[{}]", texts.join(", ")),
        };
        let message = format!("{} {:?} is invalid: {all}", about.qualified(), about.name);
        let cause = |error: &FieldError| Cause {
            reason: cause_type(error.kind).0.to_owned(),
            message: error.body(),
            field: error.field.clone(),
        };
        Self {
            causes: errors.iter().map(cause).collect(),
            ..Self::new(422, "Invalid", about, message)
        }
    }

    /// Refuses an object with errors; `about` names the kind.
    ///
    /// # Errors
    ///
    /// If there are errors.
    pub fn unless_valid(about: About, errors: &[FieldError]) -> Result<(), Self> {
        match errors {
            [] => Ok(()),
            errors => Err(Self::invalid(about, errors)),
        }
    }

    /// The request is malformed.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", About::default(), message)
    }

    /// The request is not allowed for this object; `about` names the resource.
    pub fn forbidden(about: About, why: &str) -> Self {
        let message = match (about.kind.as_str(), about.name.as_str()) {
            ("", _) => format!("forbidden: {why}"),
            (_, "") => format!("{} is forbidden: {why}", about.qualified()),
            (_, name) => format!("{} {name:?} is forbidden: {why}", about.qualified()),
        };
        Self::new(403, "Forbidden", about, message)
    }

    /// The request has no valid credentials.
    pub fn unauthorized() -> Self {
        Self::new(401, "Unauthorized", About::default(), "Unauthorized")
    }

    /// The path does not support the method.
    pub fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self::generic(405, "MethodNotAllowed", message)
    }

    /// The kind does not support the verb; `about` names the resource.
    pub fn method_not_supported(about: About, verb: &str) -> Self {
        let message = format!(
            "{verb} is not supported on resources of kind {:?}",
            about.qualified()
        );
        Self::new(405, "MethodNotAllowed", about, message)
    }

    /// The client accepts no media type that the server offers.
    pub fn not_acceptable(forms: &str) -> Self {
        Self::not_acceptable_as(format!("only the following media types are accepted: {forms}"))
    }

    /// The client accepts only forms that are not available for this response.
    pub fn not_acceptable_as(message: impl Into<String>) -> Self {
        Self::new(406, "NotAcceptable", About::default(), message)
    }

    /// The server does not accept the media type of the body.
    pub fn unsupported_media_type(forms: &str) -> Self {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {forms}"
        );
        Self::new(415, "UnsupportedMediaType", About::default(), message)
    }

    /// The resource version of the request is too old.
    pub fn expired(message: impl Into<String>) -> Self {
        Self::new(410, "Expired", About::default(), message)
    }

    /// The request is too large.
    pub fn too_large(why: impl fmt::Display) -> Self {
        let message = format!("Request entity too large: {why}");
        Self::new(413, "RequestEntityTooLarge", About::default(), message)
    }

    /// The request has to wait for longer than its timeout.
    pub fn timeout(why: &str, cause: Cause) -> Self {
        Self {
            causes: vec![cause],
            retry_after: Some(1),
            ..Self::new(504, "Timeout", About::default(), format!("Timeout: {why}"))
        }
    }

    /// The client must wait for some seconds.
    pub fn too_many_requests(message: impl Into<String>, seconds: u32) -> Self {
        Self {
            retry_after: Some(seconds),
            ..Self::new(429, "TooManyRequests", About::default(), message)
        }
    }

    /// The server cannot respond at present.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(503, "ServiceUnavailable", About::default(), message)
    }

    /// The server has an internal error.
    pub fn internal(message: impl fmt::Display) -> Self {
        let message = format!("Internal error occurred: {message}");
        Self::new(500, "InternalError", About::default(), message)
    }

    /// The request fails with a 500 without a reason.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(500, "", About::default(), message)
    }

    /// This server lacks a feature of a real API server. `what` begins the message, such as "Webhooks of CRDs".
    pub fn not_built(what: &str) -> Self {
        let message = format!(
            "{what} stop short in this server, which is for development and tests; a real API server has them"
        );
        Self::new(501, "NotImplemented", About::default(), message)
    }

    /// The body of the response.
    pub fn status(&self) -> Json {
        if let Some(whole) = &self.whole {
            return Json::clone(whole);
        }
        let About {
            group,
            kind,
            name,
            uid,
        } = &*self.about;
        let mut details = of_texts([
            ("name", name.as_str()),
            ("group", group),
            ("kind", kind),
            ("uid", uid),
        ]);
        if !self.causes.is_empty() {
            details.insert("causes".to_owned(), self.causes.iter().map(Cause::json).collect());
        }
        if let Some(seconds) = self.retry_after {
            details.insert("retryAfterSeconds".to_owned(), json!(seconds));
        }
        let mut status = of_texts([
            ("kind", "Status"),
            ("apiVersion", "v1"),
            ("status", "Failure"),
            ("message", &self.message),
            ("reason", self.reason),
        ]);
        status.insert("metadata".to_owned(), json!({}));
        if self.has_details || !details.is_empty() {
            status.insert("details".to_owned(), details.into());
        }
        status.insert("code".to_owned(), self.code.into());
        status.into()
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}

impl Cause {
    fn json(&self) -> Json {
        let Self {
            reason,
            message,
            field,
        } = self;
        of_texts([
            ("reason", reason.as_str()),
            ("message", message),
            ("field", field),
        ])
        .into()
    }
}
