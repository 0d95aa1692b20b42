//! The objects that run the operator in a cluster, as values: its namespace, its Deployment, and the objects beside it.

mod extras;

pub(super) use extras::{certificates, disruption_budget, metrics_name, metrics_service, network_policy};

use serde_json::{Map, Value as Json, json};

use crate::finding::Spanned;
use crate::model::{Certificates, Description, PublishedEvents};
use crate::names::LabelKey;
use crate::yaml::comment;

/// The version of a new crate in its Cargo.toml, and the tag of its image.
pub(super) const FIRST_VERSION: &str = "0.1.0";

/// The default port of the metrics.
pub(super) const METRICS_PORT: u16 = 8443;

/// The values that can be set at installation. Each is a value of the description, or its placeholder in a chart.
pub(super) struct Settings {
    pub replicas: Json,
    pub image: Json,
    pub pull_policy: Json,
    pub pull_secrets: Json,
    /// The argument for the metrics, which may be off.
    pub metrics: Json,
    pub metrics_port: Json,
    pub args: Json,
    pub env: Json,
    pub resources: Json,
    pub node_selector: Json,
    pub tolerations: Json,
    pub affinity: Json,
}

impl Settings {
    /// The values of the description. Without leader election there is always one replica.
    pub fn of(description: &Description) -> Self {
        let deploy = &description.deploy;
        let replicas = match deploy.leader_election.value {
            true => deploy.replicas.value,
            false => 1,
        };
        let image = match &deploy.image {
            Some(image) => image.as_str().to_owned(),
            None => format!("{}:{FIRST_VERSION}", description.operator.as_str()),
        };
        let selected = deploy.node_selector.iter();
        let selected = selected.map(|(label, value)| (label.as_str().to_owned(), value.as_str().into()));
        Self {
            replicas: replicas.into(),
            image: image.into(),
            pull_policy: "IfNotPresent".into(),
            pull_secrets: json!([]),
            metrics: format!("--metrics-bind-address=:{METRICS_PORT}").into(),
            metrics_port: METRICS_PORT.into(),
            args: deploy.args.iter().map(String::as_str).collect(),
            env: deploy.env.iter().cloned().collect(),
            resources: resources(description),
            node_selector: Json::Object(selected.collect()),
            tolerations: deploy.tolerations.iter().cloned().collect(),
            affinity: deploy.affinity.clone().unwrap_or_else(|| json!({})),
        }
    }
}

/// The arguments from the description, except for that of the metrics.
fn arguments(description: &Description) -> Vec<String> {
    let deploy = &description.deploy;
    // The operator has rights in these namespaces only, so it must not watch others.
    let namespaces = deploy.namespaces.iter();
    let mut arguments: Vec<String> = namespaces
        .map(|name| format!("--namespace={}", name.value))
        .collect();
    if deploy.leader_election.value {
        arguments.push("--leader-elect".to_owned());
    }
    if description.has_webhooks() {
        arguments.push("--webhook-bind-address=:9443".to_owned());
        if deploy.certificates == Certificates::Mounted {
            arguments.push("--webhook-cert-path=/certificates".to_owned());
        }
    }
    if deploy.migrate && description.has_versions() {
        arguments.push("--migrate".to_owned());
    }
    if deploy.events == PublishedEvents::Warnings {
        arguments.push("--events=warnings".to_owned());
    }
    arguments
}

/// The labels by which pods of the operator are selected. They cannot be changed after the deployment, so they are not
/// among the labels that users and tools expect to change.
pub(super) fn selector(description: &Description) -> Json {
    json!({"control-plane": description.operator.as_str()})
}

/// The namespace of the operator.
pub(super) fn namespace(description: &Description) -> Json {
    let mut labels = Map::new();
    let meets = "The Deployment meets the strictest of the Pod Security Standards.";
    comment(
        &mut labels,
        "pod-security.kubernetes.io/enforce",
        meets,
        "restricted".into(),
    );
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": &description.namespace, "labels": labels}})
}

