//! The operator's ServiceAccount and its rights: exactly those that its description needs, without wildcards.

pub(crate) mod rights;

use serde_json::{Value as Json, json};

use crate::model::Description;
use crate::names::VERBS;
use crate::policies::APPROVE;
use rights::Permissions;

const API_VERSION: &str = "rbac.authorization.k8s.io/v1";

/// The ServiceAccount, its roles and their bindings, and roles for users of the objects, of the metrics and of the
/// page.
pub fn rbac(description: &Description) -> Vec<Json> {
    let operator = description.operator.as_str();
    let home = &*description.namespace;
    let rights = Permissions::of(description);
    let mut documents = vec![json!({
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": named(operator, Some(home)),
    })];
    documents.extend(granted(
        "ClusterRole",
        (operator, home),
        None,
        rights.cluster.policy(),
    ));
    for (namespace, rules) in &rights.namespaces {
        let namespace = Some(&**namespace);
        documents.extend(granted("Role", (operator, home), namespace, rules.policy()));
    }
    documents.extend(of_users(description));
    documents.extend(approver(description));
    // The role to bind to the client that scrapes the metrics, such as Prometheus.
    documents.push(reader(&format!("{operator}-metrics-reader"), &["/metrics"]));
    // The role to bind to users who look at the objects: the page at `/` shows the data of `/state`.
    documents.push(reader(&format!("{operator}-state-reader"), &["/state", "/"]));
    documents
}

/// Roles for users of the objects, which are aggregated into the roles `view`, `edit` and `admin` of Kubernetes. Only
/// the operator writes the status.
fn of_users(description: &Description) -> [Json; 3] {
    let role = |name: &str, verbs: &[&str], scale: &[&str]| {
        let mut rules = Vec::new();
        for kind in &description.kinds {
            let group = kind.resource.group.as_str();
            let plural = kind.resource.plural.as_str();
            let mut rule = |resource: String, verbs: &[&str]| {
                rules.push(json!({"apiGroups": [group], "resources": [resource], "verbs": verbs}));
            };
            rule(plural.to_owned(), verbs);
            rule(format!("{plural}/status"), &["get"]);
            if kind.resource.scale.is_some() {
                rule(format!("{plural}/scale"), scale);
            }
        }
        let mut metadata = named(&format!("{}-{name}", description.operator.as_str()), None);
        metadata["labels"] = json!({format!("rbac.authorization.k8s.io/aggregate-to-{name}"): "true"});
        json!({"apiVersion": API_VERSION, "kind": "ClusterRole", "metadata": metadata, "rules": rules})
    };
    let scaled = ["get", "update", "patch"];
    [
        role("view", &VERBS[..3], &["get"]),
        role("edit", &VERBS[..7], &scaled),
        role("admin", &VERBS, &scaled),
    ]
}

/// The role to bind to users who approve that objects enter states. It is not aggregated into another role, because the
/// right to edit an object must not include its approval.
fn approver(description: &Description) -> Option<Json> {
    let kinds = description.kinds.iter().filter(|kind| kind.needs_approvals());
    let rules: Vec<Json> = kinds
        .map(|kind| {
            let resource = &kind.resource;
            json!({
                "apiGroups": [resource.group.as_str()],
                "resources": [resource.plural.as_str()],
                "verbs": ["get", "list", "watch", "patch", APPROVE],
            })
        })
        .collect();
    let name = format!("{}-approver", description.operator.as_str());
    (!rules.is_empty()).then(|| {
        json!({
            "apiVersion": API_VERSION,
            "kind": "ClusterRole",
            "metadata": named(&name, None),
            "rules": rules,
        })
    })
}

/// A role for readers of paths of the operator's own server. It is not bound.
fn reader(name: &str, paths: &[&str]) -> Json {
    json!({
        "apiVersion": API_VERSION,
        "kind": "ClusterRole",
        "metadata": named(name, None),
        "rules": [{"nonResourceURLs": paths, "verbs": ["get"]}],
    })
}

/// A role, and its binding to the operator.
fn granted(
    kind: &str,
    (operator, home): (&str, &str),
    namespace: Option<&str>,
    rules: Vec<Json>,
) -> [Json; 2] {
    let role = json!({
        "apiVersion": API_VERSION,
        "kind": kind,
        "metadata": named(operator, namespace),
        "rules": rules,
    });
    let binding = json!({
        "apiVersion": API_VERSION,
        "kind": format!("{kind}Binding"),
        "metadata": named(operator, namespace),
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": operator},
        "subjects": [{"kind": "ServiceAccount", "name": operator, "namespace": home}],
    });
    [role, binding]
}

