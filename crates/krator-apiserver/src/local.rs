//! Requests from the process of the server itself: it applies, deletes and lists objects, and saves them for the next
//! start.

use crate::{
    server::Server,
    snapshot::Snapshot,
    state::{id, lock},
    store::versions::Versions,
};
use http::{Method, Request, header};
use http_body_util::{BodyExt as _, Full};
use serde_json::Value as Json;
use std::sync::Arc;

/// A refusal of a request.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Refused {
    /// The HTTP status of the response.
    pub code: u16,
    /// The reason, as kubectl prints it.
    pub message: String,
}

impl Server {
    /// Applies an object as `kubectl apply --server-side --force-conflicts` does, and returns the stored object.
    ///
    /// # Errors
    ///
    /// If the kind of the object is not served, or the server refuses the object.
    pub async fn apply(&self, object: &Json, manager: &str) -> Result<Json, Refused> {
        let query = format!("?force=true&fieldManager={}", in_path(manager));
        self.send(Method::PATCH, object, &query).await
    }

    /// Deletes an object, of which only the kind and the name are used. Succeeds if the object does not exist.
    ///
    /// # Errors
    ///
    /// If the kind of the object is not served, or the server refuses the request.
    pub async fn delete(&self, object: &Json) -> Result<(), Refused> {
        match self.send(Method::DELETE, object, "").await {
            Err(refused) if refused.code != 404 => Err(refused),
            _ => Ok(()),
        }
    }

    async fn send(&self, method: Method, object: &Json, query: &str) -> Result<Json, Refused> {
        let text = |path: &[&str]| crate::object::at(object, path).as_str().unwrap_or_default();
        let (version, kind) = (text(&["apiVersion"]), text(&["kind"]));
        let resource = lock(&self.state).kinds.of_object(version, kind).map(Arc::clone);
        let resource = resource.ok_or_else(|| Refused {
            code: 404,
            message: format!("no kind {kind:?} is served in version {version:?}"),
        })?;
        let root = if resource.group.is_empty() { "api" } else { "apis" };
        let namespace = match text(&["metadata", "namespace"]) {
            _ if !resource.namespaced => String::new(),
            "" => "/namespaces/default".to_owned(),
            name => format!("/namespaces/{}", in_path(name)),
        };
        let path = format!(
            "/{root}/{version}{namespace}/{}/{}{query}",
            resource.id.resource,
            in_path(text(&["metadata", "name"])),
        );
        // JSON is valid YAML.
        let body = match method {
            Method::PATCH => object.to_string(),
            _ => String::new(),
        };
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::CONTENT_TYPE, "application/apply-patch+yaml")
            .body(Full::new(bytes::Bytes::from(body)))
            .map_err(|cause| Refused {
                code: 400,
                message: cause.to_string(),
            })?;
        let answer = self.answer(request).await;
        let code = answer.status();
        // Reading the body of a response in this process cannot fail.
        let body = answer.into_body().collect().await.map(|body| body.to_bytes());
        let body: Json = serde_json::from_slice(&body.unwrap_or_default()).unwrap_or_default();
        if code.is_success() {
            return Ok(body);
        }
        let message = body["message"].as_str().unwrap_or("the server gave no reason");
        Err(Refused {
            code: code.as_u16(),
            message: message.to_owned(),
        })
    }

    /// The stored objects of a resource, in the order of their namespaces and names.
    pub fn objects(&self, group: &str, resource: &str) -> Vec<Arc<Json>> {
        let state = lock(&self.state);
        let of = id(group, resource);
        let stored = state.store.list(&of, "");
        stored.map(|(_, object)| Arc::clone(object)).collect()
    }

    /// The objects of a resource in a served version, in the order of their namespaces and names.
    ///
    /// # Errors
    ///
    /// If the conversion of an object fails.
    pub fn objects_in(&self, group: &str, version: &str, resource: &str) -> Result<Vec<Arc<Json>>, Refused> {
        let kind = lock(&self.state).kinds.find(group, version, resource).cloned();
        let objects = self.objects(group, resource).into_iter();
        let read = |object| {
            kind.as_ref()
                .map_or_else(|| Ok(Arc::clone(&object)), |kind| kind.read_shared(&object))
        };
        objects
            .map(|object| {
                read(object).map_err(|refusal| Refused {
                    code: refusal.code,
                    message: refusal.message,
                })
            })
            .collect()
    }

    /// Notifies of each change of any object.
    pub fn versions(&self) -> Versions {
        lock(&self.state).store.versions()
    }

    /// All present objects.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::of(&lock(&self.state))
    }
}

/// Escapes all characters except letters and digits for a path or a query.
fn in_path(part: &str) -> String {
    percent_encoding::utf8_percent_encode(part, percent_encoding::NON_ALPHANUMERIC).to_string()
}
