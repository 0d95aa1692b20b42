//! Small requests with large effects are limited as in a real server, with its codes and messages.

use bytes::Bytes;
use http::{Request, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use krator_apiserver::{Body, Server};
use serde_json::{Value as Json, json};

const MOOSE: &str = "/apis/animals.com/v1/namespaces/default/moose";

/// A server with a kind that preserves unknown fields below `spec`, and one object of it.
async fn server() -> Server {
    let server = Server::start();
    let spec = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "moose.animals.com"},
        "spec": {
            "group": "animals.com",
            "scope": "Namespaced",
            "names": {"plural": "moose", "kind": "Moose"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {
                "openAPIV3Schema": {"type": "object", "properties": {"spec": spec}},
            }}],
        },
    });
    server.apply(&definition, "test").await.expect("a definition");
    server
        .apply(&moose("a", json!({})), "test")
        .await
        .expect("a moose");
    server
}

fn moose(name: &str, spec: Json) -> Json {
    json!({"apiVersion": "animals.com/v1", "kind": "Moose", "metadata": {"name": name}, "spec": spec})
}

async fn send(server: &Server, method: &str, path: &str, form: &str, body: String) -> http::Response<Body> {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::CONTENT_TYPE, form)
        .body(Full::new(Bytes::from(body)))
        .expect("a request");
    server.answer(request).await
}

/// The code, the reason and the message of a response.
async fn told(server: &Server, method: &str, path: &str, form: &str, body: String) -> (u16, String) {
    let answer = send(server, method, path, form, body).await;
    let code = answer.status().as_u16();
    let body = answer.into_body().collect().await.expect("it ends").to_bytes();
    let body: Json = serde_json::from_slice(&body).expect("JSON");
    let text = |key: &str| body[key].as_str().unwrap_or_default().to_owned();
    (code, format!("{}: {}", text("reason"), text("message")))
}

#[tokio::test]
async fn patches_that_copy_much_or_nest_deep_are_refused() {
    let server = server().await;
    let text = "x".repeat(100_000);
    let start = json!({"op": "add", "path": "/spec/a", "value": [text]});
    let copy = json!({"op": "copy", "from": "/spec/a", "path": "/spec/a/-"});
    let doubles =
        |count: usize| std::iter::once(start.clone()).chain(std::iter::repeat_n(copy.clone(), count));
    let nests = json!({"op": "copy", "from": "/spec", "path": "/spec/a"});
    let path = format!("{MOOSE}/a?dryRun=All");
    let unprocessable = "Invalid: the server rejected our request due to an error in our request";
    let too_long = "RequestEntityTooLarge: Request entity too large: The allowed maximum operations in a JSON patch is \
        10000, got 10001";
    let cases: [(Vec<Json>, u16, &str); 5] = [
        (doubles(3).collect(), 200, ": "),
        (doubles(20).collect(), 422, unprocessable),
        (vec![nests.clone(); 5], 200, ": "),
        (vec![nests; 130], 422, unprocessable),
        (
            vec![json!({"op": "test", "path": "/kind", "value": "Moose"}); 10_001],
            413,
            too_long,
        ),
    ];
    for (at, (operations, code, message)) in cases.into_iter().enumerate() {
        let body = Json::from(operations).to_string();
        let answer = told(&server, "PATCH", &path, "application/json-patch+json", body);
        assert_eq!(answer.await, (code, message.to_owned()), "{at}");
    }
}

#[tokio::test]
async fn bodies_that_are_large_deep_or_full_of_aliases_are_refused() {
    let server = server().await;
    let deep = format!(
        "{{\"kind\": \"Moose\", \"spec\": {}{}}}",
        "[".repeat(200),
        "]".repeat(200)
    );
    let mut aliases = format!("kind: Moose\na0: &a0 {}\n", "x".repeat(1000));
    for at in 1..8 {
        let items = format!("*a{}, ", at - 1).repeat(10);
        aliases.push_str(&format!("a{at}: &a{at} [{items}]\n"));
    }
    let text = "x".repeat(100_000);
    let texts = format!("kind: Moose\na: &a {text}\nb: [{}]\n", "*a, ".repeat(100));
    let large = |bytes: usize| moose("b", json!({"text": "x".repeat(bytes)})).to_string();
    let cases = [
        (
            "application/json",
            deep,
            400,
            "json parse error: exceeded max depth ({\"kind\"",
        ),
        (
            "application/yaml",
            aliases,
            400,
            "yaml: document contains excessive aliasing (6b69",
        ),
        (
            "application/yaml",
            texts,
            400,
            "yaml: document contains excessive aliasing (6b69",
        ),
        ("application/json", large(1_500_000), 201, ""),
        (
            "application/json",
            large(1_600_000).replace("\"b\"", "\"c\""),
            500,
            ": etcdserver: request is too large",
        ),
        (
            "application/json",
            large(3_200_000),
            413,
            "Request entity too large: limit is 3145728",
        ),
    ];
    for (form, body, code, message) in cases {
        let answer = told(&server, "POST", MOOSE, form, body).await;
        assert_eq!(answer.0, code, "{}", answer.1);
        assert!(answer.1.contains(message), "{}", answer.1);
    }
}

#[tokio::test]
async fn rules_over_their_budget_are_refused() {
    let definition = |bound: Json| {
        let mut list = json!({"type": "array", "items": {"type": "string", "maxLength": 10}});
        list["maxItems"] = bound;
        let rule = json!([{"rule": "self.l.all(x, self.l.all(y, x == y))"}]);
        let spec = json!({"type": "object", "properties": {"l": list}, "x-kubernetes-validations": rule});
        json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "elks.animals.com"},
            "spec": {
                "group": "animals.com",
                "scope": "Namespaced",
                "names": {"plural": "elks", "kind": "Elk"},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": {
                    "openAPIV3Schema": {"type": "object", "properties": {"spec": spec}},
                }}],
            },
        })
        .to_string()
    };
    let server = Server::start();
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let form = "application/json";
    let refused = told(&server, "POST", path, form, definition(Json::Null)).await;
    let words = "estimated rule cost exceeds budget by factor of more than 100x";
    assert!(refused.0 == 422 && refused.1.contains(words), "{refused:?}");
    assert_eq!(
        told(&server, "POST", path, form, definition(10.into())).await.0,
        201
    );
}

#[tokio::test]
async fn watches_have_so_many_places_and_no_more() {
    let server = server().await;
    let watch = async || send(&server, "GET", &format!("{MOOSE}?watch=true"), "", String::new()).await;
    let mut watches = Vec::new();
    while watches.len() < 1_000 {
        let answer = watch().await;
        assert_eq!(answer.status(), StatusCode::OK, "{}", watches.len());
        watches.push(answer);
    }
    let refused = watch().await;
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(refused.headers()[header::RETRY_AFTER], "1");
    watches.pop();
    assert_eq!(watch().await.status(), StatusCode::OK);
}
