//! How the operator runs.

use super::Type::{Any, Boolean, Integer, List, Map, Mapping, Name, Quantity, Word};
use super::{NameOf, Type, optional, section};
use crate::names::{ImageName, NamespaceName, PageAddress};

section! {
    /// The mapping under `deploy`.
    DeployKey in DEPLOY, "`deploy`":
    // One replica leads and the others are on standby, so a larger number would only load the API server.
    Replicas = optional("replicas", Integer { min: 1, max: 100 },
        "The number of pods. If there are several, one works and the others are on standby.",
        "deploy: {replicas: 2}")
        .default("1");
    LeaderElection = optional("leaderElection", Boolean,
        "Whether the pods elect a leader, the only pod that works. Without an election there is one pod, and a rollout \
         ends it before the new one starts. Before you turn the election on again, scale the Deployment to zero: a pod \
         without an election does not stop for a leader.",
        "deploy: {leaderElection: false}")
        .default("`true`");
    Namespaces = optional("namespaces", List { of: &Name(NamespaceName::PATTERN), min: 1, max: None },
        "The namespaces that the operator works in. It gets Roles there instead of a ClusterRole.",
        "deploy: {namespaces: [forest, marsh]}")
        .default("all namespaces");
    Events = optional("events", Word(&["all", "warnings"]),
        "The Kubernetes events that the operator publishes. With `all`, it publishes one for each transition, and \
         those of handlers; with `warnings`, only events of the type `Warning`.",
        "deploy: {events: warnings}")
        .default("`all`");
    Certificates = optional("certificates", Word(&["own", "mounted"]),
        "The certificates of webhooks. With `own`, the operator creates and renews them. With `mounted`, they are \
         mounted at `/certificates`, and another tool such as cert-manager makes the API server trust them.",
        "deploy: {certificates: mounted}")
        .default("`own`");
    Migrate = optional("migrate", Boolean,
        "Whether the operator rewrites stored objects in the present storage version. It gets the right to change the \
         CRD and its status, by name, and to list and patch all objects of the kind.",
        "deploy: {migrate: true}")
        .default("`false`");
    Chart = optional("chart", Boolean,
        "Whether the crate has a Helm chart, in `deploy/chart/`. It installs the same objects as \
         `deploy/kustomization.yaml`.",
        "deploy: {chart: true}")
        .default("`false`");
    Install = optional("install", Boolean,
        "Whether the crate has all manifests in one file, `dist/install.yaml`, so that users can apply it by its URL. \
         Without this key, `krator gen install` prints that file.",
        "deploy: {install: true}")
        .default("`false`");
    Monitoring = optional("monitoring", Boolean,
        "Whether the crate has alerts for Prometheus and a dashboard for Grafana, in `deploy/components/monitoring/`. \
         A crate with `slo` always has them.",
        "deploy: {monitoring: true}")
        .default("`false`");
    NetworkPolicy = optional("networkPolicy", Boolean,
        "Whether the crate has a NetworkPolicy that allows only namespaces with the label `metrics: enabled` to reach \
         the metrics, in `deploy/components/network-policy/`.",
        "deploy: {networkPolicy: true}")
        .default("`false`");
    Runbook = optional("runbook", Name(PageAddress::PATTERN),
        "The URL of `docs/runbook.md` of the crate. Alerts link to its sections.",
        "deploy: {runbook: 'https://git.example.com/zoo/docs/runbook.md'}")
        .default("the path of the file");
    Image = optional("image", Name(ImageName::PATTERN),
        "The image of the operator, with its tag or its digest. It is the default of the manifests and the chart, \
         which can be installed with another image.",
        "deploy: {image: 'ghcr.io/acme/zoo:1.2.0'}")
        .default("the operator's name and `0.1.0`");
    Args = optional("args", List { of: &Type::String, min: 0, max: None },
        "Arguments of the operator in addition to those that follow from the description.",
        "deploy: {args: ['--log-format=json']}");
    Env = optional("env", List { of: &Any, min: 0, max: None },
        "The environment variables of the operator's container, as in `env` of a Pod's container.",
        "deploy: {env: [{name: RUST_LOG, value: info}, {name: TOKEN, valueFrom: {secretKeyRef: {name: zoo, key: token}}}]}");
    Resources = optional("resources", Mapping(&RESOURCES),
        "The resources of the operator's container.",
        "deploy: {resources: {requests: {cpu: 50m, memory: 64Mi}}}");
    NodeSelector = optional("nodeSelector", Map { by: NameOf::Label, of: &Type::String },
        "The labels of the nodes that the operator may run on.",
        "deploy: {nodeSelector: {kubernetes.io/arch: arm64}}");
    Tolerations = optional("tolerations", List { of: &Any, min: 0, max: None },
        "The taints of nodes that the operator tolerates, as in `tolerations` of a Pod.",
        "deploy: {tolerations: [{key: node-role.kubernetes.io/control-plane, operator: Exists, effect: NoSchedule}]}");
    Affinity = optional("affinity", Any,
        "The nodes that the operator prefers or requires, as in `affinity` of a Pod.",
        "deploy: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: \
         [{matchExpressions: [{key: kubernetes.io/os, operator: In, values: [linux]}]}]}}}}");
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
        "The resources that are guaranteed to the container.",
        "deploy: {resources: {requests: {cpu: 50m, memory: 64Mi}}}");
    Limits = optional("limits", QUANTITIES,
        "The maximum of the resources that the container may use.",
        "deploy: {resources: {limits: {memory: 128Mi}}}");
}
