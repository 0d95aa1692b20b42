use super::*;
use crate::object::meta;
use serde_json::json;

fn user(name: &str, groups: &[&str]) -> User {
    User::new(name, groups)
}

fn resource(verb: &str, path: &str) -> Attributes {
    use http::Method;
    let query = crate::request::Query::default();
    let attributes = Attributes::of(&Method::GET, path, &query);
    Attributes {
        verb: verb.to_owned(),
        ..attributes
    }
}

/// A server with RBAC and these objects of the group.
fn state(objects: &[(&str, Json)]) -> State {
    let mut state = State::new(std::sync::Arc::default());
    seed(&mut state);
    state.rbac = true;
    for (resource, object) in objects {
        state.store.put(&id(GROUP, resource), object.clone());
    }
    state
}

fn role(namespace: &str, name: &str, rules: Json) -> Json {
    json!({"kind": "Role", "metadata": {"namespace": namespace, "name": name}, "rules": rules})
}

fn binding(namespace: &str, role: (&str, &str), subject: Json) -> Json {
    json!({
        "metadata": {"namespace": namespace, "name": format!("to-{}", role.1)},
        "roleRef": {"kind": role.0, "name": role.1},
        "subjects": [subject],
    })
}

#[test]
fn rules_allow_what_they_name() {
    let rules = json!([
        {"apiGroups": [""], "resources": ["pods", "pods/log"], "verbs": ["get", "list"]},
        {"apiGroups": ["apps"], "resources": ["*/scale"], "verbs": ["*"]},
        {"apiGroups": ["*"], "resources": ["configmaps"], "resourceNames": ["one"], "verbs": ["get", "list"]},
        {"nonResourceURLs": ["/logs/*"], "verbs": ["get"]},
    ]);
    let rules = Rule::all_of(&json!({"rules": rules}));
    let cases = [
        ("get", "/api/v1/namespaces/a/pods/p", true),
        ("delete", "/api/v1/namespaces/a/pods/p", false),
        ("get", "/apis/x/v1/namespaces/a/pods/p", false),
        ("get", "/api/v1/namespaces/a/pods/p/log", true),
        ("get", "/api/v1/namespaces/a/pods/p/status", false),
        ("patch", "/apis/apps/v1/namespaces/a/deployments/d/scale", true),
        ("patch", "/apis/apps/v1/namespaces/a/deployments/d", false),
        ("get", "/apis/z/v1/configmaps/one", true),
        ("get", "/apis/z/v1/configmaps/two", false),
        ("list", "/api/v1/namespaces/a/configmaps", false),
        ("get", "/logs/a/b", true),
        ("get", "/log", false),
        ("post", "/logs/a", false),
    ];
    for (verb, path, expected) in cases {
        let asked = resource(verb, path);
        assert_eq!(
            rules.iter().any(|rule| rule.allows(&asked)),
            expected,
            "{verb} {path}"
        );
    }
}

#[test]
fn bindings_give_rules_to_their_subjects() {
    let rules = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]);
    let account = json!({"kind": "ServiceAccount", "name": "bot"});
    let state = state(&[
        ("roles", role("a", "reader", rules)),
        ("rolebindings", binding("a", ("Role", "reader"), account)),
        (
            "rolebindings",
            binding(
                "a",
                ("ClusterRole", "view"),
                json!({"kind": "Group", "name": "viewers"}),
            ),
        ),
        (
            "rolebindings",
            binding("a", ("Role", "gone"), json!({"kind": "User", "name": "lost"})),
        ),
    ]);
    let by_role =
        "RBAC: allowed by RoleBinding \"to-reader/a\" of Role \"reader\" to ServiceAccount \"bot/a\"";
    let by_view = "RBAC: allowed by RoleBinding \"to-view/a\" of ClusterRole \"view\" to Group \"viewers\"";
    let missing = "RBAC: role.rbac.authorization.k8s.io \"gone\" not found";
    let cases = [
        (
            user("system:serviceaccount:a:bot", &[]),
            "get",
            "/api/v1/namespaces/a/pods/p",
            true,
            by_role,
        ),
        (
            user("system:serviceaccount:b:bot", &[]),
            "get",
            "/api/v1/namespaces/a/pods/p",
            false,
            "",
        ),
        (
            user("system:serviceaccount:a:bot", &[]),
            "get",
            "/api/v1/namespaces/b/pods/p",
            false,
            "",
        ),
        (
            user("jane", &["viewers"]),
            "list",
            "/api/v1/namespaces/a/configmaps",
            true,
            by_view,
        ),
        (
            user("jane", &["viewers"]),
            "list",
            "/api/v1/namespaces/a/secrets",
            false,
            "",
        ),
        (
            user("lost", &[]),
            "get",
            "/api/v1/namespaces/a/pods/p",
            false,
            missing,
        ),
        (User::admin(), "delete", "/api/v1/nodes/n", true, ""),
    ];
    for (user, verb, path, allowed, reason) in cases {
        let decision = authorize(&state, &user, &resource(verb, path));
        let expected = Decision {
            allowed,
            reason: reason.to_owned(),
        };
        assert_eq!(decision, expected, "{} {verb} {path}", user.name);
    }
}

