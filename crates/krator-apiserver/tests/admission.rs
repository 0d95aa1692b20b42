//! Admission of writes by policies and webhooks. The cases in `testdata/conformance/` compare it with a real server.

#[path = "support/webhook.rs"]
mod webhook;

use http::{Request, header};
use http_body_util::{BodyExt as _, Full};
use krator_apiserver::Server;
use serde_json::{Value as Json, json};
use std::time::{Duration, Instant};
use webhook::Webhook;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const POLICIES: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
const BINDINGS: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";

/// Sends a request with JSON. Returns the code, the body and the warnings of the response.
async fn ask(server: &Server, method: &str, path: &str, body: Json) -> (u16, Json, Vec<String>) {
    let form = match method {
        "PATCH" => "application/merge-patch+json",
        _ => "application/json",
    };
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", form);
    let request = request.body(Full::<bytes::Bytes>::from(body)).expect("a request");
    let response = server.answer(request).await;
    let (parts, body) = response.into_parts();
    let warnings = parts.headers.get_all(header::WARNING).iter();
    let warnings = warnings
        .map(|it| String::from_utf8_lossy(it.as_bytes()).into_owned())
        .collect();
    let body = body.collect().await.expect("bodies do not fail").to_bytes();
    (
        parts.status.as_u16(),
        serde_json::from_slice(&body).unwrap_or_default(),
        warnings,
    )
}

fn map(name: &str, label: &str) -> Json {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": {"webhook": label}}})
}

fn policy(operations: &[&str], validations: Json) -> Json {
    json!({"metadata": {"name": "p"}, "spec": {
        "matchConstraints": {"resourceRules": [{
            "apiGroups": [""], "apiVersions": ["v1"], "operations": operations, "resources": ["configmaps"],
        }]},
        "validations": validations,
    }})
}

/// Creates and binds a policy.
async fn enforce(server: &Server, policy: Json) {
    let (code, answer, _) = ask(server, "POST", POLICIES, policy).await;
    assert_eq!(code, 201, "{answer}");
    let binding =
        json!({"metadata": {"name": "b"}, "spec": {"policyName": "p", "validationActions": ["Deny"]}});
    let (code, answer, _) = ask(server, "POST", BINDINGS, binding).await;
    assert_eq!(code, 201, "{answer}");
}

/// Registers a webhook for all writes of ConfigMaps.
async fn register(server: &Server, webhook: &Webhook, resource: &str, more: Json) {
    let mut hook = json!({
        "name": "hook.krator.dev",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "clientConfig": {"url": format!("{}/admit", webhook.url), "caBundle": webhook.bundle},
        "rules": [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["configmaps"]}],
    });
    for (key, value) in more.as_object().into_iter().flatten() {
        hook[key] = value.clone();
    }
    let path = format!("/apis/admissionregistration.k8s.io/v1/{resource}");
    let body = json!({"metadata": {"name": resource}, "webhooks": [hook]});
    let (code, answer, _) = ask(server, "POST", &path, body).await;
    assert_eq!(code, 201, "{answer}");
}

#[tokio::test]
async fn a_policy_forbids_as_soon_as_it_is_bound() {
    let server = Server::start();
    let rule = json!([{
        "expression": "object.metadata.name != 'george'", "message": "George may not enter", "reason": "Forbidden",
    }]);
    enforce(&server, policy(&["CREATE"], rule)).await;
    let (code, answer, _) = ask(&server, "POST", MAPS, map("george", "")).await;
    let words = "configmaps \"george\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: George \
        may not enter";
    assert_eq!((code, answer["message"].as_str()), (403, Some(words)));
    assert_eq!(ask(&server, "POST", MAPS, map("bullwinkle", "")).await.0, 201);
    assert_eq!(
        ask(&server, "DELETE", &format!("{BINDINGS}/b"), Json::Null)
            .await
            .0,
        200
    );
    assert_eq!(ask(&server, "POST", MAPS, map("george", "")).await.0, 201);
}

