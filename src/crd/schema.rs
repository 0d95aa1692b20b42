//! The structural OpenAPI schema of a CRD, from the schemas of the model.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSON, JSONSchemaProps, JSONSchemaPropsOrArray, JSONSchemaPropsOrBool, ValidationRule,
};
use serde_json::{Value as Json, json};

use super::some;
use crate::model::kubernetes::{QUANTITY_PATTERN, kubernetes_schema};
use crate::model::{Constraints, Description, Field, KubernetesType, Schema, Shape, Validation};

/// Durations in the format of Go's `time.ParseDuration`, without a sign.
pub(crate) const DURATION_PATTERN: &str = r"^(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$";

/// The schema in the form of the API server. Named types and types of Kubernetes are expanded.
pub(crate) fn schema_of(description: &Description, schema: &Schema) -> JSONSchemaProps {
    let of = |inner: &Schema| Box::new(schema_of(description, inner));
    let mut out = match &schema.shape {
        Shape::String => typed("string"),
        Shape::Boolean => typed("boolean"),
        Shape::Integer => formatted("integer", "int64"),
        Shape::Int32 => formatted("integer", "int32"),
        Shape::Number => formatted("number", "double"),
        Shape::DateTime => formatted("string", "date-time"),
        Shape::Duration => JSONSchemaProps {
            pattern: Some(DURATION_PATTERN.to_owned()),
            ..typed("string")
        },
        Shape::Quantity => JSONSchemaProps {
            pattern: Some(QUANTITY_PATTERN.to_owned()),
            ..int_or_string()
        },
        Shape::IntOrString => int_or_string(),
        Shape::Enum(values) => {
            let values = values.iter().map(|value| JSON(value.value.clone().into()));
            JSONSchemaProps {
                enum_: Some(values.collect()),
                ..typed("string")
            }
        }
        Shape::List(items) => JSONSchemaProps {
            items: Some(JSONSchemaPropsOrArray::Schema(of(items))),
            ..typed("array")
        },
        Shape::Map(values) => JSONSchemaProps {
            additional_properties: Some(JSONSchemaPropsOrBool::Schema(of(values))),
            ..typed("object")
        },
        Shape::Object(fields) => object(description, fields),
        Shape::FreeForm => JSONSchemaProps {
            x_kubernetes_preserve_unknown_fields: Some(true),
            ..typed("object")
        },
        Shape::Any => JSONSchemaProps {
            x_kubernetes_preserve_unknown_fields: Some(true),
            ..JSONSchemaProps::default()
        },
        Shape::Named(id) => schema_of(description, &description.type_(*id).schema),
        Shape::Kubernetes(reference) => kubernetes(reference),
    };
    add_annotations(&mut out, schema);
    bound(&mut out, &schema.constraints);
    out
}

/// An object with these fields. Those without a default that are not optional are required.
fn object(description: &Description, fields: &[Field]) -> JSONSchemaProps {
    let schemas: Vec<_> = fields
        .iter()
        .map(|field| (field, schema_of(description, &field.schema)))
        .collect();
    let required = schemas
        .iter()
        .filter(|(field, schema)| !field.schema.optional && schema.default.is_none());
    JSONSchemaProps {
        required: some(required.map(|(field, _)| field.name.to_string()).collect()),
        properties: Some(
            schemas
                .into_iter()
                .map(|(field, schema)| (field.name.to_string(), schema))
                .collect(),
        ),
        ..typed("object")
    }
}

fn kubernetes(reference: &KubernetesType) -> JSONSchemaProps {
    // The model has only types whose schema is known. A test below converts all of them.
    let schema = kubernetes_schema(reference).expect("a known type has a schema");
    serde_json::from_value(schema).expect("the schema of a known type is one of a CRD")
}

fn typed(name: &str) -> JSONSchemaProps {
    JSONSchemaProps {
        type_: Some(name.to_owned()),
        ..JSONSchemaProps::default()
    }
}

fn formatted(name: &str, format: &str) -> JSONSchemaProps {
    JSONSchemaProps {
        format: Some(format.to_owned()),
        ..typed(name)
    }
}

fn int_or_string() -> JSONSchemaProps {
    JSONSchemaProps {
        any_of: Some(vec![typed("integer"), typed("string")]),
        x_kubernetes_int_or_string: Some(true),
        ..JSONSchemaProps::default()
    }
}

