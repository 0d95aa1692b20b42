//! The verdict about an admission request.
use serde_json::{Value, json};

/// Whether a request is allowed, with a message for the user who made it.
///
/// ```
/// use krator_runtime::Verdict;
///
/// let crowded = Verdict::deny_field(".spec.zone", "the zone is full");
/// let untitled = Verdict::deny_field(".spec.title", "a website has a title");
/// assert!(!crowded.and(untitled).is_allowed());
/// assert!(Verdict::allow().warn("the zone is nearly full").is_allowed());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "a verdict has no effect unless it is returned"]
pub struct Verdict {
    denied: Vec<Denial>,
    warnings: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Denial {
    /// The field without its leading dot; empty if the denial is not about a field.
    field: String,
    message: String,
}

impl Verdict {
    /// The request may go on.
    pub fn allow() -> Self {
        Self::default()
    }
    /// The request is refused, and the user sees the message.
    pub fn deny(message: impl Into<String>) -> Self {
        Self::deny_field("", message)
    }
    /// The request is refused because of a field, such as `.spec.zone`.
    pub fn deny_field(field: &str, message: impl Into<String>) -> Self {
        Self {
            denied: vec![Denial {
                field: field.trim_start_matches('.').to_owned(),
                message: message.into(),
            }],
            warnings: Vec::new(),
        }
    }
    /// Adds a warning, which kubectl prints whether the request goes on or not. The API server cuts those of more than 256
    /// characters.
    pub fn warn(mut self, warning: impl Into<String>) -> Self {
        self.warnings.push(warning.into());
        self
    }
    /// Combines two verdicts: the request is allowed if both allow it, and the user sees all reasons.
    pub fn and(mut self, other: Self) -> Self {
        self.denied.extend(other.denied);
        self.warnings.extend(other.warnings);
        self
    }

    /// Whether the request may go on.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        self.denied.is_empty()
    }
    /// Why the request is refused; `None` if it is not.
    #[must_use]
    pub fn message(&self) -> Option<String> {
        let said = self
            .denied
            .iter()
            .map(|Denial { field, message }| match &**field {
                "" => message.clone(),
                field => format!("{field}: {message}"),
            });
        let said: Vec<String> = said.collect();
        (!said.is_empty()).then(|| said.join("; "))
    }
    /// The warnings.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The refusal as a `Status` of the API: `Invalid` if it is about fields, so that kubectl lists them, and
    /// `Forbidden` otherwise.
    pub(crate) fn status(&self, group: &str, kind: &str, name: &str) -> Option<Value> {
        let message = self.message()?;
        let about_fields = self.denied.iter().filter(|denial| !denial.field.is_empty());
        let causes: Vec<Value> = about_fields
            .map(|Denial { field, message }| {
                json!({"reason": "FieldValueInvalid", "message": message, "field": field})
            })
            .collect();
        let (code, reason) = if causes.is_empty() {
            (403, "Forbidden")
        } else {
            (422, "Invalid")
        };
        let details = json!({"group": group, "kind": kind, "name": name, "causes": causes});
        Some(
            json!({"status": "Failure", "code": code, "reason": reason, "message": message, "details": details}),
        )
    }
}

impl FromIterator<Verdict> for Verdict {
    fn from_iter<I: IntoIterator<Item = Verdict>>(verdicts: I) -> Self {
        verdicts.into_iter().fold(Self::allow(), Self::and)
    }
}
