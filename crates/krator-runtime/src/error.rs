//! One error type for handlers. Anything converts with `?`; the class says whether to try again.
use std::{any::Any, error::Error as StdError, fmt, time::Duration};

type Boxed = Box<dyn StdError + Send + Sync>;

/// What handlers return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What the runtime does about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Try again, as `retry` says.
    Transient,
    /// The same, but not before this time has passed.
    After(Duration),
    /// Trying again is useless: at once to `retry.then`; without one, at the slowest pace until the spec changes.
    Permanent,
    /// The namespace is being deleted, so nothing can be made in it: no failure, for the object goes with it. A
    /// state on the deletion path takes it for a transient error, so that deletion ends.
    NamespaceTerminating,
}

/// A handler's error. Deliberately no `std::error::Error`, so that `?` takes every other.
pub struct Error {
    source: Boxed,
    class: Option<Class>,
}

impl<E: Into<Boxed>> From<E> for Error {
    fn from(error: E) -> Self {
        Self {
            class: None,
            source: error.into(),
        }
    }
}

impl Error {
    /// An error that is not worth a retry.
    pub fn permanent(error: impl Into<Boxed>) -> Self {
        Self {
            source: error.into(),
            class: Some(Class::Permanent),
        }
    }
    /// An error that may go away, whatever its source says.
    pub fn transient(error: impl Into<Boxed>) -> Self {
        Self {
            source: error.into(),
            class: Some(Class::Transient),
        }
    }
    /// Says what was tried; the class stays.
    #[must_use]
    pub fn context(self, context: impl fmt::Display) -> Self {
        let class = Some(self.class());
        Self {
            class,
            source: Box::new(Contextual {
                context: context.to_string(),
                source: self.source,
            }),
        }
    }
    /// As marked; else as known from the API server's answer, also behind other errors; else transient.
    pub fn class(&self) -> Class {
        self.class
            .or_else(|| known(&*self.source))
            .unwrap_or(Class::Transient)
    }
    /// The first error of this type among the causes.
    pub fn downcast_ref<E: StdError + 'static>(&self) -> Option<&E> {
        causes(&*self.source).find_map(|e| e.downcast_ref())
    }
    pub(crate) fn panicked(payload: &(dyn Any + Send)) -> Self {
        let text = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        Self::transient(format!("the handler panicked: {}", text.unwrap_or("no message")))
    }
}

fn causes<'a>(first: &'a (dyn StdError + 'static)) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(first), |&e| e.source())
}

#[cfg(not(feature = "kube"))]
fn known(_: &(dyn StdError + 'static)) -> Option<Class> {
    None
}

/// 400, 405, 413, 415 and 422 say that the request itself is wrong. All others may go away.
#[cfg(feature = "kube")]
fn known(error: &(dyn StdError + 'static)) -> Option<Class> {
    let status = causes(error).find_map(|e| match e.downcast_ref::<kube::Error>() {
        Some(kube::Error::Api(status)) => Some(status),
        _ => None,
    })?;
    let details = status.details.as_ref();
    let is_terminating = || {
        details.is_some_and(|d| {
            d.causes
                .iter()
                .any(|cause| cause.reason == "NamespaceTerminating")
        })
    };
    let named = details.map_or(0, |d| d.retry_after_seconds);
    Some(match status.code {
        400 | 405 | 413 | 415 | 422 => Class::Permanent,
        403 if is_terminating() => Class::NamespaceTerminating,
        429 => Class::After(Duration::from_secs(u64::from(named.max(1)))),
        _ if named > 0 => Class::After(Duration::from_secs(u64::from(named))),
        _ => Class::Transient,
    })
}

/// `.permanent()` and `.context()` on any `Result`, and on `Option`.
pub trait Fallible<T> {
    /// Marks the error as not worth a retry.
    fn permanent(self) -> Result<T>;
    /// Says what was tried.
    fn context(self, context: impl fmt::Display) -> Result<T>;
}

impl<T, E: Into<Error>> Fallible<T> for std::result::Result<T, E> {
    fn permanent(self) -> Result<T> {
        self.map_err(|e| Error {
            class: Some(Class::Permanent),
            ..e.into()
        })
    }
    fn context(self, context: impl fmt::Display) -> Result<T> {
        self.map_err(|e| e.into().context(context))
    }
}

impl<T> Fallible<T> for Option<T> {
    fn permanent(self) -> Result<T> {
        self.ok_or_else(|| Error::permanent("nothing there"))
    }
    fn context(self, context: impl fmt::Display) -> Result<T> {
        self.ok_or_else(|| Error::from(context.to_string()))
    }
}

#[derive(Debug)]
struct Contextual {
    context: String,
    source: Boxed,
}

impl fmt::Display for Contextual {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.context)
    }
}

impl StdError for Contextual {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&*self.source)
    }
}

/// The error and its causes, each said once: some libraries repeat their source in their own text.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut said = String::new();
        for cause in causes(&*self.source) {
            let text = cause.to_string();
            if said.is_empty() {
                said = text;
            } else if !said.ends_with(&text) {
                said.push_str(": ");
                said.push_str(&text);
            }
        }
        f.write_str(&said)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} ({:?})", self.class())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anything_converts_and_context_keeps_the_class() {
        fn parse(text: &str) -> Result<u32> {
            let count = text.parse::<u32>().context("the count")?;
            Ok(count)
        }
        let error = parse("x").expect_err("x is no number");
        assert_eq!(error.to_string(), "the count: invalid digit found in string");
        assert_eq!(error.class(), Class::Transient);
        assert!(error.downcast_ref::<std::num::ParseIntError>().is_some());
        let error = Error::permanent("never").context("trying");
        assert_eq!(
            (error.class(), error.to_string().as_str()),
            (Class::Permanent, "trying: never")
        );
        assert_eq!(
            None::<u8>.context("no name").expect_err("none").to_string(),
            "no name"
        );
    }

    #[cfg(feature = "kube")]
    #[test]
    fn answers_of_the_api_server_have_classes() {
        let answer = |code: u16, details: serde_json::Value| {
            let status = serde_json::json!({"code": code, "message": "m", "reason": "r", "details": details});
            let status: kube::core::Status = serde_json::from_value(status).expect("a status");
            Error::from(kube::Error::Api(status.boxed()))
        };
        let nothing = || serde_json::json!({});
        assert_eq!(answer(422, nothing()).class(), Class::Permanent);
        assert_eq!(
            answer(422, nothing()).context("creating").class(),
            Class::Permanent
        );
        assert_eq!(answer(409, nothing()).class(), Class::Transient);
        let later = || serde_json::json!({"retryAfterSeconds": 7});
        assert_eq!(answer(429, later()).class(), Class::After(Duration::from_secs(7)));
        assert_eq!(answer(503, later()).class(), Class::After(Duration::from_secs(7)));
        assert_eq!(answer(403, nothing()).class(), Class::Transient);
        let causes =
            serde_json::json!({"causes": [{"reason": "NamespaceTerminating", "message": "m", "field": ""}]});
        assert_eq!(answer(403, causes).class(), Class::NamespaceTerminating);
    }
}
