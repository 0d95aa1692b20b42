//! The schema of `.status`: the fields that the runtime writes, and those of the description.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{JSON, JSONSchemaProps};
use serde_json::json;

use super::schema_of;
use crate::model::{Description, Kind, machine_status_of};

/// The schema of `.status`. By its default, kstatus does not take a new object for a ready one: an `observedGeneration`
/// below `metadata.generation` means that the operator has work to do.
pub(super) fn schema(description: &Description, kind: &Kind) -> JSONSchemaProps {
    // The table in the model uses only fields of `JSONSchemaProps`.
    let mut schema: JSONSchemaProps = serde_json::from_value(machine_status_of(kind.names_phases()).clone())
        .expect("the machine's fields are a schema");
    let fields = kind.status.iter();
    let users = fields.map(|field| (field.name.to_string(), schema_of(description, &field.schema)));
    schema.properties.get_or_insert_default().extend(users);
    schema.default = Some(JSON(json!({"observedGeneration": -1})));
    schema
}
