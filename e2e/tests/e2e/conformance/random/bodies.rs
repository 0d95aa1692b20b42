//! Bodies of random requests: objects, patches and options, most of them valid.

use super::word;
use crate::dice::Dice;
use serde_json::{Value as Json, json};

/// A valid object of a kind.
fn sound(kind: &str, name: &str) -> Json {
    let pod = json!({"containers": [{"name": "c", "image": "nginx"}]});
    let custom = "conformance.krator.dev/v1";
    let (api_version, kind, rest) = match kind {
        "configmap" => ("v1", "ConfigMap", json!({"data": {"a": "1"}})),
        "secret" => ("v1", "Secret", json!({"stringData": {"a": "1"}})),
        "pod" => ("v1", "Pod", json!({"spec": pod})),
        "deployment" => {
            let template = json!({"metadata": {"labels": {"a": "b"}}, "spec": pod});
            let spec = json!({"selector": {"matchLabels": {"a": "b"}}, "template": template});
            ("apps/v1", "Deployment", json!({"spec": spec}))
        }
        "lease" => (
            "coordination.k8s.io/v1",
            "Lease",
            json!({"spec": {"holderIdentity": "me", "leaseDurationSeconds": 15}}),
        ),
        "moose" => (
            custom,
            "Moose",
            json!({"spec": {"park": "yosemite", "tags": ["a", "b"], "notes": {"a": "b"}, "extra": {"b": [1, {"c": 2}]}}}),
        ),
        "elk" => (custom, "Elk", json!({"spec": {"check": "none", "names": ["a"]}})),
        "herd" => (custom, "Herd", json!({"size": 3})),
        other => unreachable!("no resource is of the kind {other}"),
    };
    let mut object = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}});
    for (key, value) in rest.as_object().into_iter().flatten() {
        object[key] = value.clone();
    }
    object
}

/// A valid object of a kind, as text.
pub fn object(kind: &str, name: &str) -> String {
    sound(kind, name).to_string()
}

