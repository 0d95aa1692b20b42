//! How the operator gets into a cluster: its image, and what surrounds the pod.

use serde_json::{Value as Json, json};

use super::templates::Template;
use crate::finding::Spanned;
use crate::model::Description;
use crate::names::LabelKey;

/// Version of the image of a new crate, as its Cargo.toml has it.
pub(super) const FIRST_VERSION: &str = "0.1.0";

/// `deploy/namespace.yaml`.
pub fn namespace(description: &Description) -> String {
    Template::Namespace.render(&json!({"operator": description.operator.as_str()}))
}

/// `deploy/deployment.yaml`: one replica, whatever the description wants, until replicas can agree who acts.
pub fn deployment(description: &Description) -> String {
    let operator = description.operator.as_str();
    let resources = &description.deploy.resources;
    let is_silent = resources.requests.is_empty() && resources.limits.is_empty();
    let (requests, limits) = if is_silent {
        (
            json!([amount("cpu", "10m"), amount("memory", "64Mi")]),
            json!([amount("memory", "256Mi")]),
        )
    } else {
        (amounts(&resources.requests), amounts(&resources.limits))
    };
    let namespaces = description.deploy.namespaces.iter();
    Template::Deployment.render(&json!({
        "operator": operator,
        "image": format!("{operator}:{FIRST_VERSION}"),
        // Its rights end there, and so must its watches.
        "namespaces": namespaces.map(|name| format!("--namespace={}", name.value)).collect::<Vec<_>>(),
        "requests": requests,
        "limits": limits,
    }))
}

/// `deploy/kustomization.yaml`.
pub fn kustomization(description: &Description) -> String {
    Template::Kustomization.render(&json!({
        "operator": description.operator.as_str(),
        "version": FIRST_VERSION,
    }))
}

/// `Dockerfile`.
pub fn dockerfile(description: &Description) -> String {
    Template::Dockerfile.render(&json!({"operator": description.operator.as_str()}))
}

/// `.dockerignore`.
pub fn dockerignore() -> String {
    Template::Dockerignore.render(&json!({}))
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
        let deployment = documents(&deployment(&described(more))).remove(0);
        deployment["spec"]["template"]["spec"]["containers"][0].clone()
    }

    #[test]
    fn one_replica_at_a_time_whatever_is_wanted() {
        let description = described("deploy: {replicas: 3, leaderElection: true}");
        let deployment = documents(&deployment(&description)).remove(0);
        assert_eq!(deployment["spec"]["replicas"], 1);
        assert_eq!(deployment["spec"]["strategy"]["type"], "Recreate");
    }

    #[test]
    fn watches_end_where_rights_do() {
        assert_eq!(container("")["args"], Json::Null);
        let args = container("deploy: {namespaces: [a, '123']}")["args"].clone();
        assert_eq!(args, json!(["--namespace=a", "--namespace=123"]));
    }

    #[test]
    fn resources_are_small_unless_told() {
        let small = json!({"requests": {"cpu": "10m", "memory": "64Mi"}, "limits": {"memory": "256Mi"}});
        assert_eq!(container("")["resources"], small);
        let told = container("deploy: {resources: {limits: {cpu: 1, memory: 1e3}}}");
        assert_eq!(
            told["resources"],
            json!({"limits": {"cpu": "1", "memory": "1e3"}})
        );
    }

    #[test]
    fn an_operator_called_on_keeps_its_name() {
        let description = described("operator: 'on'");
        let names = |yaml: String| documents(&yaml).remove(0)["metadata"]["name"].clone();
        assert_eq!(names(deployment(&description)), "on");
        assert_eq!(names(namespace(&description)), "on");
        let kustomization = documents(&kustomization(&description)).remove(0);
        assert_eq!(
            kustomization["images"],
            json!([{"name": "on", "newName": "on", "newTag": "0.1.0"}])
        );
    }
}
