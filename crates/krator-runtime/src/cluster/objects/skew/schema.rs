//! Compares two schemas: which fields and which values of enums one of them lacks. Pure.
use kube::core::GroupVersionKind;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::Value;
use std::{collections::BTreeMap, fmt};

/// A schema of OpenAPI, as far as it says which fields and which values there are.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Schema {
    properties: BTreeMap<String, Schema>,
    items: Option<Box<Schema>>,
    #[serde(rename = "additionalProperties")]
    values: Option<Values>,
    #[serde(rename = "enum")]
    allowed: Vec<Value>,
    #[serde(rename = "x-kubernetes-preserve-unknown-fields")]
    keeps_all: bool,
    /// Which kinds it is the schema of, in a document of OpenAPI.
    #[serde(rename = "x-kubernetes-group-version-kind")]
    pub kinds: Vec<GroupVersionKind>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Values {
    Of(Box<Schema>),
    /// Anything: it is a boolean.
    Any(IgnoredAny),
}

/// A step from a value to one within it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Field(String),
    /// Each item of a list.
    Items,
    /// Each value of a map.
    Values,
}

/// Something that a schema lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lack {
    path: Vec<Step>,
    /// The value that the enum at the path lacks; otherwise it is the field that is lacking.
    value: Option<String>,
}

/// All that a schema lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::cluster) struct Lacks(Vec<Lack>);

impl Schema {
    /// The fields and values in the spec and the status of this schema of an object that `served` lacks.
    pub fn lacks_in(&self, served: &Self) -> Lacks {
        let mut lacks = Vec::new();
        for part in ["spec", "status"] {
            if let (Some(own), Some(served)) = (self.properties.get(part), served.properties.get(part)) {
                compare(own, served, &mut vec![Step::Field(part.to_owned())], &mut lacks);
            }
        }
        Lacks(lacks)
    }
}

fn compare(own: &Schema, served: &Schema, path: &mut Vec<Step>, lacks: &mut Vec<Lack>) {
    let mut lack = |path: &[Step], value| {
        let path = path.to_vec();
        lacks.push(Lack { path, value });
    };
    if !served.allowed.is_empty() {
        for value in own.allowed.iter().filter(|value| !served.allowed.contains(value)) {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            lack(path, Some(text));
        }
    }
    // A map takes every field, and so does an object that keeps unknown fields.
    let takes_all = served.keeps_all || served.values.is_some();
    for (name, own) in &own.properties {
        path.push(Step::Field(name.clone()));
        match served.properties.get(name) {
            Some(served) => compare(own, served, path, lacks),
            None if takes_all => {}
            None => lacks.push(Lack {
                path: path.clone(),
                value: None,
            }),
        }
        path.pop();
    }
    let within = [
        (Step::Items, own.items.as_deref(), served.items.as_deref()),
        (Step::Values, own.of_values(), served.of_values()),
    ];
    for (step, own, served) in within {
        if let (Some(own), Some(served)) = (own, served) {
            path.push(step);
            compare(own, served, path, lacks);
            path.pop();
        }
    }
}

impl Schema {
    fn of_values(&self) -> Option<&Self> {
        match &self.values {
            Some(Values::Of(schema)) => Some(schema),
            _ => None,
        }
    }
}

impl Lacks {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a field of the status is lacking, so that the status cannot be applied as it is.
    pub fn has_fields_of_status(&self) -> bool {
        self.fields_of_status().next().is_some()
    }

    fn fields_of_status(&self) -> impl Iterator<Item = &[Step]> {
        let fields = self.0.iter().filter(|lack| lack.value.is_none());
        fields.filter_map(|lack| match lack.path.split_first() {
            Some((Step::Field(part), rest)) if part == "status" => Some(rest),
            _ => None,
        })
    }

    /// Removes from a status what the schema lacks.
    pub fn prune(&self, status: &mut Value) {
        for path in self.fields_of_status() {
            remove(status, path);
        }
    }
}

fn remove(value: &mut Value, path: &[Step]) {
    match (path, value) {
        ([Step::Field(name)], Value::Object(fields)) => {
            fields.remove(name);
        }
        ([Step::Field(name), rest @ ..], Value::Object(fields)) => {
            if let Some(field) = fields.get_mut(name) {
                remove(field, rest);
            }
        }
        ([Step::Items, rest @ ..], Value::Array(items)) => {
            items.iter_mut().for_each(|item| remove(item, rest));
        }
        ([Step::Values, rest @ ..], Value::Object(entries)) => {
            entries.values_mut().for_each(|value| remove(value, rest));
        }
        _ => {}
    }
}

/// The most of what is lacking that a message names.
const NAMED: usize = 5;

impl fmt::Display for Lacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named: Vec<String> = self.0.iter().take(NAMED).map(ToString::to_string).collect();
        f.write_str(&named.join(", "))?;
        match self.0.len().saturating_sub(NAMED) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path: String = self.path.iter().map(Step::text).collect();
        match &self.value {
            Some(value) => f.write_str(&missing_value(&path, value)),
            None => write!(f, "no field `{path}`"),
        }
    }
}

/// That an enum lacks a value, in words.
pub(super) fn missing_value(path: &str, value: &str) -> String {
    if path == ".status.state" {
        return format!("no state `{value}`");
    }
    format!("no value `{value}` of `{path}`")
}

