//! One server in a round: the requests to it, and its answers.

use super::{super::masked::Mask, drawn::Drawn};
use http::{Method, Request, header};
use kube::{Client, client::Body};
use serde_json::{Value as Json, json};
use std::{collections::BTreeMap, time::Duration};

/// The deadline of an answer. A real server waits for three seconds before it answers that a version is too large.
const DEADLINE: Duration = Duration::from_secs(20);

/// A server and the objects of a round.
pub struct Session {
    client: Client,
    namespace: String,
    mask: Mask,
    /// Values from the server's answers: the version and uid of an object, and the continue token of a list.
    known: BTreeMap<&'static str, String>,
}

/// An answer.
pub struct Answer {
    pub code: u16,
    /// The compared part, in one line.
    pub shown: String,
}

impl Session {
    /// Makes the namespace of a round.
    pub async fn begin(client: &Client, namespace: &str) -> Session {
        let mut session = Session {
            client: client.clone(),
            namespace: namespace.to_owned(),
            mask: Mask::new(namespace),
            known: BTreeMap::new(),
        };
        let body = json!({"metadata": {"name": namespace}}).to_string();
        let made = session
            .send(&Drawn::json(Method::POST, "/api/v1/namespaces", body))
            .await;
        assert_eq!(made.code, 201, "{}", made.shown);
        for (path, body) in Drawn::first_objects() {
            let made = session.send(&Drawn::json(Method::POST, path, body)).await;
            assert_eq!(made.code, 201, "{}", made.shown);
        }
        session
    }

    /// Deletes the namespace with all its objects.
    pub async fn end(mut self) {
        let path = format!("/api/v1/namespaces/{}", self.namespace);
        let deleted = self
            .send(&Drawn::json(Method::DELETE, &path, "{}".to_owned()))
            .await;
        assert_eq!(deleted.code, 200, "{}", deleted.shown);
    }

    fn filled(&self, text: &str) -> String {
        let text = text.replace("$ns", &self.namespace);
        ["$rv", "$uid", "$continue"].iter().fold(text, |text, key| {
            text.replace(key, self.known.get(key).map_or("1", String::as_str))
        })
    }

    /// Sends a request, and reads the answer.
    pub async fn send(&mut self, drawn: &Drawn) -> Answer {
        let answer = tokio::time::timeout(DEADLINE, self.answer(drawn)).await;
        answer.unwrap_or_else(|_| Answer {
            code: 0,
            shown: format!("no answer within {DEADLINE:?}"),
        })
    }

    async fn answer(&mut self, drawn: &Drawn) -> Answer {
        let mut request = Request::builder()
            .method(drawn.method.as_str())
            .uri(self.filled(&drawn.uri()));
        for (name, value) in &drawn.headers {
            request = request.header(name.as_str(), self.filled(value));
        }
        let body = self.filled(&drawn.body).into_bytes();
        let request = request
            .body(Body::from(body))
            .expect("only sound requests are drawn");
        let response = self.client.send(request).await.expect("the server answers");
        let (parts, body) = response.into_parts();
        let code = parts.status.as_u16();
        let text = |name| {
            let values = parts.headers.get_all(name).iter();
            values
                .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
                .collect::<Vec<_>>()
        };
        let form = text(header::CONTENT_TYPE).join(", ");
        // The events of watches are compared by the cases.
        if code == 200 && drawn.is_watch() {
            return Answer {
                code,
                shown: format!("{code} {form}"),
            };
        }
        let bytes = body.collect_bytes().await.expect("the server answers to the end");
        let body = match serde_json::from_slice::<Json>(&bytes) {
            Ok(body) => body,
            Err(_) if form.contains("yaml") => serde_yaml::from_slice(&bytes).expect("YAML"),
            Err(_) => Json::from(String::from_utf8_lossy(&bytes).into_owned()),
        };
        self.remember(&body);
        let mut warnings = text(header::WARNING);
        warnings.sort();
        let is_foreign = code == 200 && drawn.is_about_others();
        let body = if is_foreign {
            Json::Null
        } else {
            self.mask.exactly(&body)
        };
        let refused = |key: &str| body[key].as_str().unwrap_or_default().to_owned();
        let causes = body.pointer("/details/causes").and_then(Json::as_array);
        let mut causes = causes.cloned().unwrap_or_default();
        // The servers describe errors of builtin kinds in different words.
        if !drawn.is_custom() {
            for cause in causes.iter_mut().filter_map(Json::as_object_mut) {
                cause.remove("message");
            }
        }
        // The servers may report the errors of an object in different orders.
        causes.sort_by_key(ToString::to_string);
        causes.dedup();
        let shown = match code {
            422 if causes.len() > 1 || !drawn.is_custom() && !causes.is_empty() => {
                format!(
                    "{code} {}: {} {form} {warnings:?}",
                    refused("reason"),
                    Json::from(causes)
                )
            }
            400.. if body["kind"] == "Status" => {
                let mut details = body["details"].clone();
                if !causes.is_empty() {
                    details["causes"] = causes.into();
                }
                format!(
                    "{code} {}: {} {details} {form} {warnings:?}",
                    refused("reason"),
                    refused("message")
                )
            }
            _ => format!("{code} {body} {form} {warnings:?}"),
        };
        Answer { code, shown }
    }

    fn remember(&mut self, body: &Json) {
        let text = |pointer: &str| body.pointer(pointer).and_then(Json::as_str).unwrap_or_default();
        // The versions of lists change with each write on the server.
        let is_object = !text("/metadata/uid").is_empty();
        for (key, pointer, counts) in [
            ("$rv", "/metadata/resourceVersion", is_object),
            ("$uid", "/metadata/uid", is_object),
            ("$continue", "/metadata/continue", true),
        ] {
            if counts && !text(pointer).is_empty() {
                self.known.insert(key, text(pointer).to_owned());
            }
        }
    }
}
