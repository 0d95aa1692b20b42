//! Calls of webhooks.

use super::webhooks::verified;
use crate::{
    expressions::text,
    posting,
    questions::{Answer, Question},
};
use serde_json::json;

/// Puts a question to its webhook.
pub(crate) async fn call(question: &Question) -> Answer {
    let uid = uuid::Uuid::new_v4().to_string();
    let mut request = question.request.clone();
    request["uid"] = uid.as_str().into();
    let review = json!({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request});
    let failed = |why: String| format!("failed to call webhook: {why}");
    let url = text(&question.client, "url");
    if url.is_empty() {
        let service = &question.client["service"];
        let (namespace, name) = (text(service, "namespace"), text(service, "name"));
        let path = text(service, "path").trim_start_matches('/');
        let seconds = question.timeout.as_secs();
        let host = format!("{name}.{namespace}.svc");
        let why = format!("dial tcp: lookup {host}: this server has no network of Services");
        return Err(failed(format!(
            "Post \"https://{host}:443/{path}?timeout={seconds}s\": {why}"
        )));
    }
    let review = posting::post(&question.client, &review, question.timeout).await;
    let review = review.map_err(failed)?;
    verified(&review, &uid, question.mutates)
        .map_err(|why| format!("received invalid webhook response: {why}"))
}
