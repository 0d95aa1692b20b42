//! `.status`: what the machine keeps in it, and the description's fields beside.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{JSON, JSONSchemaProps};
use serde_json::json;

use super::schema_of;
use crate::model::{Description, Kind, machine_status};

/// The schema of `.status`. Its default keeps a new object from being taken for a ready one: kstatus reads an
/// `observedGeneration` behind `generation` as work to be done.
pub(super) fn schema(description: &Description, kind: &Kind) -> JSONSchemaProps {
    let mut schema: JSONSchemaProps =
        serde_json::from_value(machine_status().clone()).expect("the machine's fields are a schema");
    let fields = kind.status.iter();
    let users = fields.map(|field| (field.name.to_string(), schema_of(description, &field.schema)));
    schema.properties.get_or_insert_default().extend(users);
    schema.default = Some(JSON(json!({"observedGeneration": -1})));
    schema
}
