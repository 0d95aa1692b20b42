//! The error type of handlers: every other error converts into it with `?`, and its class decides about retries.
pub use krator_machine::Class;
use std::{any::Any, error::Error as StdError, fmt, time::Duration};

type Boxed = Box<dyn StdError + Send + Sync>;

/// The result of handlers.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The error of a handler.
///
/// Any error converts into it with `?`. How the runtime reacts depends on its [`class`](Error::class): errors are
/// retried unless they are marked as permanent, or the API server has rejected a request as invalid (400, 405, 413,
/// 415 or 422).
///
/// It deliberately does not implement [`std::error::Error`], which would rule out the conversion of every other
/// error.
///
/// ```
/// use krator_runtime::{Class, Error, Fallible as _, Result};
///
/// fn parse_replicas(text: &str) -> Result<u32> {
///     // Reading the same text again cannot help, so this is not retried.
///     let replicas = text.parse::<u32>().context("the replicas").permanent()?;
///     if replicas == 0 {
///         // A string converts, too.
///         return Err("the scales are not connected".into());
///     }
///     Ok(replicas)
/// }
///
/// let error = parse_replicas("many").unwrap_err();
/// assert_eq!(error.class(), Class::Permanent);
/// assert_eq!(error.to_string(), "the replicas: invalid digit found in string");
/// assert_eq!(parse_replicas("0").unwrap_err().class(), Class::Transient);
/// ```
pub struct Error {
    /// The context of the error, with a colon after each part.
    context: String,
    source: Boxed,
    class: Option<Class>,
}

impl<E: Into<Boxed>> From<E> for Error {
    fn from(error: E) -> Self {
        Self {
            context: String::new(),
            class: None,
            source: error.into(),
        }
    }
}

impl Error {
    /// An error that is not retried.
    ///
    /// ```
    /// use krator_runtime::{Class, Error};
    ///
    /// let error = Error::permanent("`spec.replicas` is too large");
    /// assert_eq!(error.class(), Class::Permanent);
    /// ```
    pub fn permanent(error: impl Into<Boxed>) -> Self {
        Self::of(Class::Permanent, error)
    }
    /// An error that is retried, even if its cause would not be, such as a rejected request.
    ///
    /// ```
    /// use krator_runtime::{Class, Error};
    ///
    /// let error = Error::transient(Error::permanent("the quota is exhausted").to_string());
    /// assert_eq!(error.class(), Class::Transient);
    /// ```
    pub fn transient(error: impl Into<Boxed>) -> Self {
        Self::of(Class::Transient, error)
    }
    /// An error that disappears by itself, when another process or object has ended. It is retried without limit.
    ///
    /// ```
    /// use krator_runtime::{Class, Error};
    ///
    /// let error = Error::blocked("another backup is running");
    /// assert_eq!(error.class(), Class::Blocked);
    /// ```
    pub fn blocked(error: impl Into<Boxed>) -> Self {
        Self::of(Class::Blocked, error)
    }
    /// An error that is retried, but not before this time has passed, for example because another system has sent a
    /// `Retry-After`. A longer delay of the state's `retry` takes precedence.
    ///
    /// ```
    /// use krator_runtime::{Class, Error};
    /// use std::time::Duration;
    ///
    /// let error = Error::after(Duration::from_secs(30), "the scales are being cleaned");
    /// assert_eq!(error.class(), Class::After(Duration::from_secs(30)));
    /// ```
    pub fn after(delay: Duration, error: impl Into<Boxed>) -> Self {
        Self::of(Class::After(delay), error)
    }
    fn of(class: Class, error: impl Into<Boxed>) -> Self {
        Self {
            class: Some(class),
            ..Self::from(error)
        }
    }
    /// Prepends a description of the failed action. The class stays the same.
    ///
    /// ```
    /// use krator_runtime::Error;
    ///
    /// let error = Error::from("connection reset").context("asking the scales");
    /// assert_eq!(error.to_string(), "asking the scales: connection reset");
    /// ```
    #[must_use]
    pub fn context(self, context: impl fmt::Display) -> Self {
        let context = format!("{context}: {}", self.context);
        Self { context, ..self }
    }

