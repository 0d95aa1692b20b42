//! `.status`: what the machine keeps in it, and the description's fields beside.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{JSON, JSONSchemaProps};
use serde_json::{Value as Json, json};

use super::schema_of;
use crate::model::{Description, Kind};

/// The schema of `.status`. Its default keeps a new object from being taken for a ready one: kstatus reads an
/// `observedGeneration` behind `generation` as work to be done.
pub(super) fn schema(description: &Description, kind: &Kind) -> JSONSchemaProps {
    // Written below, in the terms of the type.
    let mut schema: JSONSchemaProps =
        serde_json::from_value(machine_fields()).expect("the machine's fields are a schema");
    let fields = kind.status.iter();
    let users = fields.map(|field| (field.name.to_string(), schema_of(description, &field.schema)));
    schema.properties.get_or_insert_default().extend(users);
    schema.default = Some(JSON(json!({"observedGeneration": -1})));
    schema
}

/// The fields as the runtime writes them. Reasons and messages of conditions are looser than in meta/v1: handlers
/// set them too, and a word that the API server dislikes would hold up the whole status.
fn machine_fields() -> Json {
    json!({
        "type": "object",
        "description": "The observed state of this object, which the operator writes.",
        "properties": {
            "state": {
                "type": "string",
                "description": "Name of the state that the object is in. A restarted operator continues from it.",
            },
            "phase": {
                "type": "string",
                "description": "Human-readable name of the state. Several states may share one.",
            },
            "message": {
                "type": "string",
                "description": "Human-readable message about the current state.",
            },
            "entry": {
                "type": "string",
                "description": "Random identifier, renewed whenever a state is entered. It serves as an idempotency key.",
            },
            "stateEnteredAt": {
                "type": "string",
                "format": "date-time",
                "description": "Time at which the current state was entered, by the clock of the API server.",
            },
            "attempts": {
                "type": "integer",
                "format": "int32",
                "minimum": 0,
                "description": "Number of consecutive failures of the current state's handler.",
            },
            "entries": {
                "type": "object",
                "additionalProperties": {"type": "integer", "format": "int32", "minimum": 0},
                "description": "How many times each state with a limit has been entered.",
            },
            "observedGeneration": {
                "type": "integer",
                "format": "int64",
                "description": "The `metadata.generation` that the operator has handled most recently, or -1 if none.",
            },
            "conditions": {
                "type": "array",
                "description": "Ready, Reconciling and Stalled, as kstatus defines them, and conditions of this operator.",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["type"],
                "items": condition(),
            },
        },
    })
}

fn condition() -> Json {
    json!({
        "type": "object",
        "required": ["lastTransitionTime", "message", "reason", "status", "type"],
        "properties": {
            "type": {
                "type": "string",
                "minLength": 1,
                "maxLength": 316,
                "description": "Type of the condition.",
            },
            "status": {
                "type": "string",
                "enum": ["True", "False", "Unknown"],
                "description": "Status of the condition.",
            },
            "reason": {
                "type": "string",
                "maxLength": 1024,
                "description": "Machine-readable reason for the last change of the status.",
            },
            "message": {
                "type": "string",
                "maxLength": 32768,
                "description": "Human-readable details of the last change of the status.",
            },
            "lastTransitionTime": {
                "type": "string",
                "format": "date-time",
                "description": "Time of the last change of the status.",
            },
            "observedGeneration": {
                "type": "integer",
                "format": "int64",
                "minimum": 0,
                "description": "The `metadata.generation` that the condition is based on.",
            },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::kubernetes::machine_status;

    /// Paths of a description are proven against the one, objects are judged by the other.
    #[test]
    fn the_fields_are_those_that_paths_may_lead_to() {
        fn types(schema: &Json) -> Json {
            match schema {
                Json::Object(fields) => fields
                    .iter()
                    .filter(|(key, _)| {
                        ["type", "format", "properties", "items", "additionalProperties"]
                            .contains(&key.as_str())
                            || !schema["type"].is_string()
                    })
                    .map(|(key, value)| (key.clone(), types(value)))
                    .collect::<std::collections::BTreeMap<_, _>>()
                    .into_iter()
                    .collect(),
                other => other.clone(),
            }
        }
        assert_eq!(types(&machine_fields()), types(machine_status()));
    }
}
