//! The place in the description for a path in a CRD.

use krator_schema::{Path, Segment};

use super::changes;
use crate::finding::Span;
use crate::model::{Description, Kind, Schema, Shape, Validation, Version};

/// The place in the description that has to change if the API server refuses this part of the CRD of a kind.
pub(crate) fn place(description: &Description, kind: &Kind, path: &Path) -> Span {
    let segments = path.segments();
    if let Some(older) = older_of(kind, segments) {
        return place(description, &kind.in_version(older), &rest_of(segments));
    }
    let below_schema = segments.iter().position(|step| is_field(step, "openAPIV3Schema"));
    match below_schema {
        Some(at) => {
            let segments = &segments[at + 1..];
            change_key(description, kind, segments).unwrap_or_else(|| in_object(description, kind, segments))
        }
        None => in_definition(kind, segments),
    }
}

/// The older version that a path refers to.
fn older_of<'k>(kind: &'k Kind, segments: &[Segment]) -> Option<&'k Version> {
    let at = segments.iter().position(|step| is_field(step, "versions"))?;
    match segments.get(at + 1)? {
        Segment::Index(index) => kind.versions.get(index.checked_sub(1)?),
        _ => None,
    }
}

/// The path below a version.
fn rest_of(segments: &[Segment]) -> Path {
    let below = segments.iter().skip_while(|step| !is_field(step, "versions"));
    below.skip(2).cloned().collect()
}

/// The type of a value in an object of the kind, by the path of the value: the nearest one that the description
/// defines. `None` outside `.spec`.
pub(crate) fn type_of_value<'a>(
    description: &'a Description,
    kind: &'a Kind,
    path: &Path,
) -> Option<&'a Schema> {
    let (mut schema, rest) = match path.segments() {
        [root, rest @ ..] if is_field(root, "spec") => (&kind.spec, rest),
        _ => return None,
    };
    for step in rest {
        let (Segment::Field(name) | Segment::Key(name)) = step else {
            match &description.resolve(schema).shape {
                Shape::List(inner) => schema = inner,
                _ => break,
            }
            continue;
        };
        match &description.resolve(schema).shape {
            Shape::Map(inner) => schema = inner,
            Shape::Object(fields) => match fields.iter().find(|field| field.name.as_str() == name) {
                Some(field) => schema = &field.schema,
                None => break,
            },
            _ => break,
        }
    }
    Some(schema)
}

/// The rules of a type in their order in the CRD: those of a named type come first, except for rules that are repeated
/// at its use.
pub(crate) fn rules_of<'a>(description: &'a Description, schema: &'a Schema) -> Vec<&'a Validation> {
    let mut rules: Vec<&Validation> = Vec::new();
    let layers: Vec<&Schema> = description.chain(schema).collect();
    for layer in layers.into_iter().rev() {
        for rule in &layer.validations {
            rules.retain(|other| other.rule.value != rule.rule.value);
            rules.push(rule);
        }
    }
    rules
}

fn is_field(segment: &Segment, name: &str) -> bool {
    matches!(segment, Segment::Field(field) if field == name)
}

/// A place outside the schema.
fn in_definition(kind: &Kind, segments: &[Segment]) -> Span {
    let resource = &kind.resource;
    // The last index is that of the list at the end of the path: `versions[0]` may come before it.
    let index = segments.iter().rev().find_map(|segment| match segment {
        Segment::Index(index) => Some(*index),
        _ => None,
    });
    let scale = resource.scale.as_ref();
    let place = |name: &str| match name {
        "specReplicasPath" => scale.map(|scale| scale.spec.span),
        "statusReplicasPath" => scale.map(|scale| scale.status.span),
        "labelSelectorPath" => scale.and_then(|scale| Some(scale.selector.as_ref()?.span)),
        "selectableFields" => Some(resource.selectable_fields.get(index?)?.span),
        "additionalPrinterColumns" => Some(kind.columns.get(index?)?.path.span),
        "shortNames" => Some(resource.short_names.get(index?)?.span),
        "categories" => Some(resource.categories.get(index?)?.span),
        "plural" => Some(resource.plural.span),
        "singular" => Some(resource.singular.span),
        "group" => Some(resource.group.span),
        "kind" | "listKind" => Some(resource.kind.span),
        _ => None,
    };
    let span = segments.iter().find_map(|segment| match segment {
        Segment::Field(name) => place(name),
        _ => None,
    });
    span.unwrap_or(resource.span)
}

