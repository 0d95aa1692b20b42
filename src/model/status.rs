//! The fields of `.status` that the machine keeps, once for paths, names and the CRD.

use std::sync::OnceLock;

use serde_json::{Value as Json, json};

use crate::names::FieldName;

/// The schema of `.status` with the fields that the machine keeps, as the runtime writes them and as the CRD has them.
///
/// Reasons and messages of conditions are less strict than in `meta/v1`: handlers set them too, and one value that the API
/// server refuses would hold up the whole status.
pub fn machine_status() -> &'static Json {
    static STATUS: OnceLock<Json> = OnceLock::new();
    STATUS.get_or_init(|| json!({
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
    }))
}

/// Whether the machine keeps a status field of that name.
pub(crate) fn is_machine_field(name: &FieldName) -> bool {
    machine_status()["properties"].get(name.as_str()).is_some()
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