/// Adds the keys that stand beside a type in the description. They override those of a named type.
fn add_annotations(out: &mut JSONSchemaProps, schema: &Schema) {
    if let Some(text) = &schema.description {
        out.description = Some(text.value.clone());
    }
    if let Some(default) = &schema.default {
        out.default = Some(JSON(default.value.clone()));
    }
    if let Some(example) = &schema.example {
        out.example = Some(JSON(example.value.clone()));
    }
    if schema.nullable {
        out.nullable = Some(true);
    }
    for (key, value) in &schema.extensions {
        extend(out, key, value);
    }
    if !schema.validations.is_empty() {
        let rules = out.x_kubernetes_validations.get_or_insert_default();
        for validation in &schema.validations {
            // A named type may have the same rule, and server-side apply refuses a list with both.
            rules.retain(|other| other.rule != validation.rule.value);
            rules.push(rule(validation));
        }
    }
}

/// Sets an `x-kubernetes-` extension or schemas of OpenAPI. The model has made sure that the value has the right type.
fn extend(out: &mut JSONSchemaProps, key: &str, value: &Json) {
    let word = || value.as_str().map(str::to_owned);
    match key {
        "x-kubernetes-preserve-unknown-fields" => out.x_kubernetes_preserve_unknown_fields = value.as_bool(),
        "x-kubernetes-embedded-resource" => out.x_kubernetes_embedded_resource = value.as_bool(),
        "x-kubernetes-int-or-string" => out.x_kubernetes_int_or_string = value.as_bool(),
        "x-kubernetes-list-type" => out.x_kubernetes_list_type = word(),
        "x-kubernetes-map-type" => out.x_kubernetes_map_type = word(),
        "x-kubernetes-list-map-keys" => {
            let keys = value.as_array().into_iter().flatten().filter_map(Json::as_str);
            out.x_kubernetes_list_map_keys = Some(keys.map(str::to_owned).collect());
        }
        "allOf" => out.all_of.get_or_insert_default().extend(schemas(value)),
        // The `anyOf` of an integer or a string says its types, and stays.
        "anyOf" if out.any_of.is_some() => out.all_of.get_or_insert_default().push(JSONSchemaProps {
            any_of: Some(schemas(value)),
            ..JSONSchemaProps::default()
        }),
        "anyOf" => out.any_of = Some(schemas(value)),
        "oneOf" => out.one_of = Some(schemas(value)),
        "not" => out.not = Some(Box::new(super::as_read(value))),
        _ => {}
    }
}

fn schemas(value: &Json) -> Vec<JSONSchemaProps> {
    super::as_read(value)
}

fn rule(validation: &Validation) -> ValidationRule {
    let text = |text: &Option<crate::finding::Spanned<String>>| text.as_ref().map(|text| text.value.clone());
    ValidationRule {
        rule: validation.rule.value.clone(),
        message: text(&validation.message),
        message_expression: text(&validation.message_expression),
        reason: text(&validation.reason),
        field_path: text(&validation.field_path),
        optional_old_self: validation.optional_old_self.then_some(true),
    }
}

fn bound(out: &mut JSONSchemaProps, bounds: &Constraints) {
    macro_rules! take {
        ($($field:ident: $convert:expr;)*) => {$(
            if let Some(bound) = &bounds.$field {
                out.$field = $convert(&bound.value);
            }
        )*};
    }
    // The model has made sure that lengths fit a signed number.
    let length = |length: &u64| i64::try_from(*length).ok();
    take! {
        format: |text: &String| Some(text.clone());
        pattern: |text: &String| Some(text.clone());
        minimum: serde_json::Number::as_f64;
        maximum: serde_json::Number::as_f64;
        multiple_of: serde_json::Number::as_f64;
        exclusive_minimum: |flag: &bool| Some(*flag);
        exclusive_maximum: |flag: &bool| Some(*flag);
        min_length: length;
        max_length: length;
        min_items: length;
        max_items: length;
        min_properties: length;
        max_properties: length;
    }
    if !bounds.one_of.is_empty() {
        out.enum_ = Some(
            bounds
                .one_of
                .iter()
                .map(|number| JSON(json!(number.value)))
                .collect(),
        );
    }
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
                kubernetes(&reference);
                count += 1;
            }
        }
        assert!(count > 100, "{count}");
    }
}
