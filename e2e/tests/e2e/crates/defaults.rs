//! A test for each generated crate: objects that lack fields with defaults are decoded to the same values as the API
//! server stores.

use std::fmt::Write as _;

use krator::plan::Plan;
use krator_schema::Schema;
use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use crate::dice::Dice;

/// The number of objects of each kind.
const OBJECTS: usize = 12;

/// The source of the test, and the contents of `defaults.json` next to it: for each kind, pairs of an object and the
/// object with the API server's defaults.
pub fn test(plan: &Plan) -> (String, String) {
    let file = |path| plan.get(path).expect("generated").contents.as_str();
    let mut lines = file("Cargo.toml").lines();
    let krate = lines.find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
    let krate = krate.expect("a package has a name").replace('-', "_");
    let (mut checks, mut data) = (String::new(), Map::new());
    for document in serde_yaml::Deserializer::from_str(file("deploy/crd.yaml")) {
        let definition = Value::deserialize(document).expect("a definition is YAML");
        let kind = definition["spec"]["names"]["kind"].as_str().expect("a name");
        let version = &definition["spec"]["versions"][0];
        let version_name = version["name"].as_str().expect("a name");
        let api = format!(
            "{}/{version_name}",
            definition["spec"]["group"].as_str().expect("a group")
        );
        let schema = &version["schema"]["openAPIV3Schema"];
        let pairs = (0..OBJECTS).map(|seed| pair(&api, kind, schema, &mut Dice::new(seed as u64)));
        let (module, type_name) = type_of(plan, kind);
        let _ = writeln!(checks, "    check::<{krate}::{module}::{type_name}>(\"{kind}\");");
        data.insert(kind.to_owned(), pairs.collect());
    }
    let text = TEST.replace("CHECKS\n", &checks);
    (text, serde_json::to_string_pretty(&data).expect("JSON"))
}

const TEST: &str = r#"//! Objects without the fields that have a default.
#![allow(unused_qualifications)]

use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt::Debug;

fn check<K: DeserializeOwned + PartialEq + Debug>(kind: &str) {
    let data: Value = serde_json::from_str(include_str!("defaults.json")).unwrap();
    for pair in data[kind].as_array().unwrap() {
        let [bare, filled] = [&pair[0], &pair[1]].map(|object| {
            let decoded = serde_json::from_value::<K>(object.clone());
            decoded.unwrap_or_else(|error| panic!("{error}: {object:#}"))
        });
        assert_eq!(bare, filled, "{:#}", pair[0]);
    }
}

#[test]
#[rustfmt::skip]
fn absent_fields_are_what_the_api_server_fills_in() {
CHECKS
}
"#;

/// The module and the type of a kind, whose name in Rust may differ.
fn type_of(plan: &Plan, kind: &str) -> (String, String) {
    let line = format!("kind = \"{kind}\",");
    let mut types = plan.files().filter_map(|(path, file)| {
        let module = path.strip_prefix("src/")?.strip_suffix("/generated/types.rs")?;
        file.contents.contains(&line).then_some((module, &file.contents))
    });
    let (module, text) = types.next().expect("each kind has its types");
    let root = text
        .split_once("root = \"")
        .and_then(|(_, rest)| rest.split_once('"'));
    let type_name = root.map_or(kind, |(root, _)| root).to_owned();
    match syn::parse_str::<syn::Ident>(module) {
        Ok(_) => (module.to_owned(), type_name),
        Err(_) => (format!("r#{module}"), type_name),
    }
}

/// An object that lacks some of the fields with defaults, and the same object with the API server's defaults.
fn pair(api: &str, kind: &str, schema: &Value, dice: &mut Dice) -> Value {
    let properties = &schema["properties"];
    let mut bare = json!({
        "apiVersion": api,
        "kind": kind,
        "metadata": {"name": "bare"},
        "spec": value(&properties["spec"], dice),
    });
    if dice.one_in(2) {
        bare["status"] = json!({});
    }
    let schema: Schema = serde_json::from_value(schema.clone()).expect("a schema");
    let mut filled = bare.clone();
    krator_schema::default(&schema, &mut filled);
    // An object without a status has none in Rust; the API server adds the defaults when the object is stored.
    if bare.get("status").is_none() {
        filled.as_object_mut().expect("an object").remove("status");
    }
    json!([bare, filled])
}

/// Durations that the API server accepts; some exceed the range of Rust's type.
const DURATIONS: &[&str] = &[
    "1h",
    "0",
    ".5ns",
    "1.50000000000000000000001s",
    "2562047h47m16.854775807s",
    "99999999999999999999999999h",
];

/// A value that Rust can decode, but that may violate limits of the schema.
fn value(schema: &Value, dice: &mut Dice) -> Value {
    if schema["nullable"] == true && dice.one_in(4) {
        return Value::Null;
    }
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    if schema["x-kubernetes-int-or-string"] == true {
        return json!(1);
    }
    match schema["type"].as_str() {
        Some("string") => match (schema["format"].as_str(), schema["pattern"].as_str()) {
            (Some("date-time"), _) => json!("2030-01-01T00:00:00Z"),
            (_, Some(pattern)) if pattern.starts_with("^(0|((") => json!(dice.among(DURATIONS)),
            _ => json!(""),
        },
        Some("boolean") => json!(true),
        Some("integer") if schema["format"] == "int32" => json!(dice.among(&[0, 7, i32::MIN, i32::MAX])),
        Some("integer") => json!(dice.among(&[0, 7, i64::MIN, i64::MAX])),
        Some("number") => json!(dice.among(&[0.5, -0.0, f64::MIN, f64::MAX, f64::MIN_POSITIVE])),
        Some("array") => {
            let items = (0..dice.below(3)).map(|_| value(&schema["items"], dice));
            items.collect()
        }
        Some("object") => object(schema, dice),
        _ => json!({"any": 1}),
    }
}

fn object(schema: &Value, dice: &mut Dice) -> Value {
    if schema["additionalProperties"].is_object() {
        let entry = value(&schema["additionalProperties"], dice);
        return json!({"key": entry});
    }
    let required = |name: &str| {
        let mut required = schema["required"].as_array().into_iter().flatten();
        required.any(|required| required == name)
    };
    let mut fields = Map::new();
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let may_be_absent = !field["default"].is_null() || !required(name);
        // These fields of embedded objects have fixed values.
        let is_fixed = ["apiVersion", "kind"].contains(&name.as_str());
        if !may_be_absent || (dice.one_in(2) && !is_fixed) {
            fields.insert(name.clone(), value(field, dice));
        }
    }
    Value::Object(fields)
}
