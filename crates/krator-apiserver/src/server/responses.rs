//! Responses: their bodies and headers.

use super::Body;
use crate::{audit, openapi, refusal::Refusal};
use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use jiff::Timestamp;
use serde_json::Value as Json;

pub(super) fn warn(response: &mut Response<Body>, warning: &str) {
    let quoted = warning.replace('\\', "\\\\").replace('"', "\\\"");
    if let Ok(value) = HeaderValue::try_from(format!("299 - \"{quoted}\"")) {
        response.headers_mut().append(header::WARNING, value);
    }
}

pub(super) fn at_kind(object: &Json) -> &str {
    object.get("kind").and_then(Json::as_str).unwrap_or_default()
}

pub(super) fn answered(status: StatusCode, json: &Json) -> Response<Body> {
    let mut text = json.to_string();
    text.push('\n');
    let mut response = json_response(status, full(text));
    if at_kind(json) == "Status" {
        response.extensions_mut().insert(audit::Status(json.clone()));
    }
    response
}

pub(super) fn full(text: impl Into<Bytes>) -> Body {
    Full::new(text.into()).boxed_unsync()
}

pub(super) fn json_response(status: StatusCode, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

/// Converts a JSON response to YAML.
pub(super) async fn in_yaml(response: Response<Body>) -> Response<Body> {
    let is_json = |value: &HeaderValue| value == "application/json";
    if !response.headers().get(header::CONTENT_TYPE).is_some_and(is_json) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    // Reading a body of this server cannot fail.
    let body = body
        .collect()
        .await
        .map(|body| body.to_bytes())
        .unwrap_or_default();
    let mut json: Json = serde_json::from_slice(&body).unwrap_or_default();
    json.sort_all_objects();
    let text = serde_yaml::to_string(&json).unwrap_or_default();
    let yaml = HeaderValue::from_static("application/yaml");
    parts.headers.insert(header::CONTENT_TYPE, yaml);
    Response::from_parts(parts, full(text))
}

/// Sets the `Date` header, from which clients read the time of the server.
pub(super) fn date(response: &mut Response<Body>, now: Timestamp) {
    let now = now.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    if let Ok(now) = HeaderValue::try_from(now) {
        response.headers_mut().insert(header::DATE, now);
    }
}

pub(super) fn discovered(document: &Json) -> Response<Body> {
    let mut response = answered(StatusCode::OK, document);
    let form = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static(form));
    response
}

pub(super) fn openapi_v2() -> Response<Body> {
    let mut response = Response::new(full(openapi::EMPTY_V2));
    let form = HeaderValue::from_static(openapi::PROTOBUF_V2);
    response.headers_mut().insert(header::CONTENT_TYPE, form);
    response
}

/// The response for a path that the server does not serve.
pub(super) fn no_page() -> Response<Body> {
    let mut response = text("404 page not found\n");
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

pub(super) fn text(text: &'static str) -> Response<Body> {
    let mut response = Response::new(full(text));
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, plain);
    response
}

pub(super) fn refused(refusal: &Refusal) -> Response<Body> {
    let status = StatusCode::from_u16(refusal.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = answered(status, &refusal.status());
    if let Some(seconds) = refusal.retry_after {
        response
            .headers_mut()
            .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}