impl Step {
    fn text(&self) -> String {
        match self {
            Self::Field(name) => format!(".{name}"),
            Self::Items => "[*]".to_owned(),
            Self::Values => ".*".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec_digest::{STEP, mixed};
    use serde_json::json;

    fn schema(spec: Value, status: Value) -> Schema {
        let object = json!({"properties": {"spec": spec, "status": status}, "type": "object"});
        serde_json::from_value(object).expect("a schema")
    }

    struct Dice(u64);

    impl Dice {
        fn below(&mut self, bound: u64) -> u64 {
            self.0 = self.0.wrapping_add(STEP);
            mixed(self.0) % bound
        }
    }

    /// A schema, and a value of it.
    fn random(depth: u64, dice: &mut Dice) -> (Value, Value) {
        match dice.below(if depth == 0 { 2 } else { 6 }) {
            0 => (json!({"type": "string"}), json!("text")),
            1 => (json!({"enum": ["a", "b", "c"]}), json!("b")),
            2 => {
                let (items, item) = random(depth - 1, dice);
                (json!({"items": items}), json!([item, item]))
            }
            3 => {
                let (values, value) = random(depth - 1, dice);
                (json!({"additionalProperties": values}), json!({"a": value}))
            }
            _ => {
                let (mut properties, mut fields) = (json!({}), json!({}));
                for name in ["a", "b", "c"].iter().take(dice.below(4) as usize) {
                    let (schema, value) = random(depth - 1, dice);
                    properties[*name] = schema;
                    fields[*name] = value;
                }
                (json!({"properties": properties}), fields)
            }
        }
    }

    /// The schema without some of its fields and values, as an older one may be.
    fn older(schema: &Value, dice: &mut Dice) -> Value {
        let mut schema = schema.clone();
        if let Some(fields) = schema.get_mut("properties").and_then(Value::as_object_mut) {
            fields.retain(|_, _| dice.below(4) > 0);
            for field in fields.values_mut() {
                *field = older(field, dice);
            }
            if dice.below(8) == 0 {
                schema["x-kubernetes-preserve-unknown-fields"] = json!(true);
            }
        }
        for key in ["items", "additionalProperties"] {
            if let Some(inner) = schema.get_mut(key) {
                *inner = older(inner, dice);
            }
        }
        if dice.below(2) == 0 && schema["enum"].is_array() {
            schema["enum"] = json!(["a"]);
        }
        schema
    }

    /// What the API server would keep of a value.
    fn kept(schema: &Value, value: &Value) -> Value {
        match value {
            Value::Array(items) => items.iter().map(|item| kept(&schema["items"], item)).collect(),
            Value::Object(fields) => {
                let keeps_all = schema["x-kubernetes-preserve-unknown-fields"] == true;
                let kept = fields.iter().filter_map(|(name, value)| {
                    let values = schema.get("additionalProperties");
                    let schema = schema["properties"].get(name).or(values);
                    match schema {
                        Some(schema) => Some((name.clone(), kept(schema, value))),
                        None => keeps_all.then(|| (name.clone(), value.clone())),
                    }
                });
                Value::Object(kept.collect())
            }
            other => other.clone(),
        }
    }

    #[test]
    fn a_status_is_pruned_as_the_server_would_do_it() {
        const COUNT: u64 = 5_000;
        let mut pruned = 0;
        for seed in 0..COUNT {
            let dice = &mut Dice(seed);
            let (own, status) = random(4, dice);
            let served = older(&own, dice);
            let lacks = schema(json!({}), own.clone()).lacks_in(&schema(json!({}), served.clone()));
            let mut written = status.clone();
            lacks.prune(&mut written);
            assert_eq!(written, kept(&served, &status), "seed {seed}: {own} {served}");
            pruned += u64::from(written != status);
        }
        assert!(pruned > COUNT / 10, "{pruned} statuses were pruned");
    }

    #[test]
    fn states_values_and_fields_that_are_lacking_are_named_and_pruned() {
        let own = schema(
            json!({"properties": {"mood": {"enum": ["glad", "sad"]}, "size": {"type": "integer", "enum": [1, 2]}}}),
            json!({"properties": {
                "state": {"enum": ["New", "Growing"]},
                "added": {"type": "string"},
                "list": {"items": {"properties": {"kept": {}, "more": {}}}},
                "map": {"additionalProperties": {"properties": {"kept": {}, "more": {}}}},
                "free": {"properties": {"more": {}}},
            }}),
        );
        let served = schema(
            json!({"properties": {"mood": {"enum": ["glad"]}, "size": {"type": "integer", "enum": [1]}}}),
            json!({"properties": {
                "state": {"enum": ["New", "Former"]},
                "list": {"items": {"properties": {"kept": {}}}},
                "map": {"additionalProperties": {"properties": {"kept": {}}}},
                "free": {"x-kubernetes-preserve-unknown-fields": true},
            }}),
        );
        let lacks = own.lacks_in(&served);
        let named = "no value `sad` of `.spec.mood`, no value `2` of `.spec.size`, no field `.status.added`, \
                     no field `.status.list[*].more`, no field `.status.map.*.more` and 1 more";
        assert_eq!(lacks.to_string(), named);
        assert_eq!(lacks.0[5].to_string(), "no state `Growing`");

        let item = json!({"kept": 1, "more": 2});
        let mut status = json!({
            "added": "x", "free": {"more": 1}, "list": [item, 1], "map": {"a": item}, "state": "Growing",
        });
        lacks.prune(&mut status);
        let kept = json!({"kept": 1});
        let pruned = json!({"free": {"more": 1}, "list": [kept, 1], "map": {"a": kept}, "state": "Growing"});
        assert_eq!(status, pruned);
        assert!(lacks.has_fields_of_status());
        assert!(own.lacks_in(&own).is_empty());
        assert!(
            !schema(json!({}), json!({}))
                .lacks_in(&served)
                .has_fields_of_status()
        );
    }
}
