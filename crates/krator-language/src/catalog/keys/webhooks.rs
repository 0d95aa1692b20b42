//! The webhooks that the API server calls before it stores an object.

use super::Type::{Duration, List, Mapping, Name, String, Word};
use super::{optional, required, section};
use crate::names::ResourceName;

section! {
    /// The mapping under `webhooks`.
    WebhooksKey in WEBHOOKS, "`webhooks`":
    Validate = optional("validate", Mapping(&WEBHOOK),
        "The operator decides whether objects may be stored: `Validate` in `src/<kind>/admission.rs`.",
        "webhooks: {validate: {timeout: 5s}}");
    Mutate = optional("mutate", Mapping(&WEBHOOK),
        "The operator changes objects before they are stored: `Mutate` in `src/<kind>/admission.rs`.",
        "webhooks: {mutate: {timeout: 5s}}");
}

section! {
    /// A webhook.
    WebhookKey in WEBHOOK, "a webhook":
    Operations = optional("operations", List { of: &Word(&["create", "update", "delete", "CREATE", "UPDATE", "DELETE"]), min: 1, max: None },
        "The operations for which the webhook is called, in lower case or as in the API. `delete` is for `validate` \
         only, and needs `failurePolicy: Ignore`.",
        "webhooks: {validate: {operations: [create]}}")
        .default("`[create, update]`");
    FailurePolicy = optional("failurePolicy", Word(&["Fail", "Ignore"]),
        "Whether a request is refused or allowed when no replica responds in time.",
        "webhooks: {validate: {failurePolicy: Ignore}}")
        .default("`Fail`");
    Timeout = optional("timeout", Duration,
        "How long the API server waits for an answer: whole seconds, from 1 to 30.",
        "webhooks: {validate: {timeout: 5s}}")
        .default("10s");
    MatchConditions = optional("matchConditions", List { of: &Mapping(&MATCH_CONDITION), min: 0, max: Some(62) },
        "Further conditions in CEL for a request: the webhook is called only if all of them are true.",
        "webhooks: {validate: {matchConditions: [{name: has-a-zone, expression: has(object.spec.zone)}]}}");
}

section! {
    /// A condition for requests.
    MatchConditionKey in MATCH_CONDITION, "a match condition":
    Name = required("name", Name(ResourceName::PATTERN),
        "The name of the condition.",
        "webhooks: {validate: {matchConditions: [{name: has-a-zone, expression: has(object.spec.zone)}]}}");
    Expression = required("expression", String,
        "The condition, over `object`, `oldObject`, `request` and `authorizer`. `object` is null for a deletion, and `oldObject` for a creation.",
        "webhooks: {validate: {matchConditions: [{name: has-a-zone, expression: has(object.spec.zone)}]}}");
}
