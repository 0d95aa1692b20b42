//! The subresource `/scale`: how many replicas an object wants and has, whatever its fields are called.

use super::{Edit, Options, Written, update};
use crate::{
    kinds::{Kind, Of},
    object::{at, meta},
    patch,
    refusal::{FieldError, Refusal},
    state::State,
    store::Key,
};
use serde_json::{Value as Json, json};
use std::sync::Arc;

/// Where the numbers are.
struct Paths<'a> {
    wanted: Vec<&'a str>,
    has: Vec<&'a str>,
    selector: Option<Vec<&'a str>>,
}

fn steps(path: &str) -> Vec<&str> {
    path.split('.').filter(|part| !part.is_empty()).collect()
}

fn paths(kind: &Kind) -> Paths<'_> {
    if let Of::Custom(custom) = &kind.of
        && let Some(scale) = custom.version.subresources.as_ref().and_then(|all| all.scale.as_ref())
    {
        return Paths {
            wanted: steps(&scale.spec_replicas_path),
            has: steps(&scale.status_replicas_path),
            selector: scale.label_selector_path.as_deref().map(steps),
        };
    }
    Paths {
        wanted: steps("spec.replicas"),
        has: steps("status.replicas"),
        selector: None,
    }
}

/// The object as a `Scale`.
///
/// # Errors
///
/// If there is no object.
pub(crate) fn read_scale(state: &State, kind: &Kind, key: &Key) -> Result<Json, Refusal> {
    let object = state.store.get(&kind.id, key);
    let object = object.ok_or_else(|| Refusal::not_found(kind.about(&key.name)))?;
    Ok(scale_of(kind, object))
}

fn scale_of(kind: &Kind, object: &Json) -> Json {
    let paths = paths(kind);
    let mut metadata = json!({"name": meta(object, "name")});
    for field in ["namespace", "uid", "resourceVersion", "creationTimestamp"] {
        let value = at(object, &["metadata", field]);
        if !value.is_null() {
            metadata[field] = value.clone();
        }
    }
    let number = |path: &[&str]| at(object, path).as_i64().unwrap_or(0);
    let mut status = json!({"replicas": number(&paths.has)});
    let selector = match &paths.selector {
        Some(path) => at(object, path).as_str().unwrap_or_default().to_owned(),
        None => selector_text(at(object, &["spec", "selector"])),
    };
    if !selector.is_empty() {
        status["selector"] = selector.into();
    }
    let wanted = number(&paths.wanted);
    let spec = if wanted == 0 && !kind.is_custom() { json!({}) } else { json!({"replicas": wanted}) };
    json!({"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata, "spec": spec, "status": status})
}

/// A label selector as text. A `ReplicationController` has a plain map instead.
fn selector_text(selector: &Json) -> String {
    let labels = selector.get("matchLabels").or(Some(selector).filter(|it| it.get("matchExpressions").is_none()));
    let mut terms: Vec<String> = labels
        .and_then(Json::as_object)
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some(format!("{key}={}", value.as_str()?)))
        .collect();
    for expression in selector.get("matchExpressions").and_then(Json::as_array).into_iter().flatten() {
        let key = at(expression, &["key"]).as_str().unwrap_or_default();
        let values = at(expression, &["values"]).as_array().into_iter().flatten();
        let values = values.filter_map(Json::as_str).collect::<Vec<_>>().join(",");
        terms.push(match at(expression, &["operator"]).as_str() {
            Some("In") => format!("{key} in ({values})"),
            Some("NotIn") => format!("{key} notin ({values})"),
            Some("DoesNotExist") => format!("!{key}"),
            _ => key.to_owned(),
        });
    }
    terms.sort();
    terms.join(",")
}

/// Changes how many replicas an object wants.
///
/// # Errors
///
/// If there is no object, it is not the one that the request expects, or the number is not valid.
pub(crate) fn write_scale(
    state: &mut State,
    kind: &Kind,
    key: &Key,
    edit: Edit,
    options: &Options,
) -> Result<Written, Refusal> {
    let before = read_scale(state, kind, key)?;
    let after = match edit {
        Edit::Replace(scale) => scale,
        Edit::JsonPatch(change) => patch::json_patch(&before, &change)?,
        Edit::MergePatch(change) | Edit::StrategicPatch(change) => patch::merge_patch(&before, &change)?,
        Edit::Apply { .. } => return Err(Refusal::not_built("Server-side apply of `/scale`")),
    };
    let wanted = at(&after, &["spec", "replicas"]);
    let wanted = if wanted.is_null() { 0 } else { wanted.as_i64().unwrap_or(-1) };
    if wanted < 0 {
        let detail = "must be greater than or equal to 0";
        let error = FieldError::invalid("spec.replicas", at(&after, &["spec", "replicas"]).clone(), detail);
        return Err(Refusal::invalid(
            crate::refusal::About::new("autoscaling", "Scale", &key.name),
            &[error],
        ));
    }
    let live = state.store.get(&kind.id, key).map(Arc::clone);
    let mut object = live.map(|live| Json::clone(&live)).unwrap_or_default();
    crate::object::set_meta(&mut object, "resourceVersion", at(&after, &["metadata", "resourceVersion"]).clone());
    let mut place = &mut object;
    for part in paths(kind).wanted {
        place = crate::object::fields_mut(place).entry(part).or_insert(Json::Null);
    }
    *place = wanted.into();
    let written = update(state, kind, key, (Edit::Replace(object), Vec::new()), options)?;
    Ok(Written {
        object: Arc::new(scale_of(kind, &written.object)),
        ..written
    })
}
