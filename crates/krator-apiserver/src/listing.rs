//! Lists of objects, with selectors, in pages, at a version.

use crate::{
    kinds::Kind,
    object::{meta, meta_map},
    parameters::{ListParameters, version_number},
    refusal::{Cause, Refusal},
    selector::{FieldSelector, LabelSelector},
    state::State,
    store::{Key, Store},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use std::{collections::BTreeMap, sync::Arc};

/// The objects of a kind that a list or a watch selects.
#[derive(Debug, Clone)]
pub(crate) struct Selection {
    pub namespace: String,
    labels: LabelSelector,
    fields: FieldSelector,
}

impl Selection {
    /// The selection of a request.
    ///
    /// # Errors
    ///
    /// If a field selector names a field that is not selectable.
    pub fn of(kind: &Kind, namespace: &str, parameters: &ListParameters) -> Result<Self, Refusal> {
        let (labels, fields) = (parameters.labels.clone(), parameters.fields.clone());
        for field in fields.fields() {
            kind.selectable(&Json::Null, field)
                .map_err(Refusal::bad_request)?;
        }
        Ok(Self {
            namespace: namespace.to_owned(),
            labels,
            fields,
        })
    }

    pub fn selects(&self, kind: &Kind, object: &Json) -> bool {
        let is_here = self.namespace.is_empty() || meta(object, "namespace") == self.namespace;
        let label = |key: &str| {
            meta_map(object, "labels")
                .find(|(name, _)| *name == key)
                .map(|(_, value)| value)
        };
        is_here
            && self.labels.matches(label)
            && self
                .fields
                .matches(|field| kind.selectable(object, field).unwrap_or_default())
    }

    fn selects_all(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }
}

/// The listed objects, and the metadata of the list.
pub(crate) struct Listed {
    pub objects: Vec<Arc<Json>>,
    pub metadata: Json,
}

/// Lists objects.
///
/// # Errors
///
/// If the parameters are malformed, if the requested version has expired or is in the future, or if an object cannot be
/// converted.
pub(crate) fn list(
    state: &State,
    kind: &Kind,
    selection: &Selection,
    parameters: &ListParameters,
) -> Result<Listed, Refusal> {
    let limit = parameters.limit;
    let current = state.store.version();
    let from = match parameters.continues.as_str() {
        "" => None,
        token => Some(Continue::read(token)?),
    };
    let version = version_number(&parameters.version)
        .map_err(|error| Refusal::bad_request(format!("invalid resource version: {error}")))?;
    if from.is_some() && version.is_some_and(|version| version > 0) {
        let why = "specifying resource version is not allowed when using continue";
        return Err(Refusal::bad_request(why));
    }
    let exact = version.filter(|version| *version > 0 && parameters.is_exact);
    if let Some(version) = version {
        expect_version(state, version)?;
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
    let mut selected = Vec::new();
    for (_, object) in rest {
        let object = read(kind, &object)?;
        if selection.selects(kind, &object) {
            selected.push(object);
        }
    }
    let remaining = selected.len().saturating_sub(limit.unwrap_or(usize::MAX));
    selected.truncate(selected.len() - remaining);
    let objects = selected;
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

/// A stored object in the form of lists and watches.
///
/// # Errors
///
/// If the conversion fails: a real server then cannot fill its cache.
pub(crate) fn read(kind: &Kind, stored: &Arc<Json>) -> Result<Arc<Json>, Refusal> {
    kind.read_shared(stored).map_err(|refusal| {
        let (version, name, why) = (kind.api_version(), &kind.kind, refusal.message);
        let why = format!("storage is (re)initializing: failed to list {version}, Kind={name}: {why}");
        Refusal::too_many_requests(why, 1)
    })
}

/// Refuses a version that is in the future.
///
/// # Errors
///
/// If it is.
pub(crate) fn expect_version(state: &State, version: u64) -> Result<(), Refusal> {
    let current = state.store.version();
    if version <= current {
        return Ok(());
    }
    let message = format!("Too large resource version: {version}, current: {current}");
    Err(Refusal::timeout(
        &message,
        Cause {
            reason: "ResourceVersionTooLarge".to_owned(),
            message: "Too large resource version".to_owned(),
            field: String::new(),
        },
    ))
}

/// The objects of a kind at a version, computed by reverting the later changes.
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

/// The position at which the next page of a list begins.
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
        token.ok_or_else(|| Refusal::bad_request("invalid continue token: continue key is not valid"))
    }

    fn write(&self) -> String {
        URL_SAFE_NO_PAD.encode(json!(self).to_string())
    }
}
