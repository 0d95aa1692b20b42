//! The subresource `/scale`: how many replicas an object wants and has, whatever its fields are called.

use super::{Edit, Options, Written, refuse_invalid, update};
use crate::{
    custom::Custom,
    kinds::{Kind, Of, scale_type},
    managed::{self, Manager, ScaleFields},
    object::{at, fields_mut, meta, set_meta},
    patch,
    refusal::{About, Refusal},
    state::{State, now},
    store::Key,
};
use serde_json::{Value as Json, json};
use std::{collections::BTreeMap, sync::Arc};

const VERSION: &str = "autoscaling/v1";

/// The steps of a path such as `.spec.replicas`.
fn steps(path: &str) -> Vec<&str> {
    path.split('.').filter(|part| !part.is_empty()).collect()
}

/// Where the number is that an object wants.
fn wanted_path(kind: &Kind) -> Vec<&str> {
    match &kind.of {
        Of::Custom(custom) => custom.scale().map(|scale| steps(&scale.spec_replicas_path)).unwrap_or_default(),
        Of::Builtin(_) => vec!["spec", "replicas"],
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
    match &kind.of {
        Of::Builtin(builtin) => builtin.scale(object).unwrap_or_default(),
        Of::Custom(custom) => custom_scale(custom, object),
    }
}

fn custom_scale(custom: &Custom, object: &Json) -> Json {
    let Some(scale) = custom.scale() else { return Json::Null };
    let mut metadata = json!({"name": meta(object, "name")});
    for field in ["namespace", "uid", "resourceVersion", "creationTimestamp"] {
        let value = at(object, &["metadata", field]);
        if !value.is_null() {
            metadata[field] = value.clone();
        }
    }
    let number = |path: &str| at(object, &steps(path)).as_i64().unwrap_or(0);
    let mut status = json!({"replicas": number(&scale.status_replicas_path)});
    let selector = scale.label_selector_path.as_deref().map(|path| at(object, &steps(path)));
    if let Some(selector) = selector.and_then(Json::as_str).filter(|text| !text.is_empty()) {
        status["selector"] = selector.into();
    }
    let wanted = match number(&scale.spec_replicas_path) {
        0 => json!({}),
        wanted => json!({"replicas": wanted}),
    };
    json!({"kind": "Scale", "apiVersion": VERSION, "metadata": metadata, "spec": wanted, "status": status})
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
    let live = state.store.get(&kind.id, key).map(Arc::clone);
    let live = live.ok_or_else(|| Refusal::not_found(kind.about(&key.name)))?;
    let path = wanted_path(kind);
    let fields = ScaleFields {
        api_version: kind.api_version(),
        replicas: BTreeMap::from([(kind.api_version(), path.iter().map(|part| (*part).to_owned()).collect())]),
    };
    let before = fields.to_scale(&live, &scale_of(kind, &live))?;
    let after = edited(&before, edit, options)?;
    let mut object = fields.to_object(&after, &live)?;
    set_meta(&mut object, "resourceVersion", at(&after, &["metadata", "resourceVersion"]).clone());
    let wanted = at(&after, &["spec", "replicas"]);
    if let Of::Builtin(builtin) = &kind.of {
        let errors = builtin.apply_scale(&mut object, &after);
        refuse_invalid(About::new("autoscaling", "Scale", &key.name), &errors)?;
    } else {
        let mut place = &mut object;
        for part in path {
            place = fields_mut(place).entry(part).or_insert(Json::Null);
        }
        *place = if wanted.is_null() { 0.into() } else { wanted.clone() };
    }
    let written = update(state, kind, key, (Edit::Tracked(object), Vec::new()), options)?;
    Ok(Written {
        object: Arc::new(scale_of(kind, &written.object)),
        ..written
    })
}

/// The `Scale` that the edit makes, with its field managers.
fn edited(before: &Json, edit: Edit, options: &Options) -> Result<Json, Refusal> {
    let by = Manager {
        name: options.manager.clone(),
        api_version: VERSION.to_owned(),
        subresource: "scale".to_owned(),
    };
    let (type_, nothing) = (scale_type(), Default::default());
    let after = match edit {
        Edit::Replace(scale) | Edit::Tracked(scale) => scale,
        Edit::JsonPatch(change) => patch::json_patch(before, &change)?,
        Edit::MergePatch(change) => patch::merge_patch(before, &change)?,
        Edit::StrategicPatch(change) => patch::strategic_merge_patch(before, &change, &type_)?,
        Edit::Apply { config, force } => {
            managed::check_kind(&config, VERSION, "Scale")?;
            return managed::apply(Some(before), &config, &type_, &by, force, &now(), &nothing);
        }
    };
    Ok(managed::update(Some(before), after, &type_, &by, &now(), &nothing))
}