#[tokio::test]
async fn roles_answer_for_verbs_of_their_own() {
    let server = Server::builder().rbac(true).start();
    let rule = json!([{"expression": "authorizer.requestResource.check('operate').allowed()", "reason": "Forbidden"}]);
    enforce(&server, policy(&["CREATE"], rule)).await;
    for (name, verbs) in [("jane", json!(["create"])), ("op", json!(["create", "operate"]))] {
        let rules = json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": verbs}]);
        let role = json!({"metadata": {"name": name}, "rules": rules});
        let binding = json!({
            "metadata": {"name": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
            "subjects": [{"kind": "User", "name": name}],
        });
        let roles = "/apis/rbac.authorization.k8s.io/v1";
        assert_eq!(
            ask(&server, "POST", &format!("{roles}/clusterroles"), role)
                .await
                .0,
            201
        );
        assert_eq!(
            ask(&server, "POST", &format!("{roles}/clusterrolebindings"), binding)
                .await
                .0,
            201
        );
    }
    assert_eq!(
        ask(&server.acting_as("jane", &[]), "POST", MAPS, map("a", ""))
            .await
            .0,
        403
    );
    assert_eq!(
        ask(&server.acting_as("op", &[]), "POST", MAPS, map("a", ""))
            .await
            .0,
        201
    );
}

#[tokio::test]
async fn what_cannot_be_read_is_refused_at_once() {
    let server = Server::start();
    let cases = [
        ("google.protobuf.Int64Value{value: 1} == 1", 501),
        (".object.spec.x == 1", 501),
        ("nowhere", 422),
        ("object.spec", 422),
        ("request.nowhere == ''", 422),
    ];
    for (expression, expected) in cases {
        let policy = policy(&["CREATE"], json!([{"expression": expression}]));
        let (code, answer, _) = ask(&server, "POST", POLICIES, policy).await;
        assert_eq!(code, expected, "{expression}: {answer}");
        assert!(
            answer["message"]
                .as_str()
                .is_some_and(|text| text.contains(expression)),
            "{answer}"
        );
    }
    let mut with_parameters = policy(&["CREATE"], json!([{"expression": "true"}]));
    with_parameters["spec"]["paramKind"] = json!({"apiVersion": "v1", "kind": "ConfigMap"});
    assert_eq!(ask(&server, "POST", POLICIES, with_parameters).await.0, 501);
}

#[tokio::test]
async fn webhooks_deny_warn_and_change() {
    let (server, webhook) = (Server::start(), Webhook::start(None).await);
    register(
        &server,
        &webhook,
        "mutatingwebhookconfigurations",
        json!({
            "objectSelector": {"matchLabels": {"webhook": "patch"}},
        }),
    )
    .await;
    register(&server, &webhook, "validatingwebhookconfigurations", json!({
        "objectSelector": {"matchExpressions": [{"key": "webhook", "operator": "NotIn", "values": ["patch"]}]},
    }))
    .await;
    let denied = "admission webhook \"hook.krator.dev\" denied the request: George may not enter";
    let (code, answer, _) = ask(&server, "POST", MAPS, map("a", "deny")).await;
    assert_eq!((code, answer["message"].as_str()), (400, Some(denied)));
    let (code, answer, _) = ask(&server, "POST", MAPS, map("a", "causes")).await;
    assert_eq!(
        (code, answer["details"]["causes"].as_array().map(Vec::len)),
        (422, Some(2))
    );
    let (code, _, warnings) = ask(&server, "POST", MAPS, map("a", "warn")).await;
    assert_eq!(
        (code, warnings.join(" ").as_str()),
        (201, "299 - \"one\" 299 - \"two\"")
    );
    let (code, answer, _) = ask(&server, "POST", MAPS, map("b", "patch")).await;
    assert_eq!(
        (code, answer["metadata"]["annotations"]["patched"].as_str()),
        (201, Some("yes"))
    );
    let mut generated = map("", "patch");
    generated["metadata"] = json!({"generateName": "c-", "labels": {"webhook": "patch"}});
    let (code, answer, _) = ask(&server, "POST", MAPS, generated).await;
    assert_eq!(
        (code, answer["metadata"]["annotations"]["patched"].as_str()),
        (201, Some("yes"))
    );
    // The webhook refuses the label `deny`, so no object is protected and the whole collection is deleted.
    let protect = json!({"metadata": {"labels": {"webhook": "deny"}}});
    assert_eq!(ask(&server, "PATCH", &format!("{MAPS}/b"), protect).await.0, 400);
    let (code, answer, _) = ask(&server, "DELETE", MAPS, Json::Null).await;
    assert_eq!(
        (code, answer["items"].as_array().map(Vec::len)),
        (200, Some(3)),
        "{answer}"
    );
}

#[tokio::test]
async fn a_webhook_that_hangs_holds_nobody_else() {
    let (server, webhook) = (Server::start(), Webhook::start(None).await);
    let hurried = json!({"timeoutSeconds": 1});
    register(&server, &webhook, "validatingwebhookconfigurations", hurried).await;
    let begun = Instant::now();
    let (hanging, other) = futures::join!(ask(&server, "POST", MAPS, map("a", "hang")), async {
        let answer = ask(&server, "POST", MAPS, map("b", "allow")).await;
        (answer.0, begun.elapsed())
    });
    let words = hanging.1["message"].as_str().unwrap_or_default();
    assert_eq!(hanging.0, 500, "{words}");
    assert!(words.starts_with(
        "Internal error occurred: failed calling webhook \"hook.krator.dev\": failed to call webhook: Post"
    ));
    assert!(
        words.ends_with("?timeout=1s\": context deadline exceeded"),
        "{words}"
    );
    assert_eq!(other.0, 201);
    assert!(other.1 < Duration::from_secs(1), "{:?}", other.1);
}

#[tokio::test]
async fn services_are_out_of_reach() {
    let (server, webhook) = (Server::start(), Webhook::start(None).await);
    let service = json!({"clientConfig": {"service": {"namespace": "park", "name": "moose", "path": "/x"}}});
    register(&server, &webhook, "validatingwebhookconfigurations", service).await;
    let (code, answer, _) = ask(&server, "POST", MAPS, map("a", "")).await;
    assert_eq!(code, 500);
    let words = answer["message"].as_str().unwrap_or_default();
    assert!(
        words.contains("Post \"https://moose.park.svc:443/x?timeout=10s\""),
        "{words}"
    );
}