/// The Deployment.
pub(super) fn deployment(description: &Description, settings: &Settings) -> Json {
    let operator = description.operator.as_str();
    let (why, strategy) = match description.deploy.leader_election.value {
        true => (
            "Only the leader acts; the others stand by. A rollout starts the new pod first; the old one then\n\
             releases leadership.",
            // Both numbers are written, because an apply without them keeps their defaults, which `Recreate` does not
            // allow.
            json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}),
        ),
        false => (
            "One replica, and no second one during a rollout: two operators would both handle every object.",
            json!({"type": "Recreate"}),
        ),
    };
    let mut spec = Map::new();
    comment(&mut spec, "replicas", why, settings.replicas.clone());
    spec.insert("strategy".to_owned(), strategy);
    spec.insert(
        "selector".to_owned(),
        json!({"matchLabels": selector(description)}),
    );
    spec.insert(
        "template".to_owned(),
        json!({"metadata": {"labels": selector(description)}, "spec": pod(description, settings)}),
    );
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": operator, "namespace": &description.namespace},
        "spec": spec,
    })
}

fn pod(description: &Description, settings: &Settings) -> Json {
    let mut pod = Map::new();
    pod.insert(
        "serviceAccountName".to_owned(),
        description.operator.as_str().into(),
    );
    let grace = "After SIGTERM, the operator waits up to 25 seconds for running handlers.";
    comment(&mut pod, "terminationGracePeriodSeconds", grace, 30.into());
    let security = json!({
        "runAsNonRoot": true,
        "runAsUser": 65532,
        "runAsGroup": 65532,
        "seccompProfile": {"type": "RuntimeDefault"},
    });
    pod.insert("securityContext".to_owned(), security);
    put(&mut pod, "imagePullSecrets", &settings.pull_secrets);
    pod.insert("containers".to_owned(), json!([container(description, settings)]));
    if is_mounted(description) {
        let mut volume = Map::new();
        volume.insert("name".to_owned(), "certificates".into());
        let what = "A Secret of the type kubernetes.io/tls, as cert-manager creates it.";
        let secret = json!({"secretName": crate::crd::webhook_service(description.operator.as_str())});
        comment(&mut volume, "secret", what, secret);
        pod.insert("volumes".to_owned(), json!([volume]));
    }
    put(&mut pod, "nodeSelector", &settings.node_selector);
    put(&mut pod, "tolerations", &settings.tolerations);
    put(&mut pod, "affinity", &settings.affinity);
    Json::Object(pod)
}

fn container(description: &Description, settings: &Settings) -> Json {
    let mut container = Map::new();
    let mut args = vec![settings.metrics.clone()];
    args.extend(arguments(description).into_iter().map(Json::from));
    match &settings.args {
        Json::Array(more) => args.extend(more.iter().cloned()),
        marker => args.push(marker.clone()),
    }
    let mut ports = vec![
        json!({"name": "health", "containerPort": 8081}),
        json!({"name": "metrics", "containerPort": settings.metrics_port}),
    ];
    if description.has_webhooks() {
        ports.push(json!({"name": "webhooks", "containerPort": 9443}));
    }
    let mut set = |key: &str, value: Json| drop(container.insert(key.to_owned(), value));
    set("name", "manager".into());
    set("image", settings.image.clone());
    set("imagePullPolicy", settings.pull_policy.clone());
    set("args", args.into());
    put(&mut container, "env", &settings.env);
    container.insert("ports".to_owned(), ports.into());
    if description.has_webhooks() {
        let why = "The API server keeps sending requests until it has observed that the pod terminates.";
        comment(
            &mut container,
            "lifecycle",
            why,
            json!({"preStop": {"sleep": {"seconds": 3}}}),
        );
    }
    if is_mounted(description) {
        let mount = json!([{"name": "certificates", "mountPath": "/certificates", "readOnly": true}]);
        container.insert("volumeMounts".to_owned(), mount);
    }
    let probe = |path: &str| json!({"httpGet": {"path": path, "port": "health"}});
    let (alive, ready) = (
        "Fails when the event loop of a kind is stuck.",
        "Fails until every kind is listed. The body of the answer says what is missing.",
    );
    comment(&mut container, "livenessProbe", alive, probe("/livez"));
    comment(&mut container, "readinessProbe", ready, probe("/readyz"));
    let security = json!({
        "allowPrivilegeEscalation": false,
        "readOnlyRootFilesystem": true,
        "capabilities": {"drop": ["ALL"]},
    });
    container.insert("securityContext".to_owned(), security);
    put(&mut container, "resources", &settings.resources);
    Json::Object(container)
}

