use super::*;
use crate::cluster::api::raw::Endpoint;
use http::{Method, Request};
use kube::client::Body;
use std::{convert::Infallible, sync::Mutex};

/// The requests to the API server: the method, the path with its query, and the body.
type Asked = Arc<Mutex<Vec<(Method, String, Value)>>>;

/// Controls of an operator that looks after moose in the namespace `tundra`, at an API server that answers each write with
/// the object of the request under the name `fresh`, refuses those of `refused`, and has conflicts about `busy`.
fn controls(sample: &'static str) -> (Controls, Asked) {
    let asked = Asked::default();
    let recorded = Arc::clone(&asked);
    let service = tower::service_fn(move |request: Request<Body>| {
        let recorded = Arc::clone(&recorded);
        async move {
            let (parts, body) = request.into_parts();
            let body = body.collect_bytes().await.expect("a body");
            let body = serde_json::from_slice(&body).unwrap_or_default();
            let is_write = parts.method != Method::GET;
            let is_about = |name: &str| is_write && parts.uri.path().ends_with(name);
            let (is_refused, is_busy) = (is_about("/refused"), is_about("/busy"));
            let asked = {
                let mut recorded = recorded.lock().expect("a lock");
                recorded.push((parts.method, parts.uri.to_string(), body));
                recorded.len()
            };
            let (code, answer) = if is_busy && asked < 6 {
                (
                    409,
                    json!({"kind": "Status", "status": "Failure", "code": 409, "reason": "Conflict", "message": ""}),
                )
            } else if is_refused {
                let status = json!({"kind": "Status", "status": "Failure", "code": 422, "reason": "Invalid",
                    "message": "spec.weight: Invalid value: -1"});
                (422, status)
            } else {
                let metadata = json!({"name": "fresh", "uid": "u", "generation": 3});
                (
                    200,
                    json!({"metadata": metadata, "spec": {"weight": 1, "note": "a: b"}}),
                )
            };
            let body = Body::from(answer.to_string().into_bytes());
            Ok::<_, Infallible>(Response::builder().status(code).body(body).expect("an answer"))
        }
    });
    let inspection = Inspection::of_nothing();
    let endpoint = Endpoint::of::<Moose>();
    let namespaces = ["tundra".to_owned()];
    inspection.development().serve(endpoint, sample, &namespaces);
    let controls = Controls {
        client: Client::new(service, "default"),
        namespace: "default".to_owned(),
        inspection,
    };
    (controls, asked)
}

/// A kind of objects in namespaces.
type Moose = k8s_openapi::api::core::v1::ConfigMap;

const SAMPLE: &str = r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "moose-sample"}}"#;

async fn act(controls: &Controls, control: &str, body: Value) -> Result<Value, Problem> {
    controls
        .act(&format!("{PATH}/{control}"), body.to_string().as_bytes())
        .await
}

fn target(name: &str) -> Value {
    json!({"group": "", "kind": "ConfigMap", "namespace": "tundra", "name": name})
}

#[tokio::test]
async fn a_sample_is_created_under_a_fresh_name_where_the_operator_looks() {
    let (controls, asked) = controls(SAMPLE);
    let of = json!({"group": "", "kind": "ConfigMap"});
    let created = act(&controls, "create", of).await.expect("it is created");
    assert_eq!(created, json!({"done": "created tundra/fresh"}));
    let (method, path, body) = asked.lock().expect("a lock").remove(0);
    assert_eq!(method, Method::POST);
    assert!(path.contains("/namespaces/tundra/configmaps?"), "{path}");
    assert!(path.contains("fieldValidation=Strict"), "{path}");
    assert_eq!(body["metadata"], json!({"generateName": "moose-sample-"}));

    let elsewhere = json!({"group": "", "kind": "ConfigMap", "namespace": "taiga"});
    act(&controls, "create", elsewhere).await.expect("it is created");
    let (_, path, _) = asked.lock().expect("a lock").remove(0);
    assert!(path.contains("/namespaces/taiga/"), "{path}");

    let (code, problem) = act(
        &self::controls("").0,
        "create",
        json!({"group": "", "kind": "ConfigMap"}),
    )
    .await
    .expect_err("there is no sample");
    assert_eq!(
        (code.as_u16(), problem.contains("no sample")),
        (404, true),
        "{problem}"
    );
}

