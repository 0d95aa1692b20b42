//! The schema of `.status`: the fields that the runtime writes, and those of the description.

use serde_json::{Value as Json, json};

use super::schema_of;
use crate::model::{Description, Kind, machine_status, machine_status_of};

/// The status of a new object. It prevents kstatus from treating the object as ready: an `observedGeneration` below
/// `metadata.generation` means that the operator has work to do.
pub fn new_status() -> Json {
    json!({"observedGeneration": -1})
}

/// The schema of `.status`.
pub(super) fn schema(description: &Description, kind: &Kind) -> Json {
    let mut schema = machine_status_of(kind.names_phases()).clone();
    let kept = [
        ("ask", kind.has_gates()),
        ("firedTimeouts", kind.remembers_timeouts()),
        ("specDigests", kind.keeps_digests()),
        ("objectives", !kind.objectives.is_empty()),
    ];
    for (field, _) in kept.into_iter().filter(|(_, is_kept)| *is_kept) {
        schema["properties"][field] = machine_status()["properties"][field].clone();
    }
    if kind.limits.is_empty()
        && let Some(ask) = schema
            .pointer_mut("/properties/ask/properties")
            .and_then(Json::as_object_mut)
    {
        ask.remove("leader");
    }
    schema["default"] = new_status();
    schema.sort_all_objects();
    if let Json::Object(properties) = &mut schema["properties"] {
        let users = kind.status.iter();
        properties.extend(users.map(|field| (field.name.to_string(), schema_of(description, &field.schema))));
        properties.sort_keys();
    }
    schema
}
