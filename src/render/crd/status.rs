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
        "description": "What was observed.",
        "properties": {
            "state": {
                "type": "string",
                "description": "State of the machine; a restarted operator goes on from here.",
            },
            "phase": {
                "type": "string",
                "description": "The state for people; several states may share a phase.",
            },
            "message": {
                "type": "string",
                "description": "What there is to say about the state.",
            },
            "entry": {
                "type": "string",
                "description": "Random, new with each entry of a state: a key for effects that must not happen twice.",
            },
            "stateEnteredAt": {
                "type": "string",
                "format": "date-time",
                "description": "When the state was entered, by the clock of the API server.",
            },
            "attempts": {
                "type": "integer",
                "format": "int32",
                "minimum": 0,
                "description": "Failures of the state's handler in a row.",
            },
            "entries": {
                "type": "object",
                "additionalProperties": {"type": "integer", "format": "int32", "minimum": 0},
                "description": "How often states that have a limit were entered.",
            },
            "observedGeneration": {
                "type": "integer",
                "format": "int64",
                "description": "Generation that the operator has dealt with; -1 before the first.",
            },
            "conditions": {
                "type": "array",
                "description": "Ready, Reconciling and Stalled, as kstatus reads them, and further ones.",
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
                "description": "Name of the condition.",
            },
            "status": {
                "type": "string",
                "enum": ["True", "False", "Unknown"],
                "description": "Whether it holds.",
            },
            "reason": {
                "type": "string",
                "maxLength": 1024,
                "description": "A word for programs.",
            },
            "message": {
                "type": "string",
                "maxLength": 32768,
                "description": "A sentence for people.",
            },
            "lastTransitionTime": {
                "type": "string",
                "format": "date-time",
                "description": "When the status last changed.",
            },
            "observedGeneration": {
                "type": "integer",
                "format": "int64",
                "minimum": 0,
                "description": "Generation that it speaks of.",
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
