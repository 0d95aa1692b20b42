//! Lists of objects: selected, in pieces, as they were at a version.

use crate::{
    kinds::Kind,
    object::{meta, meta_map},
    refusal::{Cause, FieldError, Refusal},
    request::Query,
    selector::{FieldSelector, LabelSelector},
    state::State,
    store::{Key, Store},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use std::{collections::BTreeMap, sync::Arc};

/// Which objects of a kind a list or a watch is about.
#[derive(Debug, Clone)]
pub(crate) struct Selection {
    pub namespace: String,
    /// One object, if the path names it.
    pub name: String,
    labels: LabelSelector,
    fields: FieldSelector,
}

impl Selection {
    /// Reads the selectors of a request.
    ///
    /// # Errors
    ///
    /// If a selector cannot be read, or selects by a field that it may not select by.
    pub fn of(kind: &Kind, namespace: &str, name: &str, query: &Query) -> Result<Self, Refusal> {
        let (labels, fields) = query.selectors()?;
        for field in fields.fields() {
            kind.selectable(&Json::Null, field)
                .map_err(Refusal::bad_request)?;
        }
        Ok(Self {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            labels,
            fields,
        })
    }

    pub fn selects(&self, kind: &Kind, object: &Json) -> bool {
        let is_here = self.namespace.is_empty() || meta(object, "namespace") == self.namespace;
        let is_it = self.name.is_empty() || meta(object, "name") == self.name;
        let label = |key: &str| {
            meta_map(object, "labels")
                .find(|(name, _)| *name == key)
                .map(|(_, value)| value)
        };
        is_here
            && is_it
            && self.labels.matches(label)
            && self
                .fields
                .matches(|field| kind.selectable(object, field).unwrap_or_default())
    }

    fn selects_all(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty() && self.name.is_empty()
    }
}

/// Objects, and what the metadata of their list says.
pub(crate) struct Listed {
    pub objects: Vec<Arc<Json>>,
    pub metadata: Json,
}

/// Lists objects.
///
/// # Errors
///
/// If the request cannot be read, or asks for a version that is not remembered or not there yet.
pub(crate) fn list(
    state: &State,
    kind: &Kind,
    selection: &Selection,
    query: &Query,
) -> Result<Listed, Refusal> {
    let limit = query
        .number("limit")?
        .filter(|limit| *limit > 0)
        .and_then(|limit| usize::try_from(limit).ok());
    let current = state.store.version();
    let version = query.number("resourceVersion")?;
    if query.has("resourceVersionMatch") && version.is_none() {
        let detail = "resourceVersionMatch is forbidden unless resourceVersion is provided";
        let error = FieldError::forbidden("resourceVersionMatch", detail);
        return Err(Refusal::option("ListOptions", error));
    }
    let from = match query.text("continue") {
        "" => None,
        token => Some(Continue::read(token)?),
    };
    let exact = version.filter(|version| *version > 0 && query.text("resourceVersionMatch") == "Exact");
    if let Some(version) = version.filter(|version| *version > current) {
        return Err(too_large(version, current));
    }
    let shown = from
        .as_ref()
        .map(|from| from.version)
        .or(exact)
        .unwrap_or(current);
    let objects = objects_at(&state.store, kind, &selection.namespace, shown)?;
    let start = from.as_ref().map(|from| Key::new(&from.namespace, &from.name));
    let rest = objects
        .into_iter()
        .filter(|(key, _)| start.as_ref().is_none_or(|start| key > start));
    let mut rest = rest
        .map(|(_, object)| object)
        .filter(|object| selection.selects(kind, object));
    let objects: Vec<Arc<Json>> = rest.by_ref().take(limit.unwrap_or(usize::MAX)).collect();
    let remaining = rest.count();
    let mut metadata = json!({"resourceVersion": shown.to_string()});
    if let (Some(last), 1..) = (objects.last(), remaining) {
        let next = Continue {
            version: shown,
            namespace: meta(last, "namespace").to_owned(),
            name: meta(last, "name").to_owned(),
        };
        metadata["continue"] = next.write().into();
        if selection.selects_all() {
            metadata["remainingItemCount"] = remaining.into();
        }
    }
    Ok(Listed { objects, metadata })
}

fn too_large(version: u64, current: u64) -> Refusal {
    let message = format!("Too large resource version: {version}, current: {current}");
    Refusal {
        code: 504,
        reason: "Timeout",
        message: format!("Timeout: {message}"),
        about: Box::default(),
        causes: vec![Cause {
            reason: "ResourceVersionTooLarge".to_owned(),
            message: "Too large resource version".to_owned(),
            field: String::new(),
        }],
        retry_after: Some(1),
        whole: None,
    }
}

/// The objects of a kind as they were at a version: later changes are undone.
fn objects_at(
    store: &Store,
    kind: &Kind,
    namespace: &str,
    version: u64,
) -> Result<BTreeMap<Key, Arc<Json>>, Refusal> {
    let objects = store.list(&kind.id, namespace);
    let mut objects: BTreeMap<Key, Arc<Json>> = objects
        .map(|(key, object)| (key.clone(), Arc::clone(object)))
        .collect();
    let forgotten = || {
        Refusal::expired(
            "The provided continue parameter is too old to display a consistent list result. You can start a new list \
             without the continue parameter.",
        )
    };
    let later = store.changes(&kind.id, version).map_err(|_| forgotten())?;
    for change in later.iter().rev() {
        let key = Key::of(&change.after);
        if !namespace.is_empty() && key.namespace != namespace {
            continue;
        }
        match &change.before {
            Some(before) => objects.insert(key, Arc::clone(before)),
            None => objects.remove(&key),
        };
    }
    Ok(objects)
}

/// The position at which the next piece of a list begins.
#[derive(Serialize, Deserialize)]
struct Continue {
    version: u64,
    namespace: String,
    name: String,
}

impl Continue {
    fn read(token: &str) -> Result<Self, Refusal> {
        let text = URL_SAFE_NO_PAD.decode(token).ok();
        let token = text.and_then(|text| serde_json::from_slice(&text).ok());
        token.ok_or_else(|| Refusal::bad_request("continue key is not valid"))
    }

    fn write(&self) -> String {
        URL_SAFE_NO_PAD.encode(json!(self).to_string())
    }
}
