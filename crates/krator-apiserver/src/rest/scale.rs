//! The subresource `/scale`: the desired and the actual number of replicas, at any path of the object.

use super::{
    Edit, Options, Written,
    scaled::{VERSION, paths, scale_of, steps},
    update,
};
use crate::{
    admission::{self, Operation},
    custom::Custom,
    kinds::{Kind, scale_type},
    managed::{self, Manager, ScaleFields},
    object::{at, fields_mut, set_meta},
    patch,
    refusal::{About, FieldError, Refusal},
    state::State,
    store::Key,
};
use serde_json::Value as Json;
use std::{collections::BTreeMap, sync::Arc};

/// The object as a `Scale`.
///
/// # Errors
///
/// If the object does not exist.
pub(crate) fn read_scale(state: &State, kind: &Kind, key: &Key) -> Result<Json, Refusal> {
    let object = state.store.get(&kind.id, key);
    let object = object.ok_or_else(|| Refusal::not_found(kind.about(&key.name)))?;
    Ok(scale_of(kind, &*kind.read(object)?))
}

/// Changes the desired number of replicas.
///
/// # Errors
///
/// If the object does not exist or does not meet a precondition, or if the number is invalid.
pub(crate) fn write_scale(
    state: &mut State,
    kind: &Kind,
    key: &Key,
    edit: Edit,
    options: &Options,
) -> Result<Written, Refusal> {
    let live = state.store.get(&kind.id, key).map(Arc::clone);
    let live = live.ok_or_else(|| Refusal::not_found(kind.about(&key.name)))?;
    let live = kind.read(&live)?;
    let [path, _] = paths(kind);
    let fields = ScaleFields {
        api_version: kind.api_version(),
        replicas: replicas_by_version(kind),
    };
    let before = fields.to_scale(&live, &scale_of(kind, &live))?;
    let after = edited(&state.world.time(), &before, edit, options)?;
    let about = options.attributes(kind, Operation::Update, key.clone());
    let after = admission::mutate(state, &about, after, Some(&before))?;
    let mut object = fields.to_object(&after, &live)?;
    set_meta(
        &mut object,
        "resourceVersion",
        at(&after, &["metadata", "resourceVersion"]).clone(),
    );
    let wanted = at(&after, &["spec", "replicas"]).as_i64().unwrap_or(0);
    if wanted < 0 && !kind.is_custom() {
        let error = FieldError::invalid("spec.replicas", wanted, "must be greater than or equal to 0");
        return Err(Refusal::invalid(
            About::new("autoscaling", "Scale", &key.name),
            &[error],
        ));
    }
    let mut place = &mut object;
    for part in path {
        place = fields_mut(place).entry(part).or_insert(Json::Null);
    }
    *place = wanted.into();
    let written = update(state, kind, key, (Edit::Tracked(object), Vec::new()), options)?;
    Ok(Written {
        object: Arc::new(scale_of(kind, &*kind.read(&written.object)?)),
        ..written
    })
}

/// The path of the replicas in each version of a kind; empty if a version has none.
fn replicas_by_version(kind: &Kind) -> BTreeMap<String, Vec<String>> {
    let path = |steps: Vec<&str>| steps.into_iter().map(str::to_owned).collect();
    let of_custom = |custom: &Custom| {
        custom
            .scale()
            .map_or_else(Vec::new, |scale| path(steps(&scale.spec_replicas_path)))
    };
    match kind.versions() {
        Some(versions) => {
            let all = versions.all.iter();
            all.map(|(version, custom)| (version.clone(), of_custom(custom)))
                .collect()
        }
        None => BTreeMap::from([(kind.api_version(), path(paths(kind)[0].clone()))]),
    }
}

/// The changed `Scale`, with its managed fields.
fn edited(time: &str, before: &Json, edit: Edit, options: &Options) -> Result<Json, Refusal> {
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
            return managed::apply(Some(before), &config, &type_, &by, force, time, &nothing);
        }
        Edit::Unreadable { refusal, .. } => return Err(refusal),
    };
    Ok(managed::update(Some(before), after, &type_, &by, time, &nothing))
}
