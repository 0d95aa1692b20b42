//! The structural OpenAPI schema of a CRD, from the schemas of the model.

use serde_json::{Map, Value as Json, json};

use crate::finding::Spanned;
use crate::model::kubernetes::{QUANTITY_PATTERN, kubernetes_schema};
use crate::model::{Description, Field, KubernetesType, Schema, Shape, Validation};

/// Durations in the format of Go's `time.ParseDuration`, without a sign.
pub(crate) const DURATION_PATTERN: &str = r"^(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$";

/// The schema in the form of the API server, with its keys in alphabetical order. Named types and types of Kubernetes are
/// expanded.
pub(crate) fn schema_of(description: &Description, schema: &Schema) -> Json {
    Json::Object(keys_of(description, schema))
}

fn keys_of(description: &Description, schema: &Schema) -> Map<String, Json> {
    let mut out = match &schema.shape {
        Shape::String => typed("string"),
        Shape::Boolean => typed("boolean"),
        Shape::Integer => with(typed("integer"), "format", "int64"),
        Shape::Int32 => with(typed("integer"), "format", "int32"),
        Shape::Number => with(typed("number"), "format", "double"),
        Shape::DateTime => with(typed("string"), "format", "date-time"),
        Shape::Duration => with(typed("string"), "pattern", DURATION_PATTERN),
        Shape::Quantity => with(int_or_string(), "pattern", QUANTITY_PATTERN),
        Shape::IntOrString => int_or_string(),
        Shape::Enum(values) => {
            let values: Vec<Json> = values.iter().map(|value| value.value.clone().into()).collect();
            with(typed("string"), "enum", values)
        }
        Shape::List(items) => with(typed("array"), "items", schema_of(description, items)),
        Shape::Map(values) => with(
            typed("object"),
            "additionalProperties",
            schema_of(description, values),
        ),
        Shape::Object(fields) => object(description, fields),
        Shape::FreeForm => with(typed("object"), "x-kubernetes-preserve-unknown-fields", true),
        Shape::Any => with(Map::new(), "x-kubernetes-preserve-unknown-fields", true),
        Shape::Named(id) => keys_of(description, &description.type_(*id).schema),
        Shape::Kubernetes(reference) => kubernetes(reference),
    };
    add_annotations(&mut out, schema);
    let limits = schema.constraints.limits.iter();
    out.extend(limits.map(|(keyword, limit)| ((*keyword).to_owned(), limit.value.clone())));
    if !schema.constraints.one_of.is_empty() {
        let numbers = schema.constraints.one_of.iter().map(|number| json!(number.value));
        out.insert("enum".to_owned(), numbers.collect());
    }
    out.sort_keys();
    out
}

/// An object with these fields. Those without a default that are not optional are required.
fn object(description: &Description, fields: &[Field]) -> Map<String, Json> {
    let mut required = Vec::new();
    let mut properties = Map::new();
    for field in fields {
        let schema = keys_of(description, &field.schema);
        if !field.schema.optional && !schema.contains_key("default") {
            required.push(Json::from(field.name.as_str()));
        }
        properties.insert(field.name.to_string(), Json::Object(schema));
    }
    properties.sort_keys();
    let mut out = with(typed("object"), "properties", properties);
    if !required.is_empty() {
        out.insert("required".to_owned(), required.into());
    }
    out
}

fn kubernetes(reference: &KubernetesType) -> Map<String, Json> {
    match kubernetes_schema(reference) {
        Some(Json::Object(schema)) => schema,
        // The model has only types with a known schema, and its tests cover all of them.
        _ => unreachable!("a known type has a schema"),
    }
}

fn typed(name: &str) -> Map<String, Json> {
    with(Map::new(), "type", name)
}

fn int_or_string() -> Map<String, Json> {
    let types = json!([{"type": "integer"}, {"type": "string"}]);
    with(
        with(Map::new(), "anyOf", types),
        "x-kubernetes-int-or-string",
        true,
    )
}

fn with(mut schema: Map<String, Json>, key: &str, value: impl Into<Json>) -> Map<String, Json> {
    schema.insert(key.to_owned(), value.into());
    schema
}

/// Adds the keys besides a type in the description. They override those of a named type.
fn add_annotations(out: &mut Map<String, Json>, schema: &Schema) {
    let mut set = |key: &str, value: Json| out.insert(key.to_owned(), value);
    if let Some(text) = &schema.description {
        set("description", text.value.clone().into());
    }
    if let Some(default) = &schema.default {
        set("default", default.value.clone());
    }
    if let Some(example) = &schema.example {
        set("example", example.value.clone());
    }
    if schema.nullable {
        set("nullable", true.into());
    }
    for (key, value) in &schema.extensions {
        extend(out, key, value);
    }
    let rules = list(out, "x-kubernetes-validations");
    for validation in &schema.validations {
        // A named type may have the same rule, and server-side apply refuses a list with both.
        rules.retain(|other| other["rule"] != validation.rule.value);
        rules.push(rule(validation));
    }
    if rules.is_empty() {
        out.remove("x-kubernetes-validations");
    }
}

/// The list of that key, which is added if missing.
fn list<'a>(out: &'a mut Map<String, Json>, key: &str) -> &'a mut Vec<Json> {
    let list = out.entry(key).or_insert_with(|| json!([]));
    // Only this module writes these keys, and the model accepts only lists for them.
    list.as_array_mut().expect("the key has a list")
}

/// Sets an `x-kubernetes-` extension or schemas of OpenAPI. The model guarantees that the value has the right type.
fn extend(out: &mut Map<String, Json>, key: &str, value: &Json) {
    let mut value = value.clone();
    match key {
        "allOf" | "anyOf" | "oneOf" | "not" => value.sort_all_objects(),
        _ => {}
    }
    match (key, value) {
        ("allOf", Json::Array(schemas)) => list(out, key).extend(schemas),
        // The `anyOf` of an integer or a string defines its types, so it is kept.
        ("anyOf", value) if out.contains_key(key) => list(out, "allOf").push(json!({"anyOf": value})),
        (_, value) => {
            out.insert(key.to_owned(), value);
        }
    }
}

fn rule(validation: &Validation) -> Json {
    let text = |text: &Option<Spanned<String>>| text.as_ref().map(|text| text.value.clone().into());
    super::object_of([
        ("fieldPath", text(&validation.field_path)),
        ("message", text(&validation.message)),
        ("messageExpression", text(&validation.message_expression)),
        (
            "optionalOldSelf",
            validation.optional_old_self.then_some(true.into()),
        ),
        ("reason", text(&validation.reason)),
        ("rule", Some(validation.rule.value.clone().into())),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::kubernetes::references;

    #[test]
    fn every_type_of_kubernetes_can_be_expanded() {
        let mut count = 0;
        for reference in references() {
            let (group, rest) = reference.split_once('/').unwrap();
            let (version, name) = rest.split_once('.').unwrap();
            let reference = KubernetesType {
                group: group.to_owned(),
                version: version.to_owned(),
                name: name.to_owned(),
            };
            if crate::model::kubernetes::has_type(&reference) {
                let _: krator_schema::Schema = crate::crd::as_read(kubernetes(&reference).into());
                count += 1;
            }
        }
        assert!(count > 100, "{count}");
    }
}