    /// The class that the error was marked with; otherwise the class that follows from a response of the API server
    /// among the causes; otherwise [`Class::Transient`].
    pub fn class(&self) -> Class {
        self.class
            .or_else(|| class_of_answer(&*self.source))
            .unwrap_or(Class::Transient)
    }
    /// The first cause of type `E`.
    pub fn downcast_ref<E: StdError + 'static>(&self) -> Option<&E> {
        causes(&*self.source).find_map(|e| e.downcast_ref())
    }
    /// The response of the API server among the causes, if any.
    #[cfg(feature = "kube")]
    pub(crate) fn answer(&self) -> Option<&kube::core::Status> {
        answer(&*self.source)
    }
    pub(crate) fn panicked(payload: &(dyn Any + Send)) -> Self {
        Self::transient(format!("the handler panicked: {}", message_of(payload)))
    }
}

/// The message of a panic.
pub(crate) fn message_of(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message")
}

fn causes<'a>(first: &'a (dyn StdError + 'static)) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(first), |&e| e.source())
}

#[cfg(not(feature = "kube"))]
fn class_of_answer(_: &(dyn StdError + 'static)) -> Option<Class> {
    None
}

/// The response of the API server among the causes. An error that forwards kube's error (`#[error(transparent)]`) has
/// only the response itself as its cause.
#[cfg(feature = "kube")]
fn answer<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a kube::core::Status> {
    causes(error).find_map(|cause| match cause.downcast_ref::<kube::Error>() {
        Some(kube::Error::Api(status)) => Some(&**status),
        _ => cause.downcast_ref::<kube::core::Status>().or_else(|| {
            cause
                .downcast_ref::<Box<kube::core::Status>>()
                .map(|status| &**status)
        }),
    })
}

/// The text of one of the causes of `error`. kube's error prints the response of the API server twice, as text and in
/// the form of `Debug`, and errors around it repeat that. Here, the response is included once, as text.
#[cfg(feature = "kube")]
fn text_of(cause: &(dyn StdError + 'static), error: &(dyn StdError + 'static)) -> String {
    let text = cause.to_string();
    match answer(error) {
        Some(status) => text.replace(&format!("ApiError: {status} ({status:?})"), &status.to_string()),
        None => text,
    }
}

#[cfg(not(feature = "kube"))]
fn text_of(cause: &(dyn StdError + 'static), _: &(dyn StdError + 'static)) -> String {
    cause.to_string()
}

/// The codes 400, 405, 413, 415 and 422 mean that the request itself is wrong. All other errors may be temporary.
#[cfg(feature = "kube")]
fn class_of_answer(error: &(dyn StdError + 'static)) -> Option<Class> {
    let status = answer(error)?;
    let details = status.details.as_ref();
    let is_terminating = || {
        details.is_some_and(|d| {
            d.causes
                .iter()
                .any(|cause| cause.reason == "NamespaceTerminating")
        })
    };
    let retry_after = details.map_or(0, |d| d.retry_after_seconds);
    Some(match status.code {
        400 | 405 | 413 | 415 | 422 => Class::Permanent,
        403 if is_terminating() => Class::NamespaceTerminating,
        403 if status.message.contains("ValidatingAdmissionPolicy") => Class::Refused,
        429 => Class::After(Duration::from_secs(u64::from(retry_after.max(1)))),
        _ if retry_after > 0 => Class::After(Duration::from_secs(u64::from(retry_after))),
        _ => Class::Transient,
    })
}

/// The methods `permanent` and `context` on every `Result`, and on `Option`, where they turn `None` into an error.
///
/// ```
/// use krator_runtime::{Class, Fallible as _, Result};
///
/// fn page_of(website: Option<&str>) -> Result<String> {
///     let page = website.context("the website has no page")?;
///     let text = std::fs::read_to_string(format!("/nowhere/{page}")).context("reading the page")?;
///     Ok(text)
/// }
///
/// assert_eq!(page_of(None).unwrap_err().to_string(), "the website has no page");
/// assert!(page_of(Some("index")).unwrap_err().to_string().starts_with("reading the page: "));
/// ```
pub trait Fallible<T> {
    /// Marks the error as permanent, so that it is not retried.
    ///
    /// # Errors
    ///
    /// The same error, as [`Class::Permanent`].
    fn permanent(self) -> Result<T>;
    /// Prepends a description of the failed action to the error. The class stays the same.
    ///
    /// # Errors
    ///
    /// The same error, with the context.
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
        self.ok_or_else(|| Error::permanent("the value is missing"))
    }
    fn context(self, context: impl fmt::Display) -> Result<T> {
        self.ok_or_else(|| Error::from(context.to_string()))
    }
}

/// Prints the error and its causes. A cause is left out if the text already ends with it, because some libraries
/// include the text of the cause in their own.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printed = String::new();
        for cause in causes(&*self.source) {
            let text = text_of(cause, &*self.source);
            if printed.is_empty() {
                printed = text;
            } else if !printed.ends_with(&text) {
                printed.push_str(": ");
                printed.push_str(&text);
            }
        }
        write!(f, "{}{printed}", self.context)
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
        let error = parse("x").expect_err("x is not a number");
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
    fn api_error(code: u16, details: &serde_json::Value) -> kube::Error {
        let status = serde_json::json!({"code": code, "message": "m", "reason": "r", "details": details});
        let status: kube::core::Status = serde_json::from_value(status).expect("a status");
        kube::Error::Api(status.boxed())
    }

    /// The ways in which libraries wrap other errors: with their text or without it, and transparently.
    #[cfg(feature = "kube")]
    #[derive(Debug)]
    enum Wrapped {
        WithText(kube::Error),
        Transparent(kube::Error),
    }

    #[cfg(feature = "kube")]
    impl fmt::Display for Wrapped {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            match self {
                Self::WithText(error) => write!(f, "listing failed: {error}"),
                Self::Transparent(error) => error.fmt(f),
            }
        }
    }

    #[cfg(feature = "kube")]
    impl StdError for Wrapped {
        fn source(&self) -> Option<&(dyn StdError + 'static)> {
            match self {
                Self::WithText(error) => Some(error),
                Self::Transparent(error) => error.source(),
            }
        }
    }

    #[cfg(feature = "kube")]
    #[test]
    fn an_answer_of_the_api_server_is_shown_once() {
        let answer = || api_error(422, &serde_json::json!({}));
        for (error, text) in [
            (Error::from(answer()), "m: r"),
            (Error::from(answer()).context("creating"), "creating: m: r"),
            (Wrapped::WithText(answer()).into(), "listing failed: m: r"),
            (Wrapped::Transparent(answer()).into(), "m: r"),
        ] {
            assert_eq!(error.to_string(), text);
            assert_eq!(format!("{error:?}"), format!("{text} (Permanent)"));
            assert_eq!(error.class(), Class::Permanent);
        }
    }

    #[cfg(feature = "kube")]
    #[test]
    fn answers_of_the_api_server_have_classes() {
        let answer = |code: u16, details: serde_json::Value| Error::from(api_error(code, &details));
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
        let message = "m is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' denied request: no";
        let status = serde_json::json!({"code": 403, "message": message, "reason": "Forbidden"});
        let status: kube::core::Status = serde_json::from_value(status).expect("a status");
        let error = Error::from(kube::Error::Api(status.boxed()));
        assert_eq!(error.class(), Class::Refused);
    }
}