/// Values that may be replaced: their places and the new values.
const CHANGES: [(&str, &str); 45] = [
    ("/metadata/labels", r#"{"a": "b"}"#),
    ("/metadata/labels", r#"{"-": "b"}"#),
    ("/metadata/labels", r#"{"a": 1}"#),
    ("/metadata/labels", "[]"),
    ("/metadata/annotations", r#"{"a": "b"}"#),
    ("/metadata/annotations", r#"{"a": null}"#),
    ("/metadata/name", "null"),
    ("/metadata/name", "5"),
    ("/metadata/name", r#""A_b""#),
    ("/metadata/name", r#""other""#),
    ("/metadata/namespace", r#""other""#),
    ("/metadata/namespace", r#""$ns""#),
    ("/metadata/generateName", r#""g-""#),
    ("/metadata/resourceVersion", r#""1""#),
    ("/metadata/resourceVersion", r#""$rv""#),
    ("/metadata/resourceVersion", r#""x""#),
    ("/metadata/uid", r#""0f0f0f0f-0000-0000-0000-000000000000""#),
    ("/metadata/uid", r#""$uid""#),
    ("/metadata/finalizers", r#"["a.b/c"]"#),
    ("/metadata/finalizers", r#"["a"]"#),
    ("/metadata/finalizers", r#"["a b"]"#),
    (
        "/metadata/ownerReferences",
        r#"[{"apiVersion": "v1", "kind": "X", "name": "x"}]"#,
    ),
    (
        "/metadata/ownerReferences",
        r#"[{"apiVersion": "v1", "kind": "X", "name": "x", "foo": 1}]"#,
    ),
    ("/metadata/ownerReferences", r#"[{"kind": "X"}]"#),
    ("/metadata/deletionTimestamp", r#""2020-01-01T00:00:00Z""#),
    ("/metadata/creationTimestamp", "null"),
    ("/metadata/creationTimestamp", r#""yesterday""#),
    ("/metadata/generation", "7"),
    ("/metadata/managedFields", "[]"),
    (
        "/metadata/managedFields",
        r#"[{"manager": "m", "operation": "Foo"}]"#,
    ),
    ("/metadata/foo", "1"),
    ("/metadata", "null"),
    ("/metadata", "[]"),
    ("/foo", r#"{"a": [1]}"#),
    ("/spec/foo", "1"),
    ("/spec", "null"),
    ("/spec", "[]"),
    ("/spec/calves", "3"),
    ("/spec/calves", "30"),
    ("/spec/calves", "\"x\""),
    ("/status", r#"{"phase": "x"}"#),
    ("/data", r#"{"a": "2", "b c": "3"}"#),
    ("/kind", r#""Foo""#),
    ("/kind", "null"),
    ("/apiVersion", r#""foo/v1""#),
];

/// Sets a value, if its parent exists; `null` removes it.
fn exchange(object: &mut Json, pointer: &str, value: &str) {
    let (around, key) = pointer.rsplit_once('/').expect("pointers begin with a slash");
    let value: Json = serde_json::from_str(value).expect("the values above are JSON");
    if let Some(fields) = object.pointer_mut(around).and_then(Json::as_object_mut) {
        fields.insert(key.to_owned(), value);
    }
}

/// An object with up to two changes, or a text that is not an object.
pub fn changed_object(dice: &mut Dice, kind: &str, name: &str) -> String {
    if dice.one_in(20) {
        return broken(dice, &object(kind, name));
    }
    if dice.one_in(40) {
        return object(word(dice, &["configmap", "moose", "herd"]), name);
    }
    let mut object = sound(kind, name);
    for _ in 0..*dice.among(&[0, 1, 1, 2]) {
        let (pointer, value) = *dice.among(&CHANGES);
        exchange(&mut object, pointer, value);
    }
    if kind == "moose" && dice.one_in(4) {
        object["status"] = json!({"phase": "x", "calves": 2});
    }
    object.to_string()
}

/// A text that cannot be parsed, or is unusual.
fn broken(dice: &mut Dice, sound: &str) -> String {
    let text = match dice.below(9) {
        0 => return String::new(),
        1 => return sound[..dice.below(sound.len())].to_owned(),
        2 => "[]",
        3 => "null",
        4 => "5",
        5 => "\"x\"",
        6 => "{}",
        7 => return sound.replacen('{', r#"{"kind": "Twice", "data": {"a": "1", "a": "2"}, "#, 1),
        _ => return format!("{}{}{}", "{\"x\":", "[".repeat(20_000), "]".repeat(20_000)),
    };
    text.to_owned()
}

const OPERATIONS: [&str; 22] = [
    r#"{"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}"#,
    r#"{"op": "add", "path": "/metadata/labels/c", "value": "d"}"#,
    r#"{"op": "replace", "path": "/metadata/labels/c", "value": "e"}"#,
    r#"{"op": "remove", "path": "/metadata/labels/c"}"#,
    r#"{"op": "remove", "path": "/metadata/labels"}"#,
    r#"{"op": "test", "path": "/metadata/name", "value": "a"}"#,
    r#"{"op": "test", "path": "/kind", "value": "x"}"#,
    r#"{"op": "test", "path": "/nothing"}"#,
    r#"{"op": "copy", "from": "/metadata/labels", "path": "/metadata/annotations"}"#,
    r#"{"op": "move", "from": "/metadata/labels", "path": "/metadata/annotations"}"#,
    r#"{"op": "copy", "from": "/nothing", "path": "/metadata/annotations"}"#,
    r#"{"op": "add", "path": "/metadata/finalizers", "value": ["a.b/c"]}"#,
    r#"{"op": "add", "path": "/metadata/finalizers/-", "value": "a.b/d"}"#,
    r#"{"op": "add", "path": "/metadata/finalizers/9", "value": "a.b/d"}"#,
    r#"{"op": "add", "path": "/spec/foo", "value": 1}"#,
    r#"{"op": "add", "path": "/metadata/foo", "value": 1}"#,
    r#"{"op": "replace", "path": "/spec/calves", "value": 4}"#,
    r#"{"op": "replace", "path": "", "value": {}}"#,
    r#"{"op": "foo", "path": "/kind"}"#,
    r#"{"op": "add"}"#,
    r#"{"op": "add", "path": "/spec/extra", "value": {"b": 1}, "foo": 2}"#,
    "5",
];

/// A patch in this format.
pub fn patch(dice: &mut Dice, form: &str, kind: &str, name: &str) -> String {
    if form.starts_with("application/json-patch") {
        if dice.one_in(25) {
            return bomb(dice, kind);
        }
        let count = *dice.among(&[0, 1, 1, 2, 3]);
        let operations: Vec<&str> = (0..count).map(|_| *dice.among(&OPERATIONS)).collect();
        let text = format!("[{}]", operations.join(", "));
        return if dice.one_in(25) {
            broken(dice, &text)
        } else {
            text
        };
    }
    if form.starts_with("application/apply-patch") {
        return changed_object(dice, kind, name);
    }
    if dice.one_in(25) {
        return broken(dice, &object(kind, name));
    }
    let mut patch = json!({"metadata": {}, "spec": {}});
    for _ in 0..*dice.among(&[0, 1, 1, 2]) {
        let (pointer, value) = *dice.among(&CHANGES);
        exchange(&mut patch, pointer, value);
    }
    patch["spec"]
        .as_object()
        .is_some_and(serde_json::Map::is_empty)
        .then(|| patch["spec"].take());
    if patch["spec"].is_null() {
        patch.as_object_mut().map(|fields| fields.shift_remove("spec"));
    }
    patch.to_string()
}

/// A short patch with a large result, or a long patch.
fn bomb(dice: &mut Dice, kind: &str) -> String {
    let place = if kind == "moose" {
        "/spec/extra"
    } else {
        "/metadata/annotations"
    };
    let mut operations = vec![json!({"op": "add", "path": place, "value": {"a": "x".repeat(100_000)}})];
    match dice.below(3) {
        // Each operation doubles the size.
        0 => operations
            .extend((0..20).map(|at| json!({"op": "copy", "from": place, "path": format!("{place}/b{at}")}))),
        1 => {
            operations.extend((0..40).map(
                |at| json!({"op": "copy", "from": format!("{place}/a"), "path": format!("{place}/b{at}")}),
            ))
        }
        _ => operations = vec![json!({"op": "test", "path": "/metadata/name", "value": "a"}); 10_001],
    }
    Json::from(operations).to_string()
}

/// Options of a deletion.
pub fn delete_options(dice: &mut Dice) -> String {
    let texts = [
        "{}",
        "null",
        "[]",
        "5",
        "{",
        " ",
        r#"{"kind": "DeleteOptions", "apiVersion": "v1"}"#,
        r#"{"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/v1", "propagationPolicy": "Background"}"#,
        r#"{"kind": "Foo", "apiVersion": "v1"}"#,
        r#"{"propagationPolicy": "Background"}"#,
        r#"{"propagationPolicy": "Foo"}"#,
        r#"{"propagationPolicy": "Orphan", "orphanDependents": true}"#,
        r#"{"orphanDependents": false}"#,
        r#"{"orphanDependents": "x"}"#,
        r#"{"gracePeriodSeconds": 0}"#,
        r#"{"gracePeriodSeconds": "x"}"#,
        r#"{"gracePeriodSeconds": 0, "preconditions": {"uid": "$uid"}}"#,
        r#"{"preconditions": {"uid": "x"}}"#,
        r#"{"preconditions": {"uid": 5}}"#,
        r#"{"preconditions": {"resourceVersion": "1"}}"#,
        r#"{"dryRun": ["All"]}"#,
        r#"{"dryRun": ["x"]}"#,
        r#"{"dryRun": "All"}"#,
        r#"{"foo": 1}"#,
    ];
    (*dice.among(&texts)).to_owned()
}
