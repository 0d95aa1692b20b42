//! The changes of one type.

use serde_json::{Map, Value, json};

use super::mapping_of;
use super::values::{FORMATS, PATTERNS, RULES, some_value};
use crate::dice::Dice;

/// A change of one type of a description.
pub struct Mutation {
    /// Its description, for messages.
    pub name: &'static str,
    /// Changes the type, which is a mapping; returns whether it did.
    pub change: fn(&mut Map<String, Value>, &mut Dice) -> bool,
}

/// All changes, with equal probability.
pub const MUTATIONS: &[Mutation] = &[
    Mutation {
        name: "any default",
        change: |node, dice| {
            node.insert("default".into(), some_value(dice));
            true
        },
    },
    Mutation {
        name: "a default without one of its values",
        change: |node, dice| match node.get_mut("default") {
            Some(Value::Object(fields)) if !fields.is_empty() => {
                let names: Vec<String> = fields.keys().cloned().collect();
                let name = dice.among(&names).clone();
                if dice.one_in(2) {
                    fields.remove(&name);
                } else {
                    fields[&name] = some_value(dice);
                }
                true
            }
            Some(Value::Array(items)) if !items.is_empty() => {
                if dice.one_in(2) {
                    items.push(items[0].clone());
                } else {
                    items[0] = some_value(dice);
                }
                true
            }
            _ => false,
        },
    },
    Mutation {
        name: "a limit of numbers",
        change: |node, dice| {
            let key = *dice.among(&["minimum", "maximum", "multipleOf"]);
            let values = [
                json!(0),
                json!(-1),
                json!(10),
                json!(0.5),
                json!(1e19),
                json!(4294967296_i64),
            ];
            node.insert(key.into(), dice.among(&values).clone());
            true
        },
    },
    Mutation {
        name: "an exclusive limit",
        change: |node, dice| {
            node.insert(
                (*dice.among(&["exclusiveMinimum", "exclusiveMaximum"])).into(),
                json!(true),
            );
            true
        },
    },
    Mutation {
        name: "a limit of lengths",
        change: |node, dice| {
            let key = *dice.among(&[
                "minLength",
                "maxLength",
                "minItems",
                "maxItems",
                "minProperties",
                "maxProperties",
            ]);
            node.insert(key.into(), json!(*dice.among(&[0_u64, 1, 3, 100, 1 << 40])));
            true
        },
    },
    Mutation {
        name: "a limit removed",
        change: |node, dice| {
            let keys = [
                "maxItems",
                "maxProperties",
                "maxLength",
                "minimum",
                "pattern",
                "type",
                "x-kubernetes-list-map-keys",
            ];
            let there: Vec<&str> = keys
                .iter()
                .copied()
                .filter(|key| node.contains_key(*key))
                .collect();
            dice.pick(&there).is_some_and(|key| node.remove(*key).is_some())
        },
    },
    Mutation {
        name: "a pattern",
        change: |node, dice| {
            node.insert("pattern".into(), json!(*dice.among(PATTERNS)));
            true
        },
    },
    Mutation {
        name: "a format",
        change: |node, dice| {
            node.insert("format".into(), json!(*dice.among(FORMATS)));
            true
        },
    },
    Mutation {
        name: "an enum",
        change: |node, dice| {
            let values: Vec<Value> = (0..dice.below(4)).map(|_| some_value(dice)).collect();
            node.insert("enum".into(), values.into());
            true
        },
    },
    Mutation {
        name: "nullable",
        change: |node, dice| {
            node.insert("nullable".into(), json!(true));
            if dice.one_in(2) {
                node.insert("default".into(), Value::Null);
            }
            true
        },
    },
    Mutation {
        name: "optional or not",
        change: |node, _| {
            let is_optional = node.get("optional") == Some(&json!(true));
            node.insert("optional".into(), json!(!is_optional));
            true
        },
    },
    Mutation {
        name: "the type of a list",
        change: |node, dice| {
            node.insert(
                "x-kubernetes-list-type".into(),
                json!(*dice.among(&["atomic", "set", "map"])),
            );
            true
        },
    },
    Mutation {
        name: "the keys of a list",
        change: |node, dice| match node.get_mut("x-kubernetes-list-map-keys") {
            Some(Value::Array(keys)) => {
                match dice.below(3) {
                    0 => keys.push(json!("unknown")),
                    1 => keys.push(keys[0].clone()),
                    _ => keys.clear(),
                }
                true
            }
            _ => {
                node.insert("x-kubernetes-list-map-keys".into(), json!(["name"]));
                true
            }
        },
    },
    Mutation {
        name: "an item of a list of keys",
        change: |node, dice| {
            let Some(keys) = node
                .get("x-kubernetes-list-map-keys")
                .and_then(Value::as_array)
                .cloned()
            else {
                return false;
            };
            let Some(key) = keys.first().and_then(Value::as_str) else {
                return false;
            };
            let Some(field) = node
                .get_mut("items")
                .and_then(|items| items.get_mut("properties")?.get_mut(key))
            else {
                return false;
            };
            let mut mapping = mapping_of(field);
            mapping.insert((*dice.among(&["optional", "nullable"])).into(), json!(true));
            *field = Value::Object(mapping);
            true
        },
    },
    Mutation {
        name: "an extension",
        change: |node, dice| {
            let keys = [
                "x-kubernetes-embedded-resource",
                "x-kubernetes-preserve-unknown-fields",
                "x-kubernetes-int-or-string",
            ];
            if dice.one_in(4) {
                node.insert(
                    "x-kubernetes-map-type".into(),
                    json!(*dice.among(&["atomic", "granular"])),
                );
            } else {
                node.insert((*dice.among(&keys)).into(), json!(true));
            }
            true
        },
    },
    Mutation {
        name: "a rule",
        change: |node, dice| {
            let mut rule = json!({"rule": *dice.among(RULES)});
            match dice.below(5) {
                0 => {
                    rule["fieldPath"] =
                        json!(*dice.among(&["x", ".missing", ".a[0]", "", ".items[*]", "['a']"]))
                }
                1 => {
                    rule["messageExpression"] =
                        json!(*dice.among(&["self", "'a' + 1", "1", "'ok'", "missing"]))
                }
                2 => rule["message"] = json!(*dice.among(&["fine", " ", "two\nlines"])),
                _ => {}
            }
            node.insert("validations".into(), json!([rule]));
            true
        },
    },
    Mutation {
        name: "another type",
        change: |node, dice| {
            let phrases = [
                "string",
                "boolean",
                "integer",
                "int32",
                "number",
                "date-time",
                "duration",
                "quantity",
                "int-or-string",
                "object",
                "any",
                "list of string",
                "list of list of any",
                "map of integer",
                "list of object",
                "optional list of list of list of object",
                "core/v1.Taint",
                "meta/v1.LabelSelector",
                "list of core/v1.EnvVar",
                "core/v1.Nothing",
                "Unknown",
                "array",
                "list",
            ];
            node.insert("type".into(), json!(*dice.among(&phrases)));
            true
        },
    },
    Mutation {
        name: "what is inside",
        change: |node, dice| {
            match dice.below(3) {
                0 => node.insert(
                    "items".into(),
                    json!({"type": "string", "nullable": dice.one_in(2)}),
                ),
                1 => node.insert("additionalProperties".into(), json!("integer")),
                _ => node.insert(
                    "properties".into(),
                    json!({"name": "string", "metadata": "object", "kind": "integer"}),
                ),
            };
            true
        },
    },
];
