//! Requests to the API server of a test: their targets, and the responses.
use super::{
    InMemoryApi,
    objects::{Key, Objects, Part, merge_patch, refusal},
};
use crate::{lock::Lock as _, resource::Selector};
use http::{Method, Request, request::Parts};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{client::Body, core::Status};
use serde::Deserialize as _;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The error for a request that a cluster supports, but a test does not.
fn not_here(what: &str) -> Box<Status> {
    let message = format!(
        "the API server of tests does not support {what}: it can get, list, create, replace, delete, apply and merge-patch \
         objects and their status"
    );
    refusal(405, "MethodNotAllowed", &message)
}

/// The response to a request: its code and its body.
pub(super) async fn answer(api: &InMemoryApi, request: Request<Body>) -> Result<(u16, Value), Box<Status>> {
    let (parts, body) = request.into_parts();
    let bytes = body.collect_bytes().await;
    let bytes = bytes.map_err(|error| refusal(400, "BadRequest", &error.to_string()))?;
    let body = match &bytes[..] {
        [] => Value::Null,
        // An apply is JSON too, although its type says YAML.
        text => {
            serde_json::from_slice(text).map_err(|error| refusal(400, "BadRequest", &error.to_string()))?
        }
    };
    let now = api.now();
    let Some((key, part)) = key(parts.uri.path()) else {
        return Err(not_here(&format!("`{}`", parts.uri.path())));
    };
    let query: BTreeMap<_, _> = form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes())
        .into_owned()
        .collect();
    if query.contains_key("dryRun") {
        return Err(not_here("dry runs"));
    }
    act(&mut api.objects.locked(), &parts, (key, part), &query, body, now)
}

fn act(
    objects: &mut Objects,
    parts: &Parts,
    (key, part): (Key, Part),
    query: &BTreeMap<String, String>,
    body: Value,
    now: Timestamp,
) -> Result<(u16, Value), Box<Status>> {
    let is_one = !key.name.is_empty();
    let answer = match (&parts.method, part) {
        (&Method::GET, _) if is_one => objects.get(&key).cloned(),
        (&Method::GET, _) => list(objects, &key, query),
        (&Method::POST, Part::Main) if !is_one => {
            let name = body["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            return objects
                .create(Key { name, ..key }, body, now)
                .map(|made| (201, made));
        }
        (&Method::PUT, _) if is_one => objects.change(&key, part, |object| *object = body),
        (&Method::PATCH, _) if is_one => {
            let kind = parts.headers.get(http::header::CONTENT_TYPE);
            match kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default() {
                "application/apply-patch+yaml" => {
                    let manager = query.get("fieldManager").map_or("", String::as_str);
                    objects.apply((&key, part), manager, body, now)
                }
                "application/merge-patch+json" => {
                    objects.change(&key, part, |object| merge_patch(object, body))
                }
                other => return Err(not_here(&format!("patch of the type `{other}`"))),
            }
        }
        (&Method::DELETE, Part::Main) if is_one => objects.delete(&key, &body["preconditions"], now),
        (method, _) => return Err(not_here(&format!("{method} of {}", parts.uri.path()))),
    };
    answer.map(|answer| (200, answer))
}

/// The objects of a kind that a request selects.
fn list(objects: &Objects, key: &Key, query: &BTreeMap<String, String>) -> Result<Value, Box<Status>> {
    if query.get("watch").is_some_and(|watch| watch == "true") {
        return Err(not_here("watches"));
    }
    if query.contains_key("fieldSelector") {
        return Err(not_here("field selectors"));
    }
    let selector = query
        .get("labelSelector")
        .map(|text| text.parse::<Selector>())
        .transpose();
    let selector = selector.map_err(|problem| refusal(400, "BadRequest", &problem))?;
    let is_selected = |object: &&Value| {
        let meta = ObjectMeta::deserialize(&object["metadata"]).unwrap_or_default();
        let labels = meta.labels.unwrap_or_default();
        selector.as_ref().is_none_or(|selector| selector.matches(&labels))
    };
    let items: Vec<_> = objects
        .list(&key.collection, &key.namespace)
        .filter(is_selected)
        .collect();
    Ok(
        json!({"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": objects.version()}, "items": items}),
    )
}

/// The target of a path: an object, its status, or all objects of a kind.
fn key(path: &str) -> Option<(Key, Part)> {
    let segments: Vec<&str> = path.trim_matches('/').split('/').collect();
    let (api, rest) = segments.split_at_checked(if segments[0] == "api" { 2 } else { 3 })?;
    let (namespace, rest) = match rest {
        // Other paths refer to the namespaces themselves.
        ["namespaces", namespace, rest @ ..] if !matches!(rest, [] | ["status" | "finalize"]) => {
            (*namespace, rest)
        }
        rest => ("", rest),
    };
    let (plural, name, part) = match rest {
        [plural] => (plural, "", Part::Main),
        [plural, name] => (plural, *name, Part::Main),
        [plural, name, "status"] => (plural, *name, Part::Status),
        _ => return None,
    };
    let key = Key {
        collection: format!("/{}/{plural}", api.join("/")),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    };
    Some((key, part))
}
