//! Which values are refused, and how the others are stored.

use super::api::{Judge, Verdict};
use super::{count, dice};
use crate::cluster::{self, Cluster, say};
use crate::random_description::{Documents, Size};
use crate::random_value::value;
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
        for definition in krator::render::crd::crd(description) {
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

/// The difference between the verdict and ours, if any.
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
