//! The conversion of custom resources between the versions of their definition, after `pkg/apiserver/conversion` of
//! `k8s.io/apiextensions-apiserver`. Instead of a Service, this server calls a function of its embedder; a webhook with
//! a `url` is called as by a real server. The conversion does not use schemas: the caller prunes the result.

use crate::{
    object::{at, meta, set},
    posting,
    values::go_type,
};
use serde_json::{Map, Value as Json, json};
use std::{collections::BTreeSet, fmt, sync::Arc, thread, time::Duration};

/// Converts an object to another `apiVersion`, as the conversion webhook of its definition would, or returns an error
/// message.
pub type Convert = dyn Fn(&Json, &str) -> Result<Json, String> + Send + Sync;

/// Converts the objects of one definition.
#[derive(Clone)]
pub(crate) struct Converter {
    /// The `apiVersion` of each version of the definition, served or not.
    versions: BTreeSet<String>,
    /// The webhook of the definition. Without one, a conversion changes only `apiVersion`.
    webhook: Option<Webhook>,
}

#[derive(Clone)]
struct Webhook {
    /// The `clientConfig` of the webhook.
    client: Json,
    /// The function that is called instead of a Service.
    convert: Option<Arc<Convert>>,
}

/// The timeout of a webhook call.
const TIMEOUT: Duration = Duration::from_secs(30);

impl fmt::Debug for Converter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Converter")
            .field("versions", &self.versions)
            .finish_non_exhaustive()
    }
}

impl Converter {
    /// The converter of a definition with these versions. `convert` replaces the Service of its webhook, if it has one.
    pub fn new(spec: &Json, versions: BTreeSet<String>, convert: Option<&Arc<Convert>>) -> Self {
        let conversion = at(spec, &["conversion"]);
        let is_webhook = at(conversion, &["strategy"]) == "Webhook";
        Self {
            versions,
            webhook: is_webhook.then(|| Webhook {
                client: at(conversion, &["webhook", "clientConfig"]).clone(),
                convert: convert.map(Arc::clone),
            }),
        }
    }

    /// Converts an object to another version.
    ///
    /// # Errors
    ///
    /// The message of a real server if the definition lacks one of the versions, or the webhook fails.
    pub fn convert(&self, object: &Json, to: &str) -> Result<Json, String> {
        let text = |key: &str| at(object, &[key]).as_str().unwrap_or_default();
        let from = text("apiVersion");
        for (version, way) in [(to, "to"), (from, "from")] {
            if !self.versions.contains(version) {
                return Err(format!(
                    "request to convert CR {way} an invalid group/version: {version}"
                ));
            }
        }
        // Field managers start from an empty object, which is converted without the webhook.
        let is_empty = object.as_object().is_none_or(|fields| fields.len() <= 2);
        let webhook = self.webhook.as_ref().filter(|_| from != to && !is_empty);
        let Some(webhook) = webhook else {
            let mut object = object.clone();
            set(&mut object, "apiVersion", to.into());
            return Ok(object);
        };
        let about = format!("conversion webhook for {from}, Kind={}", text("kind"));
        let failed = |why: String| format!("{about} failed: {why}");
        let converted = match (&webhook.client["url"], &webhook.convert) {
            (Json::String(_), _) => ask(&webhook.client, object, to),
            (_, Some(convert)) => convert(object, to),
            (_, None) => Err(unreachable(&webhook.client)),
        };
        let mut converted = converted.map_err(failed)?;
        check(object, &converted, to).map_err(|why| format!("{about} returned invalid object{why}"))?;
        restore_metadata(object, &mut converted)
            .map_err(|why| format!("{about} returned invalid metadata: {why}"))?;
        Ok(converted)
    }
}

