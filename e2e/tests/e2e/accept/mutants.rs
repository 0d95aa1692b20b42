//! Objects that violate a schema in one place each, derived from the schema and from a valid object.

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// An object that the server must refuse.
pub struct Mutant {
    /// The defect, with its place.
    pub what: String,
    pub object: Value,
    /// The place of the defect, in the notation of the server's errors.
    pub place: String,
}

impl Mutant {
    /// Whether an error names the place of the defect.
    pub fn is_named_by(&self, error: &str) -> bool {
        let goes_on = |c: char| c.is_ascii_alphanumeric() || "_.-[".contains(c);
        let mut found = error.match_indices(&self.place);
        found.any(|(at, place)| !error[at + place.len()..].starts_with(goes_on))
    }
}

/// The maximum number of mutants of one kind; more would repeat the same defects in other fields.
const MOST: usize = 40;

/// A value that violates a schema.
struct Bad {
    /// The defect.
    defect: &'static str,
    value: Value,
    /// The place of the defect in the value.
    at: String,
}

/// The mutants of a sample. Every defect occurs once before any occurs twice.
pub fn of(spec: &Value, sample: &Value) -> Vec<Mutant> {
    let mut bad = within(spec, Some(&sample["spec"]));
    // Sorts by the number of earlier values with the same defect.
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    bad.sort_by_cached_key(|bad| {
        let count = counts.entry(bad.defect).or_default();
        *count += 1;
        *count
    });
    bad.truncate(MOST);
    let with = |spec: Value| {
        let mut object = sample.clone();
        object["spec"] = spec;
        object
    };
    let mut mutants: Vec<Mutant> = bad
        .into_iter()
        .map(|bad| {
            let place = format!("spec{}", bad.at);
            Mutant {
                what: format!("{place}: {}", bad.defect),
                object: with(bad.value),
                place,
            }
        })
        .collect();
    let mut bare = sample.clone();
    bare.as_object_mut().expect("an object").remove("spec");
    let mut more = sample.clone();
    more["kratorUnknown"] = true.into();
    mutants.push(Mutant {
        what: "spec: missing".to_owned(),
        object: bare,
        place: "spec".to_owned(),
    });
    mutants.push(Mutant {
        what: "kratorUnknown: unknown".to_owned(),
        object: more,
        place: "kratorUnknown".to_owned(),
    });
    mutants
}

/// Values that violate a schema. They differ from the good value, if there is one, in one place.
fn within(schema: &Value, good: Option<&Value>) -> Vec<Bad> {
    let mut bad = Vec::new();
    let mut add = |defect, value: Value| {
        bad.push(Bad {
            defect,
            value,
            at: String::new(),
        })
    };
    for value in of_wrong_types(schema) {
        add("wrong type", value);
    }
    if let Some(values) = schema["enum"].as_array()
        && values.iter().all(Value::is_string)
    {
        add("not of the enum", "kratorOther".into());
        if !values.contains(&json!("")) {
            add("empty", "".into());
        }
    } else if let Some(pattern) = schema["pattern"].as_str() {
        // The refusal by the server shows that these values do not match the pattern.
        add(
            "not of the pattern",
            if pattern.contains("[^/]") { "a/b" } else { "! ! !" }.into(),
        );
    } else if schema["format"] == "date-time" {
        add("not of the format", "yesterday".into());
    }
    if let Some(minimum) = schema["minimum"].as_i64() {
        add("too small", (minimum - 1).into());
    }
    if let Some(maximum) = schema["maximum"].as_i64() {
        add("too big", (maximum + 1).into());
    }
    if schema["type"] == "integer" {
        add("not whole", 1.5.into());
    }
    if schema["format"] == "int32" {
        add("more than 32 bits", (1_i64 << 40).into());
    }
    if let Some(least) = length(schema, "minLength").filter(|least| *least > 0) {
        add("too short", "x".repeat(least - 1).into());
    }
    if let Some(most) = length(schema, "maxLength").filter(|most| *most < 100_000) {
        add("too long", "x".repeat(most + 1).into());
    }
    match schema["type"].as_str() {
        Some("array") => items(schema, good, &mut bad),
        Some("object") => fields(schema, good, &mut bad),
        _ => {}
    }
    bad
}

fn items(schema: &Value, good: Option<&Value>, bad: &mut Vec<Bad>) {
    let good = good.and_then(Value::as_array).and_then(|items| items.first());
    let mut add = |defect, value: Value, at: &str| {
        bad.push(Bad {
            defect,
            value,
            at: at.to_owned(),
        })
    };
    if let Some(least) = length(schema, "minItems").filter(|least| *least > 0) {
        add(
            "too few",
            vec![good.cloned().unwrap_or_default(); least - 1].into(),
            "",
        );
    }
    if let Some(most) = length(schema, "maxItems").filter(|most| *most < 1_000) {
        let item = good.cloned().unwrap_or_else(|| plain(&schema["items"]));
        add("too many", vec![item; most + 1].into(), "");
    }
    for item in within(&schema["items"], good) {
        add(item.defect, json!([item.value]), &format!("[0]{}", item.at));
    }
}

fn fields(schema: &Value, good: Option<&Value>, bad: &mut Vec<Bad>) {
    let empty = Map::new();
    let good_fields = good.and_then(Value::as_object).unwrap_or(&empty);
    let mut add = |defect, name: &str, at: &str, value: Option<Value>| {
        let mut fields = good_fields.clone();
        match value {
            Some(value) => fields.insert(name.to_owned(), value),
            None => fields.remove(name),
        };
        let at = format!(".{name}{at}");
        bad.push(Bad {
            defect,
            value: fields.into(),
            at,
        });
    };
    if let Some(values) = schema
        .get("additionalProperties")
        .filter(|values| values.is_object())
    {
        for value in within(values, None) {
            add(value.defect, "key", &value.at, Some(value.value));
        }
    } else if let Some(properties) = schema["properties"].as_object() {
        if schema["x-kubernetes-preserve-unknown-fields"] != true {
            add("unknown", "kratorUnknown", "", Some(1.into()));
        }
        for name in schema["required"].as_array().into_iter().flatten() {
            add("missing", name.as_str().expect("a name"), "", None);
        }
        for (name, schema) in properties {
            for value in within(schema, good_fields.get(name)) {
                add(value.defect, name, &value.at, Some(value.value));
            }
        }
    }
}

fn of_wrong_types(schema: &Value) -> Vec<Value> {
    match schema["type"].as_str() {
        _ if schema["x-kubernetes-int-or-string"] == true => vec![true.into(), json!([])],
        Some("string") => vec![7.into(), json!({})],
        Some("array") => vec![json!({}), "text".into()],
        Some(_) => vec!["text".into(), json!([])],
        None => Vec::new(),
    }
}

/// A value of the right type.
fn plain(schema: &Value) -> Value {
    match schema["type"].as_str() {
        Some("string") => "x".into(),
        Some("integer" | "number") => 1.into(),
        Some("boolean") => true.into(),
        Some("array") => json!([]),
        _ => json!({}),
    }
}

fn length(schema: &Value, bound: &str) -> Option<usize> {
    usize::try_from(schema[bound].as_u64()?).ok()
}
