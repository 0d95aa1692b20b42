//! The manifest that runs the operator in a cluster.

use serde_json::{Value as Json, json};

use super::templates::Template;
use crate::finding::Spanned;
use crate::model::{Certificates, Description, PublishedEvents};
use crate::names::LabelKey;

/// The version of a new crate in its Cargo.toml, and the tag of its image.
pub(super) const FIRST_VERSION: &str = "0.1.0";

/// How a rollout replaces the pods that elect a leader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rollout {
    /// A new pod starts before an old one ends. Only for operators whose pods have always elected a leader: an old pod
    /// that does not would act beside the new ones.
    Rolling,
    /// The old pods end first.
    Recreate,
}

impl Rollout {
    /// The rollout that a crate keeps if krator last generated this Deployment for it.
    pub(crate) fn after(deployment: Option<&str>) -> Self {
        let replaced = deployment.is_some_and(|text| text.contains("\n    type: Recreate\n"));
        if replaced {
            Rollout::Recreate
        } else {
            Rollout::Rolling
        }
    }
}

/// `deploy/deployment.yaml`. It has one replica if the pods elect no leader, whatever the description says.
pub(crate) fn deployment(description: &Description, rollout: Rollout) -> String {
    let operator = description.operator.as_str();
    let resources = &description.deploy.resources;
    let is_unset = resources.requests.is_empty() && resources.limits.is_empty();
    let (requests, limits) = if is_unset {
        (
            json!([amount("cpu", "10m"), amount("memory", "64Mi")]),
            json!([amount("memory", "256Mi")]),
        )
    } else {
        (amounts(&resources.requests), amounts(&resources.limits))
    };
    let is_elected = description.deploy.leader_election.value;
    // The operator has rights in these namespaces only, so it must not watch others.
    let namespaces = description.deploy.namespaces.iter();
    let mut arguments = vec!["--metrics-bind-address=:8443".to_owned()];
    arguments.extend(namespaces.map(|name| format!("--namespace={}", name.value)));
    if is_elected {
        arguments.push("--leader-elect".to_owned());
    }
    if description.has_webhooks() {
        arguments.push("--webhook-bind-address=:9443".to_owned());
        if description.deploy.certificates == Certificates::Mounted {
            arguments.push("--webhook-cert-path=/certificates".to_owned());
        }
    }
    if description.deploy.migrate && description.has_versions() {
        arguments.push("--migrate".to_owned());
    }
    if description.deploy.events == PublishedEvents::Warnings {
        arguments.push("--events=warnings".to_owned());
    }
    Template::Deployment.render(&json!({
        "operator": operator,
        "image": format!("{operator}:{FIRST_VERSION}"),
        "replicas": if is_elected { description.deploy.replicas.value } else { 1 },
        "elected": is_elected,
        "rolling": is_elected && rollout == Rollout::Rolling,
        "arguments": arguments,
        "webhooks": description.has_webhooks(),
        "mounted": description.has_webhooks() && description.deploy.certificates == Certificates::Mounted,
        "certificates": crate::crd::webhook_service(operator),
        "requests": requests,
        "limits": limits,
    }))
}

fn amounts(amounts: &[(LabelKey, Spanned<String>)]) -> Json {
    amounts
        .iter()
        .map(|(name, text)| amount(name.as_str(), &text.value))
        .collect()
}

fn amount(name: &str, amount: &str) -> Json {
    json!({"name": name, "amount": amount})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::testing::{described, documents};

    fn container(more: &str) -> Json {
        let deployment = documents(&deployment(&described(more), Rollout::Rolling)).remove(0);
        deployment["spec"]["template"]["spec"]["containers"][0].clone()
    }

    #[test]
    fn several_pods_run_beside_each_other_only_if_they_elect_a_leader() {
        let spec = |deploy: &str| {
            documents(&deployment(&described(deploy), Rollout::Rolling)).remove(0)["spec"].clone()
        };
        let elected = spec("deploy: {replicas: 3}");
        assert_eq!(elected["replicas"], 3);
        // Both numbers are spelled out: what an apply leaves out keeps its default, which `Recreate` does not allow.
        let rolling = json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}});
        assert_eq!(elected["strategy"], rolling);
        let alone = spec("deploy: {leaderElection: false}");
        assert_eq!(alone["replicas"], 1);
        assert_eq!(alone["strategy"], json!({"type": "Recreate"}));
    }

    #[test]
    fn pods_that_elected_no_leader_end_before_others_start() {
        let alone = described("deploy: {leaderElection: false}");
        let elected = described("");
        let former = deployment(&alone, Rollout::Rolling);
        let rollout = Rollout::after(Some(&former));
        assert_eq!(rollout, Rollout::Recreate);
        let kept = deployment(&elected, rollout);
        assert_eq!(
            documents(&kept)[0]["spec"]["strategy"],
            json!({"type": "Recreate"})
        );
        assert!(kept.contains("--leader-elect"));
        // Only an edit of its owner changes that.
        assert_eq!(Rollout::after(Some(&kept)), Rollout::Recreate);
        let new = deployment(&elected, Rollout::after(None));
        assert_eq!(Rollout::after(Some(&new)), Rollout::Rolling);
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
    fn an_operator_called_like_a_yaml_boolean_keeps_its_name() {
        let description = described("operator: 'on'");
        let deployment = deployment(&description, Rollout::Rolling);
        assert_eq!(documents(&deployment)[0]["metadata"]["name"], "on");
        let values = crate::render::documents::values(&description);
        let namespace = documents(&Template::Namespace.render(&values));
        assert_eq!(namespace[0]["metadata"]["name"], "on");
        let kustomization = documents(&Template::Kustomization.render(&values));
        assert_eq!(
            kustomization[0]["images"],
            json!([{"name": "on", "newName": "on", "newTag": "0.1.0"}])
        );
    }
}
