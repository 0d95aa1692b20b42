use super::*;
use crate::Faults;
use http_body_util::Full;
use serde_json::{Value as Json, json};
use std::io::{self, Write};

/// Sends a request with JSON, and returns the response.
async fn ask(
    server: &Server,
    method: Method,
    uri: &str,
    headers: &[(&str, &str)],
    body: Json,
) -> (u16, Json) {
    let response = server.answer(request(method, uri, headers, body)).await;
    let code = response.status().as_u16();
    let body = response
        .into_body()
        .collect()
        .await
        .expect("bodies do not fail")
        .to_bytes();
    (code, serde_json::from_slice(&body).unwrap_or_default())
}

fn request(method: Method, uri: &str, headers: &[(&str, &str)], body: Json) -> Request<Full<Bytes>> {
    let mut request = Request::builder().method(method).uri(uri);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    request
        .body(Full::from(body))
        .expect("the tests' requests are valid")
}

fn access_review(verb: &str, resource: &str) -> Json {
    json!({
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": {"verb": verb, "resource": resource}},
    })
}

const PODS: &str = "/api/v1/pods";
const REVIEWS: &str = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const SELF: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

#[tokio::test]
async fn requests_are_those_of_their_senders() {
    for rbac in [false, true] {
        let server = Server::builder().rbac(rbac).start();
        let token = format!("Bearer {}", server.add_user("jane", &["park"]));
        let jane: (&str, &str) = ("authorization", &token);
        let (as_joe, as_group) = (("impersonate-user", "joe"), ("impersonate-group", "park"));
        let forbidden = if rbac { 403 } else { 200 };
        let cases = [
            ("who has started the server", server.clone(), vec![], 200),
            ("a user with a token", server.clone(), vec![jane], forbidden),
            (
                "a user of this process",
                server.acting_as("joe", &[]),
                vec![],
                forbidden,
            ),
            (
                "a master of this process",
                server.acting_as("joe", &["system:masters"]),
                vec![],
                200,
            ),
            (
                "a wrong token",
                server.clone(),
                vec![("authorization", "Bearer wrong")],
                401,
            ),
            (
                "anybody",
                server.for_anybody(),
                vec![],
                if rbac { 403 } else { 401 },
            ),
            ("somebody else", server.clone(), vec![as_joe], forbidden),
            ("nobody in a group", server.clone(), vec![as_group], 400),
        ];
        for (who, server, headers, expected) in cases {
            let (code, answer) = ask(&server, Method::GET, PODS, &headers, Json::Null).await;
            assert_eq!(code, expected, "{who}, rbac {rbac}: {answer}");
        }
        let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
        let (code, answer) = ask(&server, Method::POST, SELF, &[as_joe, as_group], review).await;
        let expected = json!({"username": "joe", "groups": ["park", "system:authenticated"]});
        assert_eq!((code, &answer["status"]["userInfo"]), (201, &expected));
    }
}

#[tokio::test]
async fn reviews_answer_as_requests_are_answered() {
    let server = Server::builder().rbac(true).start();
    let jane = server.acting_as("jane", &[]);
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "jane"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
        "subjects": [{"kind": "User", "name": "jane"}],
    });
    let bindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
    assert_eq!(
        ask(&jane, Method::POST, bindings, &[], binding.clone()).await.0,
        403
    );
    assert_eq!(ask(&server, Method::POST, bindings, &[], binding).await.0, 201);
    for (resource, allowed) in [("pods", true), ("secrets", false)] {
        let (code, answer) = ask(&jane, Method::POST, REVIEWS, &[], access_review("list", resource)).await;
        assert_eq!(
            (code, &answer["status"]["allowed"]),
            (201, &json!(allowed)),
            "{resource}"
        );
        let code = ask(
            &jane,
            Method::GET,
            &format!("/api/v1/{resource}"),
            &[],
            Json::Null,
        )
        .await
        .0;
        assert_eq!(code, if allowed { 200 } else { 403 }, "{resource}");
    }
}

#[tokio::test]
async fn tokens_of_service_accounts_end_with_them() {
    let server = Server::start();
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "bot"}});
    assert_eq!(ask(&server, Method::POST, accounts, &[], account).await.0, 201);
    let wanted = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let (code, answer) = ask(
        &server,
        Method::POST,
        &format!("{accounts}/bot/token"),
        &[],
        wanted.clone(),
    )
    .await;
    assert_eq!((code, &answer["spec"]["expirationSeconds"]), (201, &json!(3600)));
    assert_eq!(
        ask(
            &server,
            Method::POST,
            &format!("{accounts}/none/token"),
            &[],
            wanted
        )
        .await
        .0,
        404
    );
    let token = format!("Bearer {}", answer["status"]["token"].as_str().expect("a token"));
    let bot = [("authorization", token.as_str())];
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
    let (_, answer) = ask(&server, Method::POST, SELF, &bot, review).await;
    assert_eq!(
        answer["status"]["userInfo"]["username"],
        "system:serviceaccount:default:bot"
    );
    assert_eq!(
        ask(
            &server,
            Method::DELETE,
            &format!("{accounts}/bot"),
            &[],
            Json::Null
        )
        .await
        .0,
        200
    );
    assert_eq!(ask(&server, Method::GET, PODS, &bot, Json::Null).await.0, 401);
}