#[tokio::test]
async fn an_edit_is_of_what_was_read_and_a_refusal_is_passed_on_as_it_is() {
    let (controls, asked) = controls(SAMPLE);
    let read = act(&controls, "spec", target("a")).await.expect("it is read");
    assert_eq!((&read["uid"], &read["generation"]), (&json!("u"), &json!(3)));
    let yaml = read["spec"].as_str().expect("a text");
    let again: Value = serde_saphyr::from_str(yaml).expect("YAML");
    assert_eq!(again, json!({"weight": 1, "note": "a: b"}), "{yaml}");
    asked.lock().expect("a lock").clear();
    let edit = |name, spec| json!({"object": target(name), "uid": "u", "generation": 3, "spec": spec});
    for spec in ["weight: 2\nnote: \"1\"\n", "{\t\"weight\": 2, \"note\": \"1\"}"] {
        let done = act(&controls, "edit", edit("a", spec))
            .await
            .expect("it is stored");
        assert_eq!(done, json!({"done": "edited tundra/a"}));
        let (method, path, object) = asked.lock().expect("a lock").remove(1);
        assert_eq!(method, Method::PUT);
        assert!(
            path.contains("/configmaps/a?") && path.contains("fieldValidation=Strict"),
            "{path}"
        );
        assert_eq!(object["spec"], json!({"weight": 2, "note": "1"}), "{spec}");
        assert_eq!(object["metadata"]["uid"], "u");
        asked.lock().expect("a lock").clear();
    }
    // The operator has written a status in between, twice.
    act(&controls, "edit", edit("busy", "weight: 2"))
        .await
        .expect("it is stored");
    let methods = |asked: &Asked| -> Vec<String> {
        let asked = std::mem::take(&mut *asked.lock().expect("a lock"));
        asked.iter().map(|(method, ..)| method.to_string()).collect()
    };
    assert_eq!(methods(&asked), ["GET", "PUT", "GET", "PUT", "GET", "PUT"]);
    let mut former = edit("a", "weight: 2");
    former["generation"] = json!(2);
    let (code, problem) = act(&controls, "edit", former).await.expect_err("it has changed");
    assert_eq!(
        (code.as_u16(), problem.contains("has changed")),
        (409, true),
        "{problem}"
    );
    assert_eq!(methods(&asked), ["GET"]);
    let (code, problem) = act(&controls, "edit", edit("refused", "weight: -1"))
        .await
        .expect_err("the API server refuses it");
    assert_eq!(
        (code.as_u16(), problem.as_str()),
        (422, "spec.weight: Invalid value: -1")
    );
    let (code, problem) = act(&controls, "edit", edit("a", "a: ["))
        .await
        .expect_err("it is no YAML");
    assert_eq!(code.as_u16(), 400, "{problem}");
}

#[tokio::test]
async fn requests_that_make_no_sense_reach_no_api_server() {
    let (controls, asked) = controls(SAMPLE);
    for (control, body, code) in [
        ("delete", target("../../../secrets/a"), 400),
        ("delete", target("a?dryRun=All"), 400),
        ("delete", target(""), 400),
        (
            "delete",
            json!({"group": "", "kind": "Secret", "namespace": "a", "name": "a"}),
            404,
        ),
        (
            "create",
            json!({"group": "", "kind": "ConfigMap", "namespace": "a/b"}),
            400,
        ),
        (
            "create",
            json!({"group": "", "kind": "ConfigMap", "name": "a"}),
            400,
        ),
        ("spec", json!("a"), 400),
        ("clock", json!({"seconds": -1}), 400),
        ("clock", json!({"seconds": u64::MAX}), 422),
        (
            "fail",
            json!({"message": "m", "object": {"group": "", "kind": "Elk", "name": "a"}}),
            404,
        ),
        ("kill", json!({"really": true}), 400),
        ("reboot", json!({}), 404),
    ] {
        let (got, problem) = act(&controls, control, body.clone())
            .await
            .expect_err("it makes no sense");
        assert_eq!(got.as_u16(), code, "{control} {body}: {problem}");
    }
    assert!(asked.lock().expect("a lock").is_empty());
}

#[tokio::test]
async fn a_planned_failure_strikes_once_and_that_of_an_object_before_that_of_any() {
    let (controls, _) = controls(SAMPLE);
    let failures = &controls.inspection.development().failures;
    let object = |name| serde_json::from_value::<Target>(target(name)).expect("a target");
    let any = json!({"message": "any"});
    let of_a = json!({"message": "of a", "object": target("a"), "permanent": true});
    for fail in [any, of_a] {
        act(&controls, "fail", fail).await.expect("it is planned");
    }
    let strike = |name| {
        failures
            .strike(&object(name))
            .map_err(|error| (error.class(), error.to_string()))
    };
    use crate::error::Class::{Permanent, Transient};
    assert_eq!(strike("a"), Err((Permanent, "of a".to_owned())));
    assert_eq!(strike("b"), Err((Transient, "any".to_owned())));
    assert_eq!(strike("a"), Ok(()));
    for _ in 0..100 {
        let fail = json!({"message": "m", "object": target("gone")});
        act(&controls, "fail", fail).await.expect("it is planned");
    }
    let (code, _) = act(&controls, "fail", json!({"message": "m"}))
        .await
        .expect_err("there are too many");
    assert_eq!(code.as_u16(), 422);
}

#[tokio::test]
async fn a_request_without_the_header_is_refused() {
    let (controls, _) = controls(SAMPLE);
    let show = |request: http::request::Builder| {
        let (parts, ()) = request.body(()).expect("a request").into_parts();
        controls.show(&parts).status().as_u16()
    };
    assert_eq!(show(Request::get(PATH)), 403);
    assert_eq!(show(Request::get(PATH).header(HEADER, "page")), 200);
}
