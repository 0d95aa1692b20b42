//! Objects as people change them. The API server judges each change, and its refusal is the answer.
use super::{Controls, Create, Edit, is_name};
use crate::{
    cluster::observability::{
        Problem,
        development::{Served, Target, full},
    },
    error::Error,
};
use http::{Method, Request, StatusCode, header};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::timeout;

/// The field manager of edits, and the parameter that makes the server refuse unknown fields instead of dropping them.
const QUERY: &str = "fieldManager=krator-dev&fieldValidation=Strict";
/// How often an edit is tried again.
const MOST_CONFLICTS: u32 = 10;
/// The longest time that the API server may take. The server of the page takes 30 seconds for an answer at most.
const LONGEST_REQUEST: Duration = Duration::from_secs(20);

impl Controls {
    /// Creates a copy of the sample under a fresh name.
    pub(super) async fn create(&self, create: &Create) -> Result<String, Problem> {
        let served = self
            .inspection
            .development()
            .served(&create.group, &create.kind)?;
        let namespace = [&create.namespace, &served.namespace, &self.namespace]
            .into_iter()
            .find(|namespace| !namespace.is_empty())
            .filter(|_| served.endpoint.is_namespaced())
            .map_or("", |namespace| namespace.as_str());
        if !namespace.is_empty() && !is_name(namespace) {
            let problem = format!("{namespace:?} is not a valid namespace");
            return Err((StatusCode::BAD_REQUEST, problem));
        }
        let sample = sample(&served)?;
        let path = format!("{}?{QUERY}", served.endpoint.path_in(namespace));
        let created = self
            .send(Method::POST, &path, sample.to_string().into_bytes())
            .await?;
        let name = created["metadata"]["name"].as_str().unwrap_or_default();
        Ok(format!("created {}", full(namespace, name)))
    }

    /// The spec of an object as YAML, and what an edit of it has to name.
    pub(super) async fn spec(&self, object: &Target) -> Result<Value, Problem> {
        let path = path(&*self.served(object)?, object);
        let found = self.send(Method::GET, &path, Vec::new()).await?;
        let spec = serde_saphyr::to_string(&found["spec"])
            .map_err(|error| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
        let metadata = &found["metadata"];
        Ok(json!({"uid": metadata["uid"], "generation": metadata["generation"], "spec": spec}))
    }

    /// Replaces the spec of an object, unless it has changed since it was read. Other writes, such as those of the status
    /// by the operator, do not get in the way: after a conflict the object is read again.
    ///
    /// It is no JSON patch with tests, because the API server answers an unknown field in one with the whole object.
    pub(super) async fn edit(&self, edit: &Edit) -> Result<String, Problem> {
        let path = path(&*self.served(&edit.object)?, &edit.object);
        let (name, spec) = (edit.object.full(), read_spec(&edit.spec)?);
        let mut conflicts = 0;
        loop {
            let mut object = self.send(Method::GET, &path, Vec::new()).await?;
            let metadata = &object["metadata"];
            if metadata["uid"] != edit.uid || metadata["generation"] != edit.generation {
                let problem = format!("{name} has changed since its spec was read");
                return Err((StatusCode::CONFLICT, problem));
            }
            if object["spec"] == spec {
                return Ok(format!("{name} has this spec already"));
            }
            object["spec"] = spec.clone();
            let body = object.to_string().into_bytes();
            match self.send(Method::PUT, &format!("{path}?{QUERY}"), body).await {
                Err((StatusCode::CONFLICT, _)) if conflicts < MOST_CONFLICTS => conflicts += 1,
                stored => return stored.map(|_| format!("edited {name}")),
            }
        }
    }

    /// Deletes an object, as `kubectl delete` does.
    pub(super) async fn delete(&self, object: &Target) -> Result<String, Problem> {
        let path = path(&*self.served(object)?, object);
        let options = json!({"propagationPolicy": "Background"});
        self.send(Method::DELETE, &path, options.to_string().into_bytes())
            .await?;
        Ok(format!("deleted {}", object.full()))
    }

    /// Makes a request to the API server. A refusal has its status and its words.
    async fn send(&self, method: Method, path: &str, body: Vec<u8>) -> Result<Value, Problem> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::CONTENT_TYPE, "application/json")
            .body(body)
            .map_err(|error| (StatusCode::BAD_REQUEST, error.to_string()))?;
        match timeout(LONGEST_REQUEST, self.client.request(request)).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(kube::Error::Api(status))) => {
                let code = StatusCode::from_u16(status.code).unwrap_or(StatusCode::BAD_GATEWAY);
                Err((code, status.message.clone()))
            }
            Ok(Err(error)) => Err((StatusCode::BAD_GATEWAY, Error::from(error).to_string())),
            Err(_) => Err((
                StatusCode::GATEWAY_TIMEOUT,
                "the API server did not answer".to_owned(),
            )),
        }
    }
}

/// Where the object is.
fn path(served: &Served, object: &Target) -> String {
    format!("{}/{}", served.endpoint.path_in(&object.namespace), object.name)
}

/// The sample of a kind, for the API server to name and to place.
fn sample(served: &Served) -> Result<Value, Problem> {
    let mut sample: Value = serde_json::from_str(served.sample).map_err(|_| {
        let kind = served.endpoint.kind();
        let problem = format!("this operator has no sample of kind `{kind}`");
        (StatusCode::NOT_FOUND, problem)
    })?;
    let named = sample["metadata"]["name"].as_str().unwrap_or("sample");
    sample["metadata"] = json!({"generateName": format!("{named}-")});
    Ok(sample)
}

/// A spec as people write it. JSON may contain tabs, which YAML does not allow.
fn read_spec(text: &str) -> Result<Value, Problem> {
    serde_json::from_str(text)
        .or_else(|_| serde_saphyr::from_str(text))
        .map_err(|error| (StatusCode::BAD_REQUEST, format!("the spec is not YAML: {error}")))
}