/// A place in the schema of the whole object.
fn in_object(description: &Description, kind: &Kind, segments: &[Segment]) -> Span {
    match segments {
        [properties, Segment::Key(name), rest @ ..] if is_field(properties, "properties") => {
            if name == "spec" {
                return in_schema(description, &kind.spec, rest);
            }
            let [properties, Segment::Key(field), rest @ ..] = rest else {
                return kind.resource.span;
            };
            let field = kind.status.iter().find(|written| written.name.as_str() == field);
            match field {
                Some(field) if is_field(properties, "properties") => {
                    in_schema(description, &field.schema, rest)
                }
                _ => kind.resource.span,
            }
        }
        [rules, ..] if is_field(rules, "x-kubernetes-validations") => {
            let name = kind.resource.name.as_ref();
            name.map_or(kind.resource.span, |name| name.pattern.span)
        }
        _ => kind.resource.span,
    }
}

/// A place in a schema of the description.
fn in_schema(description: &Description, schema: &Schema, segments: &[Segment]) -> Span {
    let meant = description.resolve(schema);
    match (&meant.shape, segments) {
        (Shape::Object(fields), [properties, Segment::Key(name), rest @ ..])
            if is_field(properties, "properties") =>
        {
            match fields.iter().find(|field| field.name.as_str() == name) {
                Some(field) => in_schema(description, &field.schema, rest),
                None => schema.span,
            }
        }
        (Shape::List(inner), [step, rest @ ..]) if is_field(step, "items") => {
            in_schema(description, inner, rest)
        }
        (Shape::Map(inner), [step, rest @ ..]) if is_field(step, "additionalProperties") => {
            in_schema(description, inner, rest)
        }
        (_, [Segment::Field(key), rest @ ..]) => {
            at_key(description, schema, key, rest).unwrap_or(schema.span)
        }
        _ => schema.span,
    }
}

/// The place of a key of a schema: at the use of the type, or otherwise in the named type that defines it.
fn at_key(description: &Description, schema: &Schema, key: &str, rest: &[Segment]) -> Option<Span> {
    if key == "x-kubernetes-validations" {
        let rules = rules_of(description, schema);
        let (at, rest) = match rest {
            [Segment::Index(at), rest @ ..] => (*at, rest),
            _ => (0, rest),
        };
        return rules.get(at).map(|rule| in_rule(rule, rest));
    }
    description.chain(schema).find_map(|layer| layer.key_span(key))
}

/// The key of a rule for the changes of a field. Such rules come after the rules that the description has itself.
fn change_key(description: &Description, kind: &Kind, segments: &[Segment]) -> Option<Span> {
    let at = segments
        .iter()
        .rposition(|step| is_field(step, "x-kubernetes-validations"))?;
    let Some(Segment::Index(index)) = segments.get(at + 1) else {
        return None;
    };
    let anchor: Path = segments[..at].iter().cloned().collect();
    let keys = changes::keys_at(description, kind, &anchor);
    let schema = crate::crd::object_schema(description, kind);
    let pointer: String = segments[..=at]
        .iter()
        .map(|step| match step {
            Segment::Field(name) | Segment::Key(name) => format!("/{name}"),
            Segment::Index(index) => format!("/{index}"),
        })
        .collect();
    let count = schema.pointer(&pointer)?.as_array()?.len();
    keys.get((index + keys.len()).checked_sub(count)?).copied()
}

fn in_rule(rule: &Validation, segments: &[Segment]) -> Span {
    let written = match segments {
        [Segment::Field(key), ..] => match key.as_str() {
            "message" => rule.message.as_ref(),
            "messageExpression" => rule.message_expression.as_ref(),
            "reason" => rule.reason.as_ref(),
            "fieldPath" => rule.field_path.as_ref(),
            _ => None,
        },
        _ => None,
    };
    written.unwrap_or(&rule.rule).span
}
