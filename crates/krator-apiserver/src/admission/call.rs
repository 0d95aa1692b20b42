//! Calls of webhooks.

use super::webhooks::verified;
use crate::{
    expressions::text,
    posting,
    webhook_calls::{WebhookCall, WebhookResponse},
};
use serde_json::json;

/// Calls a webhook, and verifies its response.
pub(crate) async fn call(call: &WebhookCall) -> WebhookResponse {
    let uid = uuid::Uuid::new_v4().to_string();
    let mut request = call.request.clone();
    request["uid"] = uid.as_str().into();
    let review = json!({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request});
    let failed = |why: String| format!("failed to call webhook: {why}");
    let url = text(&call.client, "url");
    if url.is_empty() {
        let service = &call.client["service"];
        let (namespace, name) = (text(service, "namespace"), text(service, "name"));
        let path = text(service, "path").trim_start_matches('/');
        let seconds = call.timeout.as_secs();
        let host = format!("{name}.{namespace}.svc");
        let why = format!("dial tcp: lookup {host}: this server has no network of Services");
        return Err(failed(format!(
            "Post \"https://{host}:443/{path}?timeout={seconds}s\": {why}"
        )));
    }
    let review = posting::post(&call.client, &review, call.timeout).await;
    let review = review.map_err(failed)?;
    verified(&review, &uid, call.mutates).map_err(|why| format!("received invalid webhook response: {why}"))
}
