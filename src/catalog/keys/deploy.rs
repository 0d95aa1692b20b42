//! How the operator runs, and how the API server calls it.

use super::Type::{Boolean, Duration, Either, Integer, List, Map, Mapping, Name, Quantity, String, Word};
use super::{NameOf, Type, optional, required, section};
use crate::names::{LabelKey, NamespaceName};

section! {
    /// The mapping under `deploy`.
    DeployKey in DEPLOY, "`deploy`":
    // One replica leads and the others stand by, or each takes some shards: more would only load the API server.
    Replicas = optional("replicas", Integer { min: 1, max: 100 },
        "The number of pods. Of several, one works and the others stand by.",
        "deploy: {replicas: 2}")
        .default("1");
    LeaderElection = optional("leaderElection", Boolean,
        "Whether the pods elect a leader, which alone works. Without it there is one pod, and a rollout ends it first.",
        "deploy: {leaderElection: false}")
        .default("`true`");
    // Each shard is a lease of its own, which the operator's role names.
    Shards = optional("shards", Integer { min: 1, max: 100 },
        "The number of parts into which objects are split, so that several pods share the work.",
        "deploy: {replicas: 2, shards: 4}")
        .unserved();
    Namespaces = optional("namespaces", List { of: &Name(NamespaceName::FORM), min: 1, max: None },
        "The namespaces that the operator works in. It gets Roles there instead of a ClusterRole.",
        "deploy: {namespaces: [forest, marsh]}")
        .default("all namespaces");
    Events = optional("events", Word(&["all", "warnings"]),
        "The Kubernetes events that the operator publishes: one for each transition and those of handlers, or only those \
         of the type `Warning`.",
        "deploy: {events: warnings}")
        .default("`all`");
    Resources = optional("resources", Mapping(&RESOURCES),
        "The resources of the operator's container.",
        "deploy: {resources: {requests: {cpu: 50m, memory: 64Mi}}}");
}

/// Amounts of resources.
const QUANTITIES: Type = Map {
    by: NameOf::Resource,
    of: &Quantity,
};

section! {
    /// The mapping under `deploy.resources`.
    ResourcesKey in RESOURCES, "`resources`":
    Requests = optional("requests", QUANTITIES,
        "What the container is guaranteed.",
        "deploy: {resources: {requests: {cpu: 50m, memory: 64Mi}}}");
    Limits = optional("limits", QUANTITIES,
        "What the container may use at most.",
        "deploy: {resources: {limits: {memory: 128Mi}}}");
}

/// An admission handler.
const WEBHOOK_VALUE: Type = Either(&[Boolean, Mapping(&WEBHOOK)]);

section! {
    /// The mapping under `webhooks`.
    WebhooksKey in WEBHOOKS, "`webhooks`":
    Validate = optional("validate", WEBHOOK_VALUE,
        "A handler that accepts or refuses objects; `true` takes all defaults.",
        "webhooks: {validate: true}")
        .unserved();
    Mutate = optional("mutate", WEBHOOK_VALUE,
        "A handler that changes objects before they are stored; `true` takes all defaults.",
        "webhooks: {mutate: {operations: [CREATE]}}")
        .unserved();
}

section! {
    /// A webhook that is more than `true`.
    WebhookKey in WEBHOOK, "a webhook":
    Operations = optional("operations",
        List { of: &Word(&["CREATE", "UPDATE", "DELETE", "create", "update", "delete"]), min: 1, max: None },
        "The operations for which the handler is called, at least one.",
        "webhooks: {validate: {operations: [CREATE, DELETE]}}")
        .default("`[CREATE, UPDATE]`")
        .unserved();
    FailurePolicy = optional("failurePolicy", Word(&["Fail", "Ignore"]),
        "Whether a request is refused or goes on where the handler cannot be reached.",
        "webhooks: {validate: {failurePolicy: Ignore}}")
        .default("`Fail`")
        .unserved();
    Timeout = optional("timeout", Duration,
        "How long the API server waits for the handler: 1 to 30 whole seconds.",
        "webhooks: {validate: {timeout: 5s}}")
        .default("`10s`")
        .unserved();
    MatchConditions = optional("matchConditions", List { of: &Mapping(&MATCH_CONDITION), min: 0, max: None },
        "Conditions in CEL that have to hold for the handler to be called.",
        "webhooks: {validate: {matchConditions: [{name: named, expression: object.metadata.name != \"\"}]}}")
        .unserved();
}

section! {
    /// A condition of a webhook.
    MatchConditionKey in MATCH_CONDITION, "a match condition":
    Name = required("name", Name(LabelKey::FORM),
        "The name of the condition.",
        "webhooks: {validate: {matchConditions: [{name: named, expression: object.metadata.name != \"\"}]}}")
        .unserved();
    Expression = required("expression", String,
        "The expression in CEL.",
        "webhooks: {validate: {matchConditions: [{name: named, expression: object.metadata.name != \"\"}]}}")
        .unserved();
}
