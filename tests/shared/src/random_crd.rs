//! Random CRDs with traits that CRDs of other authors have, and that krator's descriptions express differently.

use serde_json::{Map, Value, json};

use crate::dice::Dice;
use crate::random_description::{Documents, Size};

/// Names of fields that are not valid in Rust, or that collide with another field in Rust.
const NAMES: &[&str] = &[
    "-Xmx",
    "-limit",
    "1st",
    "a.b",
    "a/b",
    "$ref",
    "self",
    "größe",
    "two words",
    "keyUrl",
    "key_url",
    "key-url",
    "_",
];

/// Kinds whose names have another use in Rust or krator, or are not valid type names in Rust.
const KINDS: &[&str] = &[
    "lake", "vmPool", "State", "Box", "Operator", "Con", "Types", "Default",
];

const COLUMNS: &[(&str, &str)] = &[
    ("Origin (Kind)", ".metadata.ownerReferences[0].kind"),
    ("N/A", ".metadata.labels['app']"),
    ("Größe", "..name"),
    ("1st", ".spec.list[-1].name"),
    ("Not", ".status.conditions[?(@.type!=\"Ready\")].status"),
    ("Kind", ".kind"),
    ("Value", ".value"),
];

/// A CRD of one random kind, as another author may have written it.
pub fn random_crd(dice: &mut Dice) -> Value {
    let mut crd = loop {
        let text = Documents::random(dice, Size::SMALL).text();
        let checked = krator::check("krator.yaml", text.as_bytes());
        if let Some(description) = checked.sound() {
            let mut definitions = krator::render::crd::crd(description).into_iter();
            break definitions.next().expect("a kind has a CRD");
        }
    };
    crd["spec"]
        .as_object_mut()
        .expect("a mapping")
        .remove("conversion");
    let versions = crd["spec"]["versions"].as_array_mut().expect("versions");
    versions.truncate(1);
    versions[0]["storage"] = true.into();
    names(&mut crd, dice);
    let root = &mut crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    let root = root.as_object_mut().expect("a schema");
    root.remove("x-kubernetes-validations");
    if dice.one_in(3) {
        root.remove("required");
    }
    let properties = root["properties"].as_object_mut().expect("fields");
    if dice.one_in(8) {
        properties.insert("operation".to_owned(), json!({"type": "string"}));
    }
    // The status of such kinds is not that of a machine.
    properties.insert("status".to_owned(), status(dice));
    let spec = &mut properties["spec"];
    if dice.one_in(4) {
        spec["nullable"] = true.into();
    }
    schema(spec, 0, dice);
    columns(&mut crd, dice);
    others(&mut crd, dice);
    crd
}

fn names(crd: &mut Value, dice: &mut Dice) {
    if dice.one_in(3) {
        let kind = *dice.among(KINDS);
        crd["spec"]["names"]["kind"] = kind.into();
        crd["spec"]["names"]["listKind"] = format!("{kind}List").into();
    }
}

fn status(dice: &mut Dice) -> Value {
    let mut fields = json!({
        "message": *dice.among(&[json!({"type": "string"}), json!({"type": "array", "items": {"type": "string"}})]),
        "state": *dice.among(&[
            json!({"type": "integer"}),
            json!({"type": "string", "enum": ["Waiting", "box", "Ready!", ""], "nullable": true}),
        ]),
    });
    for _ in 0..dice.below(3) {
        fields[*dice.among(NAMES)] = json!({"type": "string"});
    }
    json!({"type": "object", "properties": fields, "required": ["message"]})
}

