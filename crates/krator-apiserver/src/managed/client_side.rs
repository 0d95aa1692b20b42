//! Objects that were written by client-side `kubectl apply`, after `lastappliedmanager.go` and `lastappliedupdater.go`
//! of `k8s.io/apimachinery`. The annotation with the last applied configuration shows which conflicts of `kubectl apply
//! --server-side` are with kubectl itself, and is kept up to date.

use super::conflicts::{Conflict, Failure};
use super::entries::Managed;
use super::tracking::Tracking;
use crate::field_set::FieldSet;
use crate::typed::{Duplicates, compare, field_set, validate};
use crate::values;
use serde_json::Value as Json;

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// The field manager of server-side `kubectl apply`.
const KUBECTL: &str = "kubectl";
/// The largest total size of the annotations of an object, in bytes.
const MAX_ANNOTATIONS: usize = 256 * 1024;

/// Applies a configuration. kubectl also owns the fields that it has applied client-side.
///
/// # Errors
/// The reason why it cannot be applied.
pub(super) fn apply(
    tracking: &Tracking<'_>,
    live: &Json,
    config: &Json,
    managed: Managed,
    force: bool,
) -> Result<(Json, Managed), Failure> {
    if tracking.by.name != KUBECTL {
        return tracking.apply(live, config, managed, force);
    }
    let applied = match tracking.apply(live, config, managed.clone(), force) {
        Err(Failure::Conflicts(conflicts)) => match owned_by_kubectl(tracking, live) {
            Some(owned) => {
                let foreign: Vec<Conflict> = conflicts
                    .into_iter()
                    .filter(|conflict| !owned.has(&conflict.path))
                    .collect();
                if !foreign.is_empty() {
                    return Err(Failure::Conflicts(foreign));
                }
                tracking.apply(live, config, managed, true)
            }
            None => Err(Failure::Conflicts(conflicts)),
        },
        applied => applied,
    };
    applied.map(|(mut object, managed)| {
        if last_applied(&object).is_some() {
            set_last_applied(&mut object, config);
        }
        (object, managed)
    })
}

fn last_applied(object: &Json) -> Option<&str> {
    object["metadata"]["annotations"][LAST_APPLIED]
        .as_str()
        .filter(|config| !config.is_empty())
}

/// The fields of the last applied configuration that are unchanged since. None if it is malformed.
fn owned_by_kubectl(tracking: &Tracking<'_>, live: &Json) -> Option<FieldSet> {
    validate(tracking.type_, live, Duplicates::Refused).ok()?;
    let last: Json = serde_json::from_str(last_applied(live)?).ok()?;
    if last["apiVersion"] != tracking.by.api_version.as_str() || last["kind"] != live["kind"] {
        return None;
    }
    validate(tracking.type_, &last, Duplicates::Refused).ok()?;
    let compared = compare(tracking.type_, &last, live);
    let fields = field_set(tracking.type_, &last);
    Some(
        fields
            .difference(&compared.modified)
            .difference(&compared.added)
            .difference(&compared.removed),
    )
}

fn set_last_applied(object: &mut Json, config: &Json) {
    let mut config = config.clone();
    if let Some(annotations) = config
        .pointer_mut("/metadata/annotations")
        .and_then(Json::as_object_mut)
    {
        annotations.shift_remove(LAST_APPLIED);
    }
    let Some(annotations) = object
        .pointer_mut("/metadata/annotations")
        .and_then(Json::as_object_mut)
    else {
        return;
    };
    annotations.insert(
        LAST_APPLIED.to_owned(),
        format!("{}\n", values::go_json(&config)).into(),
    );
    let size = |(key, value): (&String, &Json)| key.len() + value.as_str().map_or(0, str::len);
    if annotations.iter().map(size).sum::<usize>() > MAX_ANNOTATIONS {
        annotations.shift_remove(LAST_APPLIED);
    }
}
