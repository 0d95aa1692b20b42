//! Finds the place in the description that defines a value of objects.

use super::{PathStep, SchemaPath};
use crate::crd;
use crate::finding::Span;
use crate::model::{Description, Field, Kind, Schema, Shape};

/// The part of a value's schema that a change is about.
#[derive(Debug)]
pub(super) enum Part {
    /// The name of the field, or the type of a value that is not a field.
    Name,
    /// The type.
    Type,
    /// The values of an `enum`.
    Enum,
    /// The default.
    Default,
    /// A bound or a Kubernetes extension, by its OpenAPI keyword.
    Key(&'static str),
    /// The CEL rule with this expression.
    Rule(String),
}

/// The place of a part of the schema at the path. If the description has no such part, or the path is inside a built-in
/// type of Kubernetes, it is the place of the nearest enclosing value.
pub(super) fn of(description: &Description, kind: &Kind, path: &SchemaPath, part: &Part) -> Span {
    let place = match find(description, kind, path) {
        Ok(place) => place,
        Err(enclosing) => return enclosing,
    };
    let of_key = || match part {
        Part::Rule(rule) => {
            let rules = crd::field_rules(description, kind).into_iter();
            let mut keys = rules
                .filter(|other| other.expression() == rule)
                .map(|rule| rule.key);
            keys.next()
        }
        _ => None,
    };
    place
        .part(description, part)
        .or_else(of_key)
        .unwrap_or(place.name)
}

/// The type at a path, as the description defines it.
pub(super) fn schema<'a>(
    description: &'a Description,
    kind: &'a Kind,
    path: &SchemaPath,
) -> Option<&'a Schema> {
    find(description, kind, path).ok()?.schema
}

/// The value at a path. The error is the place of the nearest enclosing value.
fn find<'a>(
    description: &'a Description,
    kind: &'a Kind,
    path: &SchemaPath,
) -> Result<SchemaPosition<'a>, Span> {
    let mut steps = path.0.iter();
    // Every object has both fields, and descriptions do not declare them.
    let start = match steps.next() {
        Some(PathStep::Field(name)) if name == "spec" => SchemaPosition {
            name: beginning(kind.spec.span),
            schema: Some(&kind.spec),
            fields: None,
        },
        _ => SchemaPosition {
            name: kind
                .status
                .first()
                .map_or(kind.resource.kind.span, |field| field.name.span),
            schema: None,
            fields: Some(&kind.status),
        },
    };
    steps.try_fold(start, |place, step| {
        place.below(description, step).ok_or(place.name)
    })
}

/// The start of a span, in place of a mapping of many lines.
fn beginning(span: Span) -> Span {
    Span {
        start: span.start,
        end: span.start,
    }
}

struct SchemaPosition<'a> {
    name: Span,
    schema: Option<&'a Schema>,
    fields: Option<&'a [Field]>,
}

impl<'a> SchemaPosition<'a> {
    fn below(&self, description: &'a Description, step: &PathStep) -> Option<SchemaPosition<'a>> {
        let meant = self.schema.map(|schema| description.resolve(schema));
        let fields = match meant.map(|schema| &schema.shape) {
            Some(Shape::Object(fields)) => Some(fields.as_slice()),
            _ => self.fields,
        };
        match step {
            PathStep::Field(wanted) => {
                let field = fields?.iter().find(|field| field.name.as_str() == wanted)?;
                Some(SchemaPosition {
                    name: field.name.span,
                    schema: Some(&field.schema),
                    fields: None,
                })
            }
            PathStep::Items | PathStep::Values => match &meant?.shape {
                Shape::List(inner) | Shape::Map(inner) => Some(SchemaPosition {
                    name: self.name,
                    schema: Some(inner),
                    fields: None,
                }),
                _ => None,
            },
        }
    }

    fn part(&self, description: &'a Description, part: &Part) -> Option<Span> {
        let written = self.schema?;
        // Keys next to the name of a type override those of the named type.
        [written, description.resolve(written)]
            .into_iter()
            .find_map(|schema| match part {
                Part::Name => Some(self.name),
                Part::Type => Some(one_line(schema)),
                Part::Enum => match &schema.shape {
                    Shape::Enum(values) => Some(values.first()?.span.to(values.last()?.span)),
                    _ => {
                        let values = &schema.constraints.one_of;
                        Some(values.first()?.span.to(values.last()?.span))
                    }
                },
                Part::Default => schema.key_span("default"),
                Part::Key(key) => schema.key_span(key),
                Part::Rule(rule) => {
                    let written = schema
                        .validations
                        .iter()
                        .find(|written| written.rule.value == *rule);
                    written.map(|written| written.rule.span)
                }
            })
    }
}

fn one_line(schema: &Schema) -> Span {
    match schema.shape {
        Shape::Object(_) => beginning(schema.span),
        _ => schema.span,
    }
}
