//! Small changes of a description, each of which may break it: about half of the results are not valid.

use serde_json::{Map, Value, json};

use super::Documents;
use crate::dice::Dice;

/// A change of one type of a description.
struct Mutation {
    /// What it does, for messages.
    name: &'static str,
    /// Changes the type, which is a mapping; whether it did.
    change: fn(&mut Map<String, Value>, &mut Dice) -> bool,
}

/// Changes the description in one place, and says how. `None` if the change that was drawn fits no place.
pub fn mutate(documents: &mut Documents, dice: &mut Dice) -> Option<&'static str> {
    let at = dice.below(documents.0.len());
    if dice.one_in(6) {
        return paths(&mut documents.0[at], dice);
    }
    let mut places = Vec::new();
    for (document, value) in documents.0.iter().enumerate() {
        for section in ["spec", "status", "types"] {
            let fields = value.get(section).and_then(Value::as_object);
            for (name, field) in fields.into_iter().flatten() {
                if (section, name.as_str()) != ("spec", "validations") {
                    let mut path = vec![section.to_owned(), name.clone()];
                    collect(field, &mut path, document, &mut places);
                }
            }
        }
    }
    for _ in 0..8 {
        let (document, path) = dice.pick(&places)?;
        let mutation = dice.among(MUTATIONS);
        let mut node = &mut documents.0[*document];
        for step in path {
            node = &mut node[step.as_str()];
        }
        let mut mapping = match &*node {
            Value::Object(mapping) => mapping.clone(),
            phrase => Map::from_iter([("type".to_owned(), phrase.clone())]),
        };
        if (mutation.change)(&mut mapping, dice) {
            *node = Value::Object(mapping);
            return Some(mutation.name);
        }
    }
    None
}

/// The places of all types at and below one, as the keys that lead to them.
fn collect(node: &Value, path: &mut Vec<String>, document: usize, places: &mut Vec<(usize, Vec<String>)>) {
    places.push((document, path.clone()));
    let mut inner = |keys: &[&str], below: &Value| {
        let length = path.len();
        path.extend(keys.iter().map(|key| (*key).to_owned()));
        collect(below, path, document, places);
        path.truncate(length);
    };
    if let Some(items) = node.get("items") {
        inner(&["items"], items);
    }
    if let Some(values) = node
        .get("additionalProperties")
        .filter(|values| !values.is_boolean())
    {
        inner(&["additionalProperties"], values);
    }
    for (name, field) in node
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        inner(&["properties", name], field);
    }
}

/// Patterns that are wrong for Go, for Rust, or for both; or that mean different things to them.
const PATTERNS: &[&str] = &[
    "(",
    "[a",
    "a)",
    "(?=x)",
    r"\pX",
    "a{1001}",
    "(?<name>x)",
    r"\b+",
    "(?P<n>x)(?P<n>y)",
    "x**",
    r"\Qa.b\E",
    "[[:word:]]",
    "a{2,1}",
    "(?i-s:x)",
    r"\x{10FFFF}",
    r"\C",
    r"\u0041",
    "[a&&b]",
    "(?x) a b",
    r"\p{Greek}",
    r"\1",
    "(?#c)x",
    "[a--b]",
    r"\z",
    r"\Z",
    r"(?R)a",
    "^*",
    "[]a]",
    "[^]a]",
    r"\_",
    r"\-",
    "(?U)a+",
    "x{,3}",
    "{",
    "a{1,",
    r"\h",
    r"[\d-z]",
    "(a{500}){3}",
];

/// Rules in CEL most of which the API server refuses, whatever they are about.
const RULES: &[&str] = &[
    "self.missing == 1",
    "self + 1 > 2",
    "'text'",
    "self",
    "self ==",
    "(self",
    "unknown(self)",
    "self.size()",
    "self == 1",
    "self == 'a'",
    "self > 1.5",
    "oldSelf == self",
    "self.all(x, x == 1)",
    "self.all(x, self.all(y, x == y))",
    "self.matches('(')",
    "has(self)",
    "has(self.a.b)",
    "size(self) > 0",
    "self.exists(x, x)",
    "self['a'] == 1",
    "self[0] == 1",
    "self.map(x, x)",
    "true",
    "false",
    "1 == 1u",
    "timestamp(self) > timestamp('2030-01-01T00:00:00Z')",
    "self in self",
    "self.a.b.c == 'x'",
    "int(self) > 1",
    "self ? 1 : 2",
    "!self",
    "-self > 0",
    "self.contains('a')",
    "url(self).getHost() != ''",
    "quantity(self).isGreaterThan(quantity('1'))",
    "self.isSorted()",
    "object.metadata.name != ''",
    "self == null",
    "x == 1",
    "type(self) == string",
    "self.metadata.name != ''",
    "cel.bind(x, self, x == x)",
    "[1, 'a'].size() == 2",
    "optional.none() == self",
];

const FORMATS: &[&str] = &[
    "int32",
    "int64",
    "float",
    "double",
    "date-time",
    "date",
    "duration",
    "ipv4",
    "uuid",
    "byte",
    "uri",
    "email",
    "x",
];

/// Values for defaults and enums.
fn some_value(dice: &mut Dice) -> Value {
    let values = [
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(2.5),
        json!(1e20),
        json!("text"),
        json!(""),
        json!([]),
        json!({}),
        json!(["a", "a"]),
        json!([null]),
        json!([1, 1]),
        json!({"a": 1}),
        json!({"unknown": {"a": []}}),
        json!("2030-13-01T00:00:00Z"),
        json!("1x"),
        json!("999.1.1.1"),
    ];
    dice.among(&values).clone()
}

const MUTATIONS: &[Mutation] = &[
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
            let mut mapping = match &*field {
                Value::Object(mapping) => mapping.clone(),
                phrase => Map::from_iter([("type".to_owned(), phrase.clone())]),
            };
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

/// Changes a path of the resource or of its columns.
fn paths(document: &mut Value, dice: &mut Dice) -> Option<&'static str> {
    let path = *dice.among(&[
        ".spec.missing",
        ".status.observedGeneration",
        ".metadata.name",
        ".spec",
        ".status.conditions",
        ".spec.weight",
        ".status.weight",
        ".status.state",
        ".status.conditions[*].type",
        ".metadata.labels.a",
        ".spec.with-dash",
        ".spec.a\\.b",
        "spec.weight",
        ".status.message",
    ]);
    let resource = document.get_mut("resource")?;
    match dice.below(4) {
        0 => {
            let key = *dice.among(&["spec", "status", "selector"]);
            match resource.get_mut("scale") {
                Some(scale) => scale[key] = json!(path),
                None => resource["scale"] = json!({"spec": path, "status": ".status.observedGeneration"}),
            }
            Some("a path of the scale")
        }
        1 | 2 => {
            match resource.get_mut("selectableFields").and_then(Value::as_array_mut) {
                Some(paths) if dice.one_in(2) => paths.push(paths[0].clone()),
                Some(paths) => paths.push(json!(path)),
                None => resource["selectableFields"] = json!([path]),
            }
            Some("a path of the selectable fields")
        }
        _ => {
            document["columns"] =
                json!([{"name": "Drawn", "path": path, "type": *dice.among(&["string", "integer", "date"])}]);
            Some("a path of the columns")
        }
    }
}
