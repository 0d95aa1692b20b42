//! The webhooks that the API server calls before it stores an object: `webhooks` in the description.

use std::time::Duration;

use crate::finding::{Span, Spanned};

/// The webhooks of a kind.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Webhooks {
    /// The webhook that validates objects.
    pub validate: Option<Webhook>,
    /// The webhook that changes objects.
    pub mutate: Option<Webhook>,
}

impl Webhooks {
    /// Both webhooks with their names in descriptions and paths, in the order in which the API server calls them.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, &Webhook)> {
        let both = [("mutate", &self.mutate), ("validate", &self.validate)];
        both.into_iter()
            .filter_map(|(name, webhook)| Some((name, webhook.as_ref()?)))
    }
    /// Whether there are no webhooks.
    pub fn is_empty(&self) -> bool {
        self.all().next().is_none()
    }
}

/// A webhook.
#[derive(Debug, Clone, PartialEq)]
pub struct Webhook {
    /// Its mapping.
    pub span: Span,
    /// The operations for which the API server calls the webhook; never empty.
    pub operations: Vec<Spanned<Operation>>,
    /// The treatment of a request for which the webhook does not answer.
    pub failure_policy: Spanned<FailurePolicy>,
    /// The time that the API server waits, in whole seconds.
    pub timeout: Spanned<Duration>,
    /// Further conditions of a request, all of which have to be met.
    pub match_conditions: Vec<MatchCondition>,
}

impl Webhook {
    /// Whether the API server calls both for the same requests, with the same consequences.
    pub fn asks_the_same(&self, other: &Self) -> bool {
        let of = |webhook: &Self| {
            let operations: Vec<_> = webhook
                .operations
                .iter()
                .map(|operation| operation.value)
                .collect();
            let conditions = webhook.match_conditions.iter();
            let conditions: Vec<_> = conditions
                .map(|condition| condition.expression.value.clone())
                .collect();
            (operations, webhook.failure_policy.value, conditions)
        };
        of(self) == of(other)
    }
}

/// An operation on an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// Creation.
    Create,
    /// Update.
    Update,
    /// Deletion.
    Delete,
}

impl Operation {
    /// The name in a configuration of webhooks.
    pub fn as_str(self) -> &'static str {
        match self {
            Operation::Create => "CREATE",
            Operation::Update => "UPDATE",
            Operation::Delete => "DELETE",
        }
    }
}

/// The treatment of a request for which the webhook does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailurePolicy {
    /// The request is refused.
    Fail,
    /// The request is admitted.
    Ignore,
}

impl FailurePolicy {
    /// The name in a configuration of webhooks.
    pub fn as_str(self) -> &'static str {
        match self {
            FailurePolicy::Fail => "Fail",
            FailurePolicy::Ignore => "Ignore",
        }
    }
}

/// A condition in CEL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchCondition {
    /// Its name.
    pub name: Spanned<String>,
    /// The expression.
    pub expression: Spanned<String>,
}
