//! Whether an object has reached the state that its spec describes, by the rules of kstatus, which Helm, Flux and kpt
//! follow: see `pkg/kstatus/status` of <https://github.com/kubernetes-sigs/cli-utils>.
mod fields;
mod kinds;

use fields::{Condition, Fields};
use jiff::Timestamp;
use serde::Serialize;
use std::fmt;

/// Whether an object has reached the state that its spec describes, with the reason as a sentence for people; see
/// `Context::readiness`.
///
/// The results are those of kstatus, which Helm, Flux and kpt show. Some of them may surprise: a `Job` is current as
/// soon as it has started ([`finished`](Self::finished) is whether it has ended), and a `Service` of type
/// `LoadBalancer` as soon as it has a cluster IP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// The object is as its spec describes.
    Current(String),
    /// The object is being changed, or its controller has not observed the latest change of its spec.
    InProgress(String),
    /// The object will not become current without a change.
    Failed(String),
    /// The object is being deleted.
    Terminating(String),
}

impl Readiness {
    /// The readiness of an object at a time. The object needs its `apiVersion` and `kind`, which the types of
    /// `k8s-openapi` and of generated crates serialize. Use it where there is no `Context`.
    ///
    /// ```
    /// use jiff::Timestamp;
    /// use krator_runtime::Readiness;
    /// use serde_json::json;
    ///
    /// let claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "status": {"phase": "Pending"}});
    /// assert!(!Readiness::of(&claim, Timestamp::now()).is_current());
    /// ```
    pub fn of(object: &impl Serialize, now: Timestamp) -> Self {
        match serde_json::to_value(object) {
            Ok(object) => compute(Fields(&object), now),
            Err(error) => Self::InProgress(format!("the object cannot be read: {error}")),
        }
    }
    /// Whether an object that runs to completion has ended: a running Job or Pod is still in progress, and a Pod
    /// without success has failed. Objects of all other kinds never end, so the result is that of [`of`](Self::of).
    pub fn finished(object: &impl Serialize, now: Timestamp) -> Self {
        match serde_json::to_value(object) {
            Ok(object) => kinds::finished(Fields(&object), compute(Fields(&object), now)),
            Err(error) => Self::InProgress(format!("the object cannot be read: {error}")),
        }
    }
    /// Whether the object is as its spec describes.
    pub fn is_current(&self) -> bool {
        matches!(self, Self::Current(_))
    }
    /// The reason for this result: a sentence for people.
    pub fn message(&self) -> &str {
        match self {
            Self::Current(message)
            | Self::InProgress(message)
            | Self::Failed(message)
            | Self::Terminating(message) => message,
        }
    }
}

/// Prints the reason.
impl fmt::Display for Readiness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

fn current(message: impl Into<String>) -> Readiness {
    Readiness::Current(message.into())
}
fn in_progress(message: impl Into<String>) -> Readiness {
    Readiness::InProgress(message.into())
}
fn failed(message: impl Into<String>) -> Readiness {
    Readiness::Failed(message.into())
}

/// Fields of the object itself take precedence over the rules for its kind, and these over its condition `Ready`.
fn compute(object: Fields<'_>, now: Timestamp) -> Readiness {
    let conditions = object.conditions();
    object
        .of_any_kind(&conditions)
        .or_else(|| kinds::of_known_kind(object, &conditions, now))
        .or_else(|| of_ready_condition(&conditions))
        .unwrap_or_else(|| current("Resource is current"))
}

impl Fields<'_> {
    /// The readiness by the fields and conditions that have the same meaning in all kinds.
    fn of_any_kind(self, conditions: &[Condition<'_>]) -> Option<Readiness> {
        if self
            .text("/metadata/deletionTimestamp")
            .is_some_and(|t| !t.is_empty())
        {
            return Some(Readiness::Terminating(
                "Resource scheduled for deletion".to_owned(),
            ));
        }
        let generations = (
            self.number("/metadata/generation"),
            self.number("/status/observedGeneration"),
        );
        if let (Some(generation), Some(observed)) = generations
            && generation != observed
        {
            let kind = self.text("/kind").unwrap_or_default();
            return Some(in_progress(format!(
                "{kind} generation is {generation}, but latest observed generation is {observed}"
            )));
        }
        conditions
            .iter()
            .find_map(|condition| match (condition.kind, condition.status) {
                ("Reconciling", "True") => Some(in_progress(condition.message)),
                ("Stalled", "True") => Some(failed(condition.message)),
                _ => None,
            })
    }
}

fn of_ready_condition(conditions: &[Condition<'_>]) -> Option<Readiness> {
    let ready = conditions.iter().filter(|condition| condition.kind == "Ready");
    ready
        .map(|ready| match ready.status {
            "True" => Some(current("Resource is Ready")),
            "False" | "Unknown" => Some(in_progress(ready.message)),
            _ => None,
        })
        .find_map(|answer| answer)
}