/// Calls a webhook and blocks the thread, because the read of an object cannot continue without the response. So the
/// webhook must not be served by this thread, or send requests to this server.
fn ask(client: &Json, object: &Json, to: &str) -> Result<Json, String> {
    let uid = uuid::Uuid::new_v4().to_string();
    let review = json!({
        "kind": "ConversionReview", "apiVersion": "apiextensions.k8s.io/v1",
        "request": {"uid": uid, "desiredAPIVersion": to, "objects": [object]},
    });
    let asked = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime
            .map_err(|error| error.to_string())?
            .block_on(posting::post(client, &review, TIMEOUT))
    };
    // This thread may already run a future, and must not block on a second runtime.
    let answer = thread::scope(|scope| scope.spawn(asked).join());
    let mut answer = answer.unwrap_or_else(|_| Err("the call panicked".to_owned()))?;
    let response = &mut answer["response"];
    if response["uid"] != uid.as_str() {
        return Err(format!("expected response.uid={uid:?}, got {}", response["uid"]));
    }
    if response["result"]["status"] != "Success" {
        let message = at(response, &["result", "message"]).as_str().unwrap_or_default();
        return Err(message.to_owned());
    }
    let objects = response["convertedObjects"].as_array_mut();
    match objects.map(|objects| (objects.len(), objects.pop())) {
        Some((1, Some(object))) => Ok(object),
        other => {
            let count = other.map_or(0, |(count, _)| count);
            Err(format!("expected 1 converted objects, got {count}"))
        }
    }
}

/// The error of a real server for a Service that does not exist.
fn unreachable(client: &Json) -> String {
    let text = |path: &[&str]| at(client, path).as_str().unwrap_or_default();
    let name = text(&["service", "name"]);
    let (namespace, path) = (text(&["service", "namespace"]), text(&["service", "path"]));
    let (path, port) = (path.trim_start_matches('/'), at(client, &["service", "port"]));
    format!("Post \"https://{name}.{namespace}.svc:{port}/{path}?timeout=30s\": service {name:?} not found")
}

/// Refuses a converted object that has another identity, or a version that was not requested.
fn check(before: &Json, after: &Json, to: &str) -> Result<(), String> {
    let text = |object: &Json, key: &str| at(object, &[key]).as_str().unwrap_or_default().to_owned();
    let version = text(after, "apiVersion");
    if version != to {
        return Err(format!(
            " at index 0: invalid groupVersion (expected {to}, received {version})"
        ));
    }
    let [expected, kind] = [before, after].map(|object| text(object, "kind"));
    if kind != expected {
        return Err(format!(
            " at index 0: invalid kind (expected {expected}, received {kind})"
        ));
    }
    for (key, name) in [("name", "name"), ("namespace", "namespace"), ("uid", "UID")] {
        let [before, after] = [before, after].map(|object| meta(object, key));
        if before != after {
            return Err(format!(": must have the same {name}: {before} != {after}"));
        }
    }
    Ok(())
}

/// Restores the metadata that a conversion must not change: everything except labels and annotations.
fn restore_metadata(before: &Json, after: &mut Json) -> Result<(), String> {
    let made = match after.get("metadata") {
        None => return Err("missing metadata in converted object".to_owned()),
        Some(Json::Object(made)) => made,
        Some(other) => {
            return Err(format!(
                "invalid metadata of type {} in converted object",
                go_type(other)
            ));
        }
    };
    let mut metadata: Map<String, Json> = at(before, &["metadata"]).as_object().cloned().unwrap_or_default();
    for key in ["labels", "annotations"] {
        match made.get(key) {
            None | Some(Json::Null) => {
                metadata.shift_remove(key);
            }
            Some(Json::Object(map)) => {
                if let Some((name, value)) = map.iter().find(|(_, value)| !value.is_string()) {
                    let found = go_type(value);
                    return Err(format!(
                        "metadata.{key}[{name}] must be a string, but is {found} in converted object"
                    ));
                }
                metadata.insert(key.to_owned(), map.clone().into());
            }
            Some(other) => {
                let found = go_type(other);
                return Err(format!(
                    "invalid metadata.{key} of type {found} in converted object"
                ));
            }
        }
    }
    set(after, "metadata", metadata.into());
    Ok(())
}

#[cfg(test)]
mod tests;
