//! The schema of `.status`: the fields that the runtime writes, and those of the description.

use serde_json::{Value as Json, json};

use super::schema_of;
use crate::model::{Description, Kind, machine_status, machine_status_of};

/// The schema of `.status`. By its default, kstatus does not take a new object for a ready one: an `observedGeneration`
/// below `metadata.generation` means that the operator has work to do.
pub(super) fn schema(description: &Description, kind: &Kind) -> Json {
    let mut schema = machine_status_of(kind.names_phases()).clone();
    if !kind.told_apart().is_empty() {
        schema["properties"]["specDigests"] = machine_status()["properties"]["specDigests"].clone();
    }
    schema["default"] = json!({"observedGeneration": -1});
    schema.sort_all_objects();
    if let Json::Object(properties) = &mut schema["properties"] {
        let users = kind.status.iter();
        properties.extend(users.map(|field| (field.name.to_string(), schema_of(description, &field.schema))));
        properties.sort_keys();
    }
    schema
}