#[test]
fn without_roles_everybody_may_do_everything() {
    let mut state = state(&[]);
    let asked = resource("delete", "/api/v1/nodes/n");
    assert!(!authorize(&state, &user("jane", &[]), &asked).allowed);
    state.rbac = false;
    assert!(authorize(&state, &user("jane", &[]), &asked).allowed);
}

#[test]
fn refusals_say_who_may_not_do_what() {
    let cases = [
        (
            "get",
            "/api/v1/namespaces/a",
            "namespaces \"a\" is forbidden: User \"jane\" cannot get resource \"namespaces\" in API group \"\" in the namespace \"a\"",
        ),
        (
            "get",
            "/apis/apps/v1/namespaces/a/deployments/d/scale",
            "deployments.apps \"d\" is forbidden: User \"jane\" cannot get resource \"deployments/scale\" in API group \"apps\" in the namespace \"a\"",
        ),
        (
            "list",
            "/api/v1/nodes",
            "nodes is forbidden: User \"jane\" cannot list resource \"nodes\" in API group \"\" at the cluster scope",
        ),
        (
            "get",
            "/metrics",
            "forbidden: User \"jane\" cannot get path \"/metrics\"",
        ),
        (
            "get",
            "/a<b>",
            "forbidden: User \"jane\" cannot get path \"/a&lt;b&gt;\"",
        ),
    ];
    for (verb, path, message) in cases {
        let refusal = forbidden(&user("jane", &[]), &resource(verb, path), "");
        assert_eq!((refusal.code, refusal.message.as_str()), (403, message));
    }
}

#[test]
fn cluster_roles_gather_rules_by_labels() {
    let mut state = state(&[]);
    let rules = |state: &State, name: &str| {
        let role = state
            .store
            .get(&id(GROUP, "clusterroles"), &Key::new("", name))
            .expect("a role of every cluster");
        Rule::all_of(role)
    };
    let (admin, edit, view) = (
        rules(&state, "admin"),
        rules(&state, "edit"),
        rules(&state, "view"),
    );
    assert!(
        !view.is_empty()
            && view.iter().all(|rule| edit.contains(rule))
            && edit.iter().all(|rule| admin.contains(rule))
    );
    let moose = json!({"apiGroups": ["example.com"], "resources": ["moose"], "verbs": ["get"]});
    let label = json!({"rbac.authorization.k8s.io/aggregate-to-view": "true"});
    let role =
        json!({"kind": "ClusterRole", "metadata": {"name": "moose", "labels": label}, "rules": [moose]});
    state.store.put(&id(GROUP, "clusterroles"), role);
    aggregate(&mut state);
    for name in ["view", "edit", "admin"] {
        assert!(
            rules(&state, name).iter().any(|rule| rule.resources == ["moose"]),
            "{name}"
        );
    }
}
#[test]
fn every_server_has_the_same_roles() {
    let drawn = include_str!("../../data/roles.txt").lines().count();
    let state = state(&[]);
    let resources = ["clusterroles", "clusterrolebindings", "roles", "rolebindings"];
    let objects: Vec<_> = resources
        .iter()
        .flat_map(|resource| state.store.list(&id(GROUP, resource), "").collect::<Vec<_>>())
        .collect();
    assert_eq!(objects.len(), drawn);
    for (key, object) in objects {
        for field in ["uid", "creationTimestamp", "resourceVersion"] {
            assert!(!meta(object, field).is_empty(), "{key:?} has no {field}");
        }
        assert_eq!(
            object["metadata"]["managedFields"][0]["manager"], "kube-apiserver",
            "{key:?}"
        );
    }
}