fn named(name: &str, namespace: Option<&str>) -> Json {
    match namespace {
        Some(namespace) => json!({"name": name, "namespace": namespace}),
        None => json!({"name": name}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::testing::{described, from};

    /// The operator's rules, each as `namespace: group/resources verbs`, with `*` for the whole cluster. The rules that
    /// all operators have for reviews of tokens are left out.
    fn rules(description: &Description) -> Vec<String> {
        let words = |value: &Json| {
            let words = value.as_array().into_iter().flatten().filter_map(Json::as_str);
            words.collect::<Vec<_>>().join(",")
        };
        let documents = rbac(description);
        let is_own = |role: &Json| role["metadata"]["name"] == *description.operator.as_str();
        let roles = documents
            .iter()
            .filter(|document| document["rules"].is_array() && is_own(document));
        roles
            .flat_map(|role| {
                let place = role["metadata"]["namespace"].as_str().unwrap_or("*");
                role["rules"].as_array().into_iter().flatten().map(move |rule| {
                    let (groups, resources) = (words(&rule["apiGroups"]), words(&rule["resources"]));
                    let names = match words(&rule["resourceNames"]) {
                        names if names.is_empty() => names,
                        names => format!(" {names}:"),
                    };
                    format!("{place}: {groups}/{resources}{names} {}", words(&rule["verbs"]))
                })
            })
            .filter(|rule| !REVIEWS.contains(&rule.as_str()))
            .collect()
    }

    const REVIEWS: [&str; 2] = [
        "*: authentication.k8s.io/tokenreviews create",
        "*: authorization.k8s.io/subjectaccessreviews create",
    ];
    const LEASE: &str = "thing-operator-system: coordination.k8s.io/leases thing-operator: get,create,update";
    const EVENTS: &str = "*: events.k8s.io/events create,patch";
    const KIND: &str = "*: example.com/things get,list,watch";
    const STATUS: &str = "*: example.com/things/status patch";

    #[test]
    fn every_operator_reads_its_kind_patches_status_and_publishes_events() {
        assert_eq!(rules(&described("")), [EVENTS, KIND, STATUS, LEASE]);
    }

    #[test]
    fn only_replicas_that_elect_a_leader_need_a_lease() {
        let alone = described("deploy: {leaderElection: false}");
        assert_eq!(rules(&alone), [EVENTS, KIND, STATUS]);
    }

    #[test]
    fn owner_references_that_block_deletion_need_the_right_to_set_finalizers() {
        let owner = described("owns: [core/v1.ConfigMap]");
        let finalizers = "*: example.com/things/finalizers update";
        assert!(rules(&owner).iter().any(|rule| rule == finalizers));
        let path = "machine: {initial: A, deletion: Z}\nstates: {A: {kind: ready}, Z: {kind: final}}";
        let text = "krator: 1\nresource: {group: example.com, version: v1, kind: Thing}\nspec: {a: string}\n";
        for deletion in ["last", "keep"] {
            let owns = format!("owns: [{{kind: core/v1.ConfigMap, deletion: {deletion}}}]");
            let rules = rules(&from(&format!("{text}{path}\n{owns}\n")));
            assert!(
                !rules.iter().any(|rule| rule == finalizers),
                "{deletion} has no reference"
            );
            assert!(rules.contains(&"*: /configmaps get,list,watch,create,patch,delete".to_owned()));
        }
    }

    #[test]
    fn every_operator_may_ask_who_reads_what_it_serves_wherever_it_works() {
        for deploy in ["", "deploy: {namespaces: [a]}"] {
            let documents = rbac(&described(deploy));
            let of_kind =
                |kind: &'static str| documents.iter().filter(move |document| document["kind"] == kind);
            let names: Vec<&Json> = of_kind("ClusterRole")
                .map(|role| &role["metadata"]["name"])
                .collect();
            assert_eq!(
                names,
                [
                    "thing-operator",
                    "thing-operator-view",
                    "thing-operator-edit",
                    "thing-operator-admin",
                    "thing-operator-metrics-reader",
                    "thing-operator-state-reader"
                ],
                "{deploy}"
            );
            let text = of_kind("ClusterRole").map(Json::to_string).collect::<String>();
            for granted in [
                "tokenreviews",
                "subjectaccessreviews",
                r#""nonResourceURLs":["/metrics"]"#,
                r#""nonResourceURLs":["/state","/"]"#,
            ] {
                assert!(text.contains(granted), "{granted}: {text}");
            }
            let bound: Vec<&Json> = of_kind("ClusterRoleBinding")
                .map(|role| &role["roleRef"]["name"])
                .collect();
            assert_eq!(
                bound,
                ["thing-operator"],
                "whoever reads is bound to the other roles"
            );
        }
    }

    #[test]
    fn only_finalizers_need_patch_and_only_final_states_outside_deletion_need_delete() {
        let kind_with = |machine: &str, states: &str| {
            let text = format!(
                "krator: 1\nresource: {{group: example.com, version: v1, kind: Thing}}\nspec: {{a: string}}\n\
                 machine: {{initial: Ready{machine}}}\nstates: {{Ready: {{kind: ready, next: [Over]}}, {states}}}\n"
            );
            rules(&from(&text)).swap_remove(1)
        };
        assert_eq!(
            kind_with(", deletion: Gone", "Over: {kind: failed}, Gone: {kind: final}"),
            format!("{KIND},patch")
        );
        assert_eq!(kind_with("", "Over: {kind: final}"), format!("{KIND},delete"));
        let both = kind_with(", deletion: Gone", "Over: {kind: final}, Gone: {kind: final}");
        assert_eq!(both, format!("{KIND},patch,delete"));
    }

    #[test]
    fn rights_to_other_kinds_are_merged() {
        let others = "owns: [core/v1.Service, core/v1.ConfigMap]\n\
                      watches: [{kind: core/v1.Pod, all: true}, {kind: core/v1.Service, all: true}]\n\
                      access:\n\
                      - {kind: core/v1.Pod, verbs: [patch, get]}\n\
                      - {kind: core/v1.Pod, resource: pods/exec, verbs: [create]}\n";
        assert_eq!(
            rules(&described(others)),
            [
                "*: /pods/exec create",
                "*: /configmaps,services get,list,watch,create,patch,delete",
                "*: /pods get,list,watch,patch",
                EVENTS,
                KIND,
                STATUS,
                "*: example.com/things/finalizers update",
                LEASE,
            ]
        );
    }

    #[test]
    fn listed_namespaces_get_roles_and_only_kinds_without_a_namespace_are_cluster_wide() {
        let text = "watches: [{kind: core/v1.Node, all: true}, {kind: core/v1.Secret, all: true, namespace: vault}, \
                    {kind: soil.org/v1.Policy, scope: Cluster, all: true}]\n\
                    access: [{kind: soil.org/v1.Policy, verbs: [patch]}, {kind: soil.org/v1.Sample, scope: Namespaced, verbs: [get]}]\n\
                    deploy: {namespaces: [a, thing-operator-system]}";
        assert_eq!(
            rules(&described(text)),
            [
                "*: /nodes list,watch",
                "*: soil.org/policies list,watch,patch",
                "a: /namespaces a: get",
                "a: events.k8s.io/events create,patch",
                "a: example.com/things get,list,watch",
                "a: example.com/things/status patch",
                "a: soil.org/samples get",
                "thing-operator-system: /namespaces thing-operator-system: get",
                "thing-operator-system: coordination.k8s.io/leases thing-operator: get,create,update",
                "thing-operator-system: events.k8s.io/events create,patch",
                "thing-operator-system: example.com/things get,list,watch",
                "thing-operator-system: example.com/things/status patch",
                "thing-operator-system: soil.org/samples get",
                "vault: /secrets list,watch",
            ]
        );
    }

    #[test]
    fn events_of_cluster_scoped_objects_are_in_the_default_namespace() {
        let text = "krator: 1\nresource: {group: example.com, version: v1, kind: Thing, scope: Cluster}\n\
                    spec: {a: string}\nmachine: {initial: Ready}\nstates: {Ready: {kind: ready}}\n";
        assert_eq!(
            rules(&from(text)),
            [KIND, STATUS, "default: events.k8s.io/events create,patch", LEASE]
        );
    }
}
