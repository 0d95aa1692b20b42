//! The image of the operator, and the manifests that run it in a cluster.

use serde_json::{Value as Json, json};

use super::templates::Template;
use crate::finding::Spanned;
use crate::model::Description;
use crate::names::LabelKey;

/// The version of a new crate in its Cargo.toml, and the tag of its image.
pub(super) const FIRST_VERSION: &str = "0.1.0";

/// `deploy/namespace.yaml`.
pub fn namespace(description: &Description) -> String {
    Template::Namespace.render(&json!({"operator": description.operator.as_str()}))
}

/// `deploy/deployment.yaml`. It has one replica whatever the description says, until leader election is implemented.
pub fn deployment(description: &Description) -> String {
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
    let namespaces = description.deploy.namespaces.iter();
    Template::Deployment.render(&json!({
        "operator": operator,
        "image": format!("{operator}:{FIRST_VERSION}"),
        // The operator has rights in these namespaces only, so it must not watch others.
        "namespaces": namespaces.map(|name| format!("--namespace={}", name.value)).collect::<Vec<_>>(),
        "requests": requests,
        "limits": limits,
    }))
}

/// `deploy/kustomization.yaml`.
pub(crate) fn kustomization(description: &Description) -> String {
    Template::Kustomization.render(&json!({
        "operator": description.operator.as_str(),
        "version": FIRST_VERSION,
    }))
}

/// `Dockerfile`.
pub(crate) fn dockerfile(description: &Description) -> String {
    Template::Dockerfile.render(&json!({"operator": description.operator.as_str()}))
}

/// `.dockerignore`.
pub(crate) fn dockerignore() -> String {
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
    fn there_is_one_replica_at_a_time_whatever_the_description_says() {
        let description = described("deploy: {replicas: 3, leaderElection: true}");
        let deployment = documents(&deployment(&description)).remove(0);
        assert_eq!(deployment["spec"]["replicas"], 1);
        assert_eq!(deployment["spec"]["strategy"]["type"], "Recreate");
    }

    #[test]
    fn the_operator_watches_only_the_listed_namespaces() {
        assert_eq!(container("")["args"], Json::Null);
        let args = container("deploy: {namespaces: [a, '123']}")["args"].clone();
        assert_eq!(args, json!(["--namespace=a", "--namespace=123"]));
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