/// Adds a field, unless it is empty.
fn put(object: &mut Map<String, Json>, key: &str, value: &Json) {
    let is_empty = match value {
        Json::Array(items) => items.is_empty(),
        Json::Object(fields) => fields.is_empty(),
        _ => false,
    };
    if !is_empty {
        object.insert(key.to_owned(), value.clone());
    }
}

/// Whether the certificates of the webhooks are mounted.
fn is_mounted(description: &Description) -> bool {
    description.has_webhooks() && description.deploy.certificates == Certificates::Mounted
}

/// The resources of the container; small ones by default.
fn resources(description: &Description) -> Json {
    let described = &description.deploy.resources;
    if described.requests.is_empty() && described.limits.is_empty() {
        return json!({"requests": {"cpu": "10m", "memory": "64Mi"}, "limits": {"memory": "256Mi"}});
    }
    let mut resources = Map::new();
    put(&mut resources, "requests", &amounts(&described.requests));
    put(&mut resources, "limits", &amounts(&described.limits));
    Json::Object(resources)
}

fn amounts(amounts: &[(LabelKey, Spanned<String>)]) -> Json {
    let amounts = amounts.iter();
    Json::Object(
        amounts
            .map(|(name, amount)| (name.as_str().to_owned(), amount.value.as_str().into()))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::testing::described;
    use crate::yaml;

    fn made(more: &str) -> Json {
        let description = described(more);
        yaml::bare(deployment(&description, &Settings::of(&description)))
    }

    fn container(more: &str) -> Json {
        made(more)["spec"]["template"]["spec"]["containers"][0].clone()
    }

    #[test]
    fn several_pods_run_beside_each_other_only_if_they_elect_a_leader() {
        let spec = |deploy: &str| made(deploy)["spec"].clone();
        let elected = spec("deploy: {replicas: 3}");
        assert_eq!(elected["replicas"], 3);
        // Both numbers are written, because an apply without them keeps their defaults, which `Recreate` does not
        // allow.
        let rolling = json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}});
        assert_eq!(elected["strategy"], rolling);
        let alone = spec("deploy: {leaderElection: false}");
        assert_eq!(alone["replicas"], 1);
        assert_eq!(alone["strategy"], json!({"type": "Recreate"}));
    }

    #[test]
    fn the_operator_watches_only_the_listed_namespaces() {
        const METRICS: &str = "--metrics-bind-address=:8443";
        assert_eq!(container("")["args"], json!([METRICS, "--leader-elect"]));
        let args = container("deploy: {namespaces: [a, '123'], leaderElection: false}")["args"].clone();
        assert_eq!(args, json!([METRICS, "--namespace=a", "--namespace=123"]));
        let warnings = container("deploy: {events: warnings}")["args"].clone();
        assert_eq!(warnings, json!([METRICS, "--leader-elect", "--events=warnings"]));
    }

    #[test]
    fn resources_are_small_by_default() {
        let small = json!({"requests": {"cpu": "10m", "memory": "64Mi"}, "limits": {"memory": "256Mi"}});
        assert_eq!(container("")["resources"], small);
        let described = container("deploy: {resources: {limits: {cpu: 1, memory: 1e3}}}");
        assert_eq!(
            described["resources"],
            json!({"limits": {"cpu": "1", "memory": "1e3"}})
        );
    }

    #[test]
    fn the_description_says_what_a_pod_has() {
        let deploy = "deploy: {image: 'ghcr.io/acme/thing:2', args: [--x], env: [{name: A, value: b}], nodeSelector: {a: b}, \
                      tolerations: [{operator: Exists}], affinity: {nodeAffinity: {}}}";
        let container = container(deploy);
        assert_eq!(container["image"], "ghcr.io/acme/thing:2");
        assert_eq!(container["env"], json!([{"name": "A", "value": "b"}]));
        assert_eq!(container["args"][2], "--x");
        let pod = &made(deploy)["spec"]["template"]["spec"];
        assert_eq!(pod["nodeSelector"], json!({"a": "b"}));
        assert_eq!(pod["tolerations"], json!([{"operator": "Exists"}]));
        assert_eq!(pod["affinity"], json!({"nodeAffinity": {}}));
    }
}