/// Adds traits to the objects, lists and texts at and below a schema.
fn schema(at: &mut Value, depth: usize, dice: &mut Dice) {
    let Some(keys) = at.as_object_mut().filter(|_| depth < 6) else {
        return;
    };
    let has_default = keys.contains_key("default");
    match keys.get("type").and_then(Value::as_str) {
        Some("object") if keys.contains_key("properties") && !has_default => strange_fields(keys, dice),
        Some("array") if dice.one_in(3) && !has_default => {
            keys.insert("x-kubernetes-preserve-unknown-fields".to_owned(), true.into());
        }
        Some("string") if keys.contains_key("enum") && dice.one_in(3) && !has_default => {
            keys.insert("nullable".to_owned(), true.into());
        }
        Some("number") if !has_default && !keys.contains_key("enum") && dice.one_in(3) => {
            keys.insert("multipleOf".to_owned(), json!(*dice.among(&[0.01, 0.1, 2.5])));
        }
        _ => {}
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = keys.get_mut(key) {
            schema(inner, depth + 1, dice);
        }
    }
    for (_, field) in keys
        .get_mut("properties")
        .and_then(Value::as_object_mut)
        .into_iter()
        .flatten()
    {
        schema(field, depth + 1, dice);
    }
}

/// Adds fields with such names, and references to them.
fn strange_fields(keys: &mut Map<String, Value>, dice: &mut Dice) {
    for _ in 0..dice.below(3) {
        let name = *dice.among(NAMES);
        let mut field = json!({"type": "string", "maxLength": 9});
        if dice.one_in(3) {
            field = json!({
                "type": "array", "maxItems": 3, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [name],
                "items": {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]},
            });
        } else if dice.one_in(3) {
            field["default"] = "a".into();
        }
        let properties = keys
            .get_mut("properties")
            .and_then(Value::as_object_mut)
            .expect("fields");
        if properties.contains_key(name) {
            continue;
        }
        let is_text = field["type"] == "string" && field.get("default").is_none();
        properties.insert(name.to_owned(), field);
        if is_text && dice.one_in(3) {
            let required = keys.entry("required").or_insert_with(|| json!([]));
            required.as_array_mut().expect("names").push(name.into());
        }
        if let (true, Some(escaped)) = (is_text && dice.one_in(3), krator_schema::cel::escape(name)) {
            let rules = keys
                .entry("x-kubernetes-validations")
                .or_insert_with(|| json!([]));
            let rule = format!("!has(self.{escaped}) || self.{escaped} != 'forbidden'");
            rules.as_array_mut().expect("rules").push(json!({ "rule": rule }));
        }
    }
    // The required fields may now exceed the maximum number of fields.
    keys.remove("maxProperties");
}

fn columns(crd: &mut Value, dice: &mut Dice) {
    let version = &mut crd["spec"]["versions"][0];
    let mut columns = vec![json!({"name": "State", "type": "string", "jsonPath": ".status.state"})];
    for _ in 0..dice.below(4) {
        let (name, path) = *dice.among(COLUMNS);
        columns.push(json!({"name": name, "type": "string", "jsonPath": path, "priority": dice.below(2)}));
    }
    version["additionalPrinterColumns"] = columns.into();
    if let Some(version) = version.as_object_mut() {
        version.remove("selectableFields");
        version.insert("subresources".to_owned(), json!({"status": {}}));
    }
}

/// Adds versions beside the stored one: with the same schema, or with another one.
fn others(crd: &mut Value, dice: &mut Dice) {
    let stored = crd["spec"]["versions"][0].clone();
    for name in ["v1beta1", "v1alpha2"] {
        if !dice.one_in(3) || stored["name"] == name {
            continue;
        }
        let mut version = stored.clone();
        version["name"] = name.into();
        version["storage"] = false.into();
        version["served"] = dice.one_in(2).into();
        if dice.one_in(2) {
            version["deprecated"] = true.into();
        }
        if dice.one_in(2) {
            let root = &mut version["schema"]["openAPIV3Schema"];
            root["properties"]["spec"] = json!({"type": "object", "properties": {"old": {"type": "string"}}});
        }
        let versions = crd["spec"]["versions"].as_array_mut().expect("versions");
        versions.push(version);
    }
}
