//! The fields of `.status` that the machine keeps, shared by paths, names and the CRD.

use std::sync::OnceLock;

use serde_json::{Value as Json, json};

use crate::names::FieldName;

/// The schema of `.status` with the fields that the machine keeps, for the runtime, which writes them, and for the CRD.
///
/// Reasons and messages of conditions are less strict than in `meta/v1`: handlers set them too, and a single value that
/// the API server refuses would block the whole status.
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
                "description": "Human-readable name of the state, in kinds that name a phase. Several states may share one.",
            },
            "message": {
                "type": "string",
                "description": "Human-readable message about the current state.",
            },
            "entry": {
                "type": "string",
                "description": "Random identifier, renewed whenever a state is entered. It serves as an idempotency key.",
            },
            "stateEnteredTime": {
                "type": "string",
                "format": "date-time",
                "description": "Time at which the current state was entered, by the clock of the API server.",
            },
            "attempts": {
                "type": "integer",
                "format": "int32",
                "minimum": 0,
                "description": "Number of consecutive failures of the current state's handler; absent while there is none.",
            },
            "entries": {
                "type": "array",
                "description": "How many times each state with a limit has been entered.",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["state"],
                "items": {
                    "type": "object",
                    "required": ["count", "state"],
                    "properties": {
                        "state": {
                            "type": "string",
                            "maxLength": 63,
                            "description": "Name of the state.",
                        },
                        "count": {
                            "type": "integer",
                            "format": "int32",
                            "minimum": 0,
                            "description": "Number of entries.",
                        },
                    },
                },
            },
            "firedTimeouts": {
                "type": "array",
                "description": "Timeouts at a point in time that have fired. Each fires once.",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["state"],
                "items": {
                    "type": "object",
                    "required": ["at", "state"],
                    "properties": {
                        "state": {
                            "type": "string",
                            "maxLength": 63,
                            "description": "Name of the state.",
                        },
                        "at": {
                            "type": "string",
                            "format": "date-time",
                            "description": "The point in time.",
                        },
                    },
                },
            },
            "ask": {
                "type": "object",
                "description": "The state that the object waits to enter, because its gate is shut.",
                "required": ["since", "to"],
                "properties": {
                    "to": {
                        "type": "string",
                        "maxLength": 63,
                        "description": "Name of the state.",
                    },
                    "since": {
                        "type": "string",
                        "format": "date-time",
                        "description": "Time at which the wait began.",
                    },
                    "id": {
                        "type": "string",
                        "maxLength": 63,
                        "description": "Identifier of this wait, which an approval has to name, if the gate needs one.",
                    },
                    "leader": {
                        "type": "string",
                        "maxLength": 63,
                        "description": "Replica of the operator that may end the wait, where a limit counts objects.",
                    },
                },
            },
            "objectives": {
                "type": "array",
                "description": "Running measurements of the time that the object takes from one state to another.",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["name"],
                "items": {
                    "type": "object",
                    "required": ["name", "since"],
                    "properties": {
                        "name": {
                            "type": "string",
                            "maxLength": 127,
                            "description": "Names of both states, with a `-` between them.",
                        },
                        "since": {
                            "type": "string",
                            "format": "date-time",
                            "description": "Time at which the first state was entered.",
                        },
                    },
                },
            },
            "observedGeneration": {
                "type": "integer",
                "format": "int64",
                "description": "The `metadata.generation` that the operator has handled most recently, or -1 if none.",
            },
            "specDigests": {
                "type": "object",
                "x-kubernetes-map-type": "atomic",
                "description": "Digests of fields of the spec by their paths, as the operator has handled them most \
                 recently.",
                "additionalProperties": {"type": "string"},
            },
            "lastHandledRequest": {
                "type": "string",
                "description": "The value of the annotation `requestedAt` that was handled most recently.",
            },
            "conditions": {
                "type": "array",
                "description": "Ready, Reconciling and Stalled, as kstatus defines them, Paused while the object is paused, and \
                                conditions of this operator.",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["type"],
                "items": condition(),
            },
        },
    }))
}

/// The fields that the machine keeps in the objects of one kind, without the internal ones: `phase` is one of them only
/// if a state has a phase.
pub fn machine_status_of(names_phases: bool) -> &'static Json {
    static WITHOUT_DIGESTS: OnceLock<[Json; 2]> = OnceLock::new();
    let both = WITHOUT_DIGESTS.get_or_init(|| {
        [
            &["ask", "firedTimeouts", "objectives", "specDigests", "phase"][..],
            &["ask", "firedTimeouts", "objectives", "specDigests"],
        ]
        .map(|absent| {
            let mut status = machine_status().clone();
            if let Some(fields) = status["properties"].as_object_mut() {
                fields.retain(|name, _| !absent.contains(&name.as_str()));
            }
            status
        })
    });
    &both[usize::from(names_phases)]
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
