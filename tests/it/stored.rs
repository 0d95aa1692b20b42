//! The fields that the machine stores in `.status`, compared with the record in `testdata/stored-fields.txt`.
//!
//! The type of a stored field must never change. Server-side apply decodes the recorded fields of earlier writes with
//! the present schema: if the two do not match, every later apply to `/status` fails with the code 500 for the rest of
//! the object's life, and no operator can repair that. The same applies to the keys of a list. So fields may be added,
//! but all recorded ones stay as they are.

use crate::case_file::is_update;
use krator::model::machine_status;
use krator_runtime::{Ask, Condition, MachineStatus, ObjectiveStart, TimeoutFired};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const RECORD: &str = "testdata/stored-fields.txt";

/// The properties of each field that matter for server-side apply, by its path.
fn fields(schema: &Value, path: &str, found: &mut BTreeMap<String, String>) {
    let mut what = schema["type"].as_str().expect("a type").to_owned();
    for keyword in [
        "format",
        "x-kubernetes-list-type",
        "x-kubernetes-map-type",
        "x-kubernetes-int-or-string",
        "x-kubernetes-preserve-unknown-fields",
    ] {
        if let Some(value) = schema.get(keyword) {
            what += &format!(" {keyword}={}", value.to_string().trim_matches('"'));
        }
    }
    if let Some(keys) = schema["x-kubernetes-list-map-keys"].as_array() {
        let keys: Vec<&str> = keys.iter().filter_map(Value::as_str).collect();
        what += &format!(" by {}", keys.join(","));
    }
    found.insert(path.to_owned(), what);
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        fields(field, &format!("{path}.{name}"), found);
    }
    for (keyword, below) in [("items", "[]"), ("additionalProperties", "{}")] {
        if schema[keyword].is_object() {
            fields(&schema[keyword], &format!("{path}{below}"), found);
        }
    }
}

#[test]
fn the_type_of_a_stored_field_never_changes() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(RECORD);
    let text = fs::read_to_string(&path).expect("a file of the repository");
    let recorded = text
        .lines()
        .map(|line| line.split_once(": ").expect("a field and its type"));
    let mut now = BTreeMap::new();
    fields(machine_status(), ".status", &mut now);
    for (field, was) in recorded.clone() {
        assert_eq!(
            now.get(field).map(String::as_str),
            Some(was),
            "{field} is stored in clusters as `{was}`. With another type, every apply to /status of an object that has it \
             fails for ever. Give the field a new name instead, and leave this one in the schema"
        );
    }
    let record: String = now
        .iter()
        .map(|(field, what)| format!("{field}: {what}\n"))
        .collect();
    if is_update(&path) {
        fs::write(&path, record).expect("a file of the repository");
    } else {
        assert_eq!(
            record, text,
            "a field was added; KRATOR_UPDATE=1 puts it on the record, for good"
        );
    }
}

#[test]
fn what_the_runtime_writes_is_what_the_schema_says() {
    let condition: Condition = serde_json::from_value(json!({
        "type": "Ready", "status": "True", "reason": "Roam", "message": "Gahrooo!",
        "lastTransitionTime": "2026-01-01T00:00:00Z", "observedGeneration": 1,
    }))
    .expect("a condition");
    let written = MachineStatus {
        state: Some("Roam".to_owned()),
        phase: Some("Roaming".to_owned()),
        message: Some("Gahrooo!".to_owned()),
        entry: "00000000000000ff".parse().ok(),
        state_entered_time: Some(condition.last_transition_time),
        attempts: Some(1),
        entries: [("Check".to_owned(), 2), ("Roam".to_owned(), 1)].into(),
        ask: Some(Ask {
            to: "Eat".to_owned(),
            since: "2026-01-01T00:00:00Z".parse().expect("a time"),
            id: Some("00000000000000ff".to_owned()),
            leader: Some("00000000000000ff".to_owned()),
        }),
        fired_timeouts: vec![TimeoutFired {
            state: "Roam".to_owned(),
            at: condition.last_transition_time,
        }],
        objectives: vec![ObjectiveStart {
            name: "Tagged-Roam".to_owned(),
            since: condition.last_transition_time,
        }],
        observed_generation: Some(1),
        spec_digests: Some(Box::new(
            [(".spec.size".to_owned(), "00000000000000ff".to_owned())].into(),
        )),
        last_handled_request: Some("now".to_owned()),
        conditions: vec![condition],
    };
    let value = serde_json::to_value(&written).expect("a status is JSON");
    let mut missing = Vec::new();
    judge(&value, machine_status(), ".status", &mut missing);
    assert!(missing.is_empty(), "{missing:#?}");
    let read: MachineStatus = serde_json::from_value(value).expect("what was written can be read");
    assert_eq!(read, written);
}

/// Finds values whose type differs from their schema, or that have no schema, and fields of the schema without a value.
fn judge(value: &Value, schema: &Value, path: &str, wrong: &mut Vec<String>) {
    let fits = match schema["type"].as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("integer") => value.is_i64(),
        Some("string") => value.is_string(),
        _ => false,
    };
    if !fits {
        return wrong.push(format!("{path} is {value}"));
    }
    for (name, value) in value.as_object().into_iter().flatten() {
        let values = &schema["additionalProperties"];
        judge(
            value,
            if values.is_object() {
                values
            } else {
                &schema["properties"][name]
            },
            &format!("{path}.{name}"),
            wrong,
        );
    }
    for name in schema["properties"]
        .as_object()
        .into_iter()
        .flat_map(|all| all.keys())
    {
        if value.get(name).is_none() {
            wrong.push(format!("{path}.{name} is never written"));
        }
    }
    for item in value.as_array().into_iter().flatten() {
        judge(item, &schema["items"], &format!("{path}[]"), wrong);
    }
}
