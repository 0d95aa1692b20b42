//! Random edits that need a new version: a description with the version `v1beta1`, and one with `v1` that lacks the former.

use crate::dice::Dice;
use serde_json::{Map, Value, json};

/// Two descriptions, before and after an edit.
pub struct VersionPair {
    pub old: String,
    pub new: String,
}

/// Types of which no two accept the same values here, in the notation of descriptions.
fn types() -> Vec<Value> {
    vec![
        json!("string"),
        json!("integer"),
        json!("boolean"),
        json!("quantity"),
        json!("date-time"),
        json!("list of string"),
        json!("map of integer"),
        json!({"type": "string", "maxLength": 9}),
        json!({"type": "integer", "minimum": 1, "maximum": 9}),
        json!({"type": "list of integer", "maxItems": 3}),
        json!({"enum": ["north", "south"]}),
    ]
}

const WORDS: [&str; 16] = [
    "antler", "bell", "calf", "den", "elk", "fern", "grove", "hoof", "inlet", "jetty", "knoll", "lake",
    "marsh", "nest", "oak", "pine",
];

/// A type that may be optional.
fn perhaps(dice: &mut Dice, type_: Value, is_optional: bool) -> Value {
    let is_optional = is_optional || dice.one_in(2);
    match type_ {
        Value::String(phrase) if is_optional && !phrase.starts_with("optional ") => {
            format!("optional {phrase}").into()
        }
        Value::Object(mut keys) if is_optional => {
            keys.insert("optional".to_owned(), true.into());
            keys.into()
        }
        other => other,
    }
}

struct Objects {
    old: Map<String, Value>,
    new: Map<String, Value>,
}

/// Fields before and after an edit.
fn objects(dice: &mut Dice, depth: usize, is_optional: bool) -> Objects {
    let mut words: Vec<&str> = WORDS.to_vec();
    let (mut old, mut new) = (Map::new(), Map::new());
    // The additional field keeps objects from being empty.
    for fields in [&mut old, &mut new] {
        fields.insert("note".to_owned(), "optional string".into());
    }
    for _ in 0..2 + dice.below(4) {
        let name = words.remove(dice.below(words.len()));
        let other = words.remove(dice.below(words.len()));
        let types = types();
        let type_ = dice.among(&types).clone();
        let type_ = perhaps(dice, type_, is_optional);
        let mut put = |then: Option<(&str, Value)>, now: Option<(&str, Value)>| {
            for (fields, field) in [(&mut old, then), (&mut new, now)] {
                fields.extend(field.map(|(name, type_)| (name.to_owned(), type_)));
            }
        };
        match dice.below(11) {
            0 => put(Some((name, type_.clone())), Some((name, type_))),
            1 => put(Some((name, type_.clone())), Some((other, type_))),
            2 => put(Some((name, type_)), None),
            3 => put(None, Some((name, type_))),
            4 => {
                let now = json!("optional duration");
                put(
                    Some((
                        name,
                        json!({"type": "integer", "optional": true, "minimum": 0, "maximum": 9_223_372_036_i64}),
                    )),
                    Some((name, now)),
                );
            }
            5 => {
                let (then, now) = (json!({"enum": ["slow", "off"]}), json!({"enum": ["Slow", "Off"]}));
                put(
                    Some((name, perhaps(dice, then, true))),
                    Some((name, perhaps(dice, now, true))),
                );
            }
            6 => {
                let inner = json!({"optional": true, "properties": {name: perhaps(dice, type_.clone(), true), "size": "optional int32"}});
                put(
                    Some((name, perhaps(dice, type_.clone(), true))),
                    Some((other, inner)),
                );
            }
            7 => {
                let inner = json!({"optional": true, "properties": {name: perhaps(dice, type_.clone(), true), "size": "optional int32"}});
                put(Some((other, inner)), Some((name, perhaps(dice, type_, true))));
            }
            8 => put(
                Some((name, json!("optional number"))),
                Some((&format!("{name}s"), json!("optional list of number"))),
            ),
            9 if depth < 2 => {
                let Objects { old: then, new: now } = objects(dice, depth + 1, is_optional);
                let around = |fields: Map<String, Value>, at: usize| match at {
                    0 => json!({"properties": fields, "optional": true}),
                    1 => json!({"items": {"properties": fields}, "optional": true}),
                    _ => json!({"additionalProperties": {"properties": fields}, "optional": true}),
                };
                let at = dice.below(3);
                put(Some((name, around(then, at))), Some((name, around(now, at))));
            }
            _ => put(
                Some((name, json!("optional string"))),
                Some((name, json!("optional object"))),
            ),
        }
    }
    Objects { old, new }
}

/// A random edit.
pub fn version_pair(seed: u64, group: &str) -> VersionPair {
    let mut dice = Dice::new(seed);
    let (spec, status) = (objects(&mut dice, 0, false), objects(&mut dice, 1, true));
    let text = |version: &str, spec: Map<String, Value>, status: Map<String, Value>| {
        format!(
            "krator: 1\nresource: {{group: {group}, version: {version}, kind: Thing}}\nspec: {}\nstatus: {}\n\
             machine: {{initial: Rest}}\nstates:\n  Rest: {{kind: ready}}\n",
            Value::from(spec),
            Value::from(status)
        )
    };
    VersionPair {
        old: text("v1beta1", spec.old, status.old.clone()),
        new: text("v1", spec.new, status.old),
    }
}