/// A log in memory.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no test panics with it").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn the_audit_log_has_a_line_for_each_request() {
    let log = Log::default();
    let server = Server::builder().rbac(true).audit(log.clone()).start();
    let uri = "/apis/apps/v1/namespaces/a/deployments/d?x=y";
    let headers = [("user-agent", "test/1"), ("impersonate-user", "joe")];
    ask(&server, Method::DELETE, uri, &headers, Json::Null).await;
    ask(&server, Method::GET, "/version", &[], Json::Null).await;
    ask(
        &server,
        Method::GET,
        PODS,
        &[("authorization", "Bearer wrong")],
        Json::Null,
    )
    .await;
    let text =
        String::from_utf8(log.0.lock().expect("no test panics with it").clone()).expect("JSON is UTF-8");
    let lines: Vec<Json> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line is JSON"))
        .collect();
    let [first, second] = lines.as_slice() else {
        panic!("{text}")
    };
    let reference = json!({
        "resource": "deployments", "namespace": "a", "name": "d", "apiGroup": "apps", "apiVersion": "v1",
    });
    let expected = [
        ("verb", json!("delete")),
        ("requestURI", json!(uri)),
        ("userAgent", json!("test/1")),
        ("objectRef", reference),
        ("stage", json!("ResponseComplete")),
    ];
    for (key, value) in expected {
        assert_eq!(first[key], value, "{key}");
    }
    assert_eq!(first["user"]["username"], "admin");
    assert_eq!(first["impersonatedUser"]["username"], "joe");
    assert_eq!(
        (
            &first["responseStatus"]["code"],
            &first["responseStatus"]["reason"]
        ),
        (&json!(403), &json!("Forbidden"))
    );
    assert_eq!(
        (&second["verb"], &second["responseStatus"]["code"]),
        (&json!("get"), &json!(200))
    );
    assert!(second.get("objectRef").is_none());
}

#[tokio::test]
async fn faults_come_before_or_after_the_effect() {
    let none = Faults::default;
    let maps = "/api/v1/namespaces/default/configmaps";
    let cases = [
        (
            "conflict",
            Faults {
                conflict: 1000,
                ..none()
            },
            Some(201),
            true,
        ),
        (
            "throttled",
            Faults {
                throttled: 1000,
                ..none()
            },
            Some(429),
            false,
        ),
        (
            "broken",
            Faults {
                broken: 1000,
                ..none()
            },
            Some(500),
            false,
        ),
        (
            "unavailable",
            Faults {
                unavailable: 1000,
                ..none()
            },
            Some(503),
            false,
        ),
        (
            "cut before",
            Faults {
                cut_before: 1000,
                ..none()
            },
            None,
            false,
        ),
        (
            "cut after",
            Faults {
                cut_after: 1000,
                ..none()
            },
            None,
            true,
        ),
    ];
    for (name, faults, expected, effect) in cases {
        let server = Server::builder().faults(faults).start();
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}});
        let answer = server.deliver(request(Method::POST, maps, &[], map)).await;
        assert_eq!(
            answer.as_ref().ok().map(|answer| answer.status().as_u16()),
            expected,
            "{name}"
        );
        let retry = answer
            .ok()
            .and_then(|answer| answer.headers().get(header::RETRY_AFTER).cloned());
        assert_eq!(retry.is_some(), name == "throttled", "{name}");
        let found = ask(&server, Method::GET, &format!("{maps}/a"), &[], Json::Null)
            .await
            .0;
        assert_eq!(found, if effect { 200 } else { 404 }, "{name}");
    }
}

#[tokio::test]
async fn faults_end_watches() {
    let watch = || {
        request(
            Method::GET,
            "/api/v1/configmaps?watch=1&resourceVersion=0",
            &[],
            Json::Null,
        )
    };
    let server = Server::builder()
        .faults(Faults {
            dropped: 1000,
            ..Faults::default()
        })
        .start();
    let answer = server.deliver(watch()).await.expect("it is not cut");
    let body = tokio::time::timeout(std::time::Duration::from_secs(2), answer.into_body().collect()).await;
    assert!(body.is_ok(), "the watch goes on");
    let server = Server::builder()
        .faults(Faults {
            gone: 1000,
            ..Faults::default()
        })
        .start();
    let answer = server.deliver(watch()).await.expect("it is not cut");
    let body = answer
        .into_body()
        .collect()
        .await
        .expect("bodies do not fail")
        .to_bytes();
    let event: Json = serde_json::from_slice(&body).expect("one event");
    assert_eq!(
        (&event["type"], &event["object"]["code"]),
        (&json!("ERROR"), &json!(410))
    );
}
