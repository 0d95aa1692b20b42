//! How the operator runs.

use super::Type::{Boolean, Integer, List, Map, Mapping, Name, Quantity, Word};
use super::{NameOf, Type, optional, section};
use crate::names::NamespaceName;

section! {
    /// The mapping under `deploy`.
    DeployKey in DEPLOY, "`deploy`":
    // One replica leads and the others stand by: more would only load the API server.
    Replicas = optional("replicas", Integer { min: 1, max: 100 },
        "The number of pods. Of several, one works and the others stand by.",
        "deploy: {replicas: 2}")
        .default("1");
    LeaderElection = optional("leaderElection", Boolean,
        "Whether the pods elect a leader, which alone works. Without it there is one pod, and a rollout ends it first.",
        "deploy: {leaderElection: false}")
        .default("`true`");
    Namespaces = optional("namespaces", List { of: &Name(NamespaceName::FORM), min: 1, max: None },
        "The namespaces that the operator works in. It gets Roles there instead of a ClusterRole.",
        "deploy: {namespaces: [forest, marsh]}")
        .default("all namespaces");
    Events = optional("events", Word(&["all", "warnings"]),
        "The Kubernetes events that the operator publishes: one for each transition and those of handlers, or only those \
         of the type `Warning`.",
        "deploy: {events: warnings}")
        .default("`all`");
    Certificates = optional("certificates", Word(&["own", "mounted"]),
        "The certificates of webhooks: the operator makes and renews them, or somebody mounts them at `/certificates` \
         and tells the API server to trust them, as cert-manager does.",
        "deploy: {certificates: mounted}")
        .default("`own`");
    Migrate = optional("migrate", Boolean,
        "Whether the operator moves stored objects to the version in which objects are stored now. It gets the right to change \
         the CRD and its status, by name, and to list and to patch all objects of the kind.",
        "deploy: {migrate: true}")
        .default("`false`");
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
