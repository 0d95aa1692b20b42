//! What becomes of values: which are refused, and what is stored of the others.

use super::api::{Judge, Verdict};
use super::{count, dice};
use crate::cluster::{self, Cluster, say};
use crate::dice::Dice;
use crate::random_description::{Documents, Size};
use crate::yaml::documents;
use krator_schema::{Schema, admit};
use kube::api::ApiResource;
use serde_json::{Map, Value, json};

/// How many schemas one CRD has.
const SCHEMAS: usize = 60;
/// How many values of each schema are tried.
const VALUES: usize = 8;

/// The schemas of fields of random descriptions, without their CEL rules, which have a test of their own.
fn schemas(first: u64) -> (Vec<Value>, u64) {
    let (mut schemas, mut next) = (Vec::new(), first);
    while schemas.len() < SCHEMAS {
        next += 1;
        let text = Documents::random(&mut dice(next), Size::SMALL).text();
        let checked = krator::check("krator.yaml", text.as_bytes());
        let Some(description) = checked.sound() else {
            continue;
        };
        for definition in documents(krator::render::crd::crd(description).as_bytes()) {
            let properties = &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
                ["properties"];
            schemas.extend(
                properties
                    .as_object()
                    .into_iter()
                    .flatten()
                    .map(|(_, schema)| without_rules(schema)),
            );
        }
    }
    (schemas, next)
}

fn without_rules(schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => fields
            .iter()
            .filter(|(key, _)| *key != "x-kubernetes-validations")
            .map(|(key, value)| (key.clone(), without_rules(value)))
            .collect::<Map<_, _>>()
            .into(),
        Value::Array(items) => items.iter().map(without_rules).collect(),
        scalar => scalar.clone(),
    }
}

fn resource(number: u64) -> ApiResource {
    ApiResource {
        group: "values.example.com".to_owned(),
        version: "v1".to_owned(),
        api_version: "values.example.com/v1".to_owned(),
        kind: format!("Values{number}"),
        plural: format!("values{number}"),
    }
}

fn field(at: usize) -> String {
    format!("s{at}")
}

/// Creates a kind whose fields have these schemas.
fn establish(cluster: &Cluster, resource: &ApiResource, schemas: &[Value]) {
    let properties: Map<String, Value> = schemas
        .iter()
        .enumerate()
        .map(|(at, schema)| (field(at), schema.clone()))
        .collect();
    let name = format!("{}.{}", resource.plural, resource.group);
    let spec = json!({"type": "object", "properties": properties});
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": name},
        "spec": {
            "group": resource.group,
            "names": {"kind": resource.kind, "plural": resource.plural},
            "scope": "Cluster",
            "versions": [{
                "name": resource.version, "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
            }],
        },
    });
    cluster.apply(&definition.to_string(), &[]);
    cluster.wait_established(&["crd", &name]);
}

/// A value that the schema may accept: often right, sometimes wrong in one place.
pub fn value(schema: &Value, depth: usize, dice: &mut Dice) -> Value {
    const TEXTS: &[&str] = &[
        "",
        "a",
        "example",
        "10",
        "1Gi",
        "1h30m",
        "2030-01-01T00:00:00Z",
        "2030-01-01",
        "192.0.2.1",
        "2001:db8::1",
        "10.0.0.0/8",
        "https://example.com/a?b=c",
        "name@example.com",
        "example.com",
        "a3JhdG9y",
        "#fff",
        "507f1f77bcf86cd799439011",
        "123e4567-e89b-42d3-a456-426614174000",
        "00:00:5e:00:53:01",
        "é",
        "a\nb",
        "-1",
        "25%",
        "4111111111111111",
        "0321751043",
        "rgb(0,0,0)",
        "111-11-1111",
    ];
    if dice.one_in(25) || depth > 12 {
        return dice
            .among(&[
                json!(null),
                json!(1),
                json!("a"),
                json!([]),
                json!({}),
                json!(1.5),
                json!(true),
                json!([1]),
                json!({"a": 1}),
            ])
            .clone();
    }
    if let (Some(allowed), false) = (
        schema["enum"].as_array().filter(|allowed| !allowed.is_empty()),
        dice.one_in(8),
    ) {
        return dice.among(allowed).clone();
    }
    match schema["type"].as_str() {
        Some("boolean") => json!(dice.one_in(2)),
        Some("integer") => number(schema, dice, true),
        Some("number") => number(schema, dice, false),
        Some("string") => json!(*dice.among(TEXTS)),
        Some("array") => {
            let count = schema["minItems"].as_u64().unwrap_or(0).min(6) as usize + dice.below(4);
            (0..count)
                .map(|_| value(&schema["items"], depth + 1, dice))
                .collect()
        }
        Some("object") => object(schema, depth, dice),
        _ if schema["x-kubernetes-int-or-string"] == true && dice.one_in(2) => json!(dice.below(200)),
        _ if schema["x-kubernetes-int-or-string"] == true => json!(*dice.among(TEXTS)),
        _ => dice
            .among(&[
                json!({"a": [1]}),
                json!("a"),
                json!(null),
                json!([null]),
                json!(1.0),
            ])
            .clone(),
    }
}

fn number(schema: &Value, dice: &mut Dice, is_integer: bool) -> Value {
    let near = [&schema["minimum"], &schema["maximum"], &schema["multipleOf"]];
    let near: Vec<f64> = near.iter().filter_map(|bound| bound.as_f64()).collect();
    let base = dice.pick(&near).copied().unwrap_or(1.0);
    let number = base + dice.below(5) as f64 - 2.0;
    if is_integer && !dice.one_in(10) && number.abs() < 9e15 {
        return json!(number as i64);
    }
    dice.among(&[
        json!(number),
        json!(number + 0.5),
        json!(2_147_483_648_i64),
        json!(-9_223_372_036_854_775_808_i64),
        json!(1e300),
    ])
    .clone()
}

/// The names of the required fields of a schema.
pub fn required(schema: &Value) -> Vec<&str> {
    let names = schema["required"].as_array().into_iter().flatten();
    names.filter_map(Value::as_str).collect()
}

fn object(schema: &Value, depth: usize, dice: &mut Dice) -> Value {
    let mut object = Map::new();
    let required = required(schema);
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let is_wanted = if required.contains(&name.as_str()) {
            !dice.one_in(15)
        } else {
            dice.one_in(2)
        };
        if is_wanted {
            object.insert(name.clone(), value(field, depth + 1, dice));
        }
    }
    if schema["x-kubernetes-embedded-resource"] == true && !dice.one_in(6) {
        object.insert(
            "apiVersion".to_owned(),
            json!(*dice.among(&["v1", "apps/v1", "a/b/c", ""])),
        );
        object.insert(
            "kind".to_owned(),
            json!(*dice.among(&["ConfigMap", "configmap", "A b"])),
        );
        let metadata = [
            json!({"name": "a"}),
            json!({"name": "A b"}),
            json!({"labels": {"a": "b", "c": "d e"}}),
            json!({"a": 1}),
            json!(1),
        ];
        object.insert("metadata".to_owned(), dice.among(&metadata).clone());
    }
    if let Some(values) = schema["additionalProperties"].as_object() {
        let values = Value::Object(values.clone());
        for at in 0..dice.below(4) {
            object.insert(format!("k{at}"), value(&values, depth + 1, dice));
        }
    }
    if dice.one_in(6) {
        object.insert(
            "unknown".to_owned(),
            dice.among(&[json!(1), json!(null), json!({"a": {"b": 1}})])
                .clone(),
        );
    }
    object.into()
}

#[test]
fn values_become_what_the_api_server_makes_of_them() {
    let Some(cluster) = cluster::shared() else {
        return;
    };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let judge = runtime.block_on(Judge::of(cluster));
    let (mut tried, mut refused, mut next) = (0, 0, 0);
    let mut disagreements = Vec::new();
    while tried < count() {
        let (schemas, last) = schemas(next);
        next = last;
        let resource = resource(next);
        establish(cluster, &resource, &schemas);
        let mut dice = dice(next);
        let values: Vec<(usize, Value)> = (0..schemas.len() * VALUES)
            .map(|at| at % schemas.len())
            .map(|at| (at, value(&schemas[at], 0, &mut dice)))
            .collect();
        let object = |(at, value): &(usize, Value)| {
            let mut spec = Map::new();
            spec.insert(field(*at), value.clone());
            json!({"apiVersion": resource.api_version, "kind": resource.kind, "metadata": {"name": "a"}, "spec": spec})
        };
        let objects: Vec<Value> = values.iter().map(object).collect();
        let verdicts = runtime.block_on(judge.verdicts(&resource, &objects));
        for ((at, value), verdict) in values.iter().zip(&verdicts) {
            tried += 1;
            refused += u64::from(verdict.is_err());
            if let Some(why) = disagreement(&schemas[*at], &field(*at), value, verdict) {
                disagreements.push(format!("{why}\nvalue: {value}\nschema: {}", schemas[*at]));
            }
        }
    }
    say(&format!(
        "{tried} values, {refused} refused, {} disagreements",
        disagreements.len()
    ));
    let count = disagreements.len();
    disagreements.truncate(5);
    assert_eq!(count, 0, "{}", disagreements.join("\n\n"));
}

/// How the verdict differs from ours, if it does.
fn disagreement(schema: &Value, field: &str, value: &Value, verdict: &Verdict) -> Option<String> {
    let wrapped = json!({"type": "object", "properties": {field: schema}});
    let wrapped: Schema = serde_json::from_value(wrapped).expect("a schema of the API server");
    let mut ours = json!({field: value});
    let problems = admit(&wrapped, &mut ours);
    match verdict {
        Err(causes) if problems.is_empty() => Some(format!("only the server refuses: {causes:#?}")),
        Ok(_) if !problems.is_empty() => Some(format!("only krator refuses: {problems:#?}")),
        Ok(stored) => {
            let stored = stored["spec"].get(field).map(as_go_writes);
            let ours = ours.get(field).map(as_go_writes);
            (stored != ours).then(|| format!("stored: {stored:?}\nours: {ours:?}"))
        }
        Err(_) => None,
    }
}

/// The value with numbers in one form: Go writes 1.0 as 1.
fn as_go_writes(value: &Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 9e15 => {
                json!(float as i64)
            }
            _ => value.clone(),
        },
        Value::Array(items) => items.iter().map(as_go_writes).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| (key.clone(), as_go_writes(value)))
            .collect::<Map<_, _>>()
            .into(),
        scalar => scalar.clone(),
    }
}
