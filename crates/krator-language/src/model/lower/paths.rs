//! Resolves the path of a field in the schema.

use std::borrow::Cow;

use super::nodes::{Input, duration, text};
use super::openapi::schema_of_json;
use super::schema::Types;
use crate::catalog::{UNKNOWN_FIELD, WRONG_TYPE};
use crate::finding::{Finding, Span, Spanned};
use crate::model::{
    FieldPath, MomentField, MomentUnit, PathRoot, Period, Schema, Segment, Shape, kubernetes,
};
use crate::text::shown;

/// The fields that paths of one kind can refer to.
pub(super) struct Fields<'m, 'a> {
    pub types: &'m Types<'a>,
    pub spec: &'m Schema,
    /// The fields of the description and those that the machine keeps.
    pub status: &'m Schema,
}

/// The type of the value at the end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaf {
    String,
    Integer,
    Number,
    Boolean,
    DateTime,
    Duration,
    IntOrString,
    List,
    Object,
    /// The schema does not define the type.
    Open,
}

impl Leaf {
    fn describe(self) -> &'static str {
        match self {
            Leaf::String => "a string",
            Leaf::Integer => "an integer",
            Leaf::Number => "a number",
            Leaf::Boolean => "a boolean",
            Leaf::DateTime => "a date-time",
            Leaf::Duration => "a duration",
            Leaf::IntOrString => "an int-or-string",
            Leaf::List => "a list",
            Leaf::Object => "an object",
            Leaf::Open => "a value of any type",
        }
    }
}

/// The reason why a path is invalid.
enum PathError {
    /// The schema has no field for a step.
    UnknownField(UnknownField),
    /// A filter that no item of the list can match: a message, and the texts that it could have instead.
    NoItem { message: String, texts: Vec<String> },
}

/// A step without a field in the schema, with the fields that the schema has.
struct UnknownField {
    step: String,
    known: Vec<String>,
}

impl From<UnknownField> for PathError {
    fn from(lost: UnknownField) -> Self {
        PathError::UnknownField(lost)
    }
}

impl Fields<'_, '_> {
    /// Reads a path to a value of one of these types, or reports a finding.
    pub fn path(&self, node: Input<'_>, wanted: &[Leaf]) -> Option<Spanned<FieldPath>> {
        self.path_and_leaf(node, wanted).map(|(path, _)| path)
    }

    /// Like `path`, with the type of the value.
    pub(crate) fn path_and_leaf(
        &self,
        node: Input<'_>,
        wanted: &[Leaf],
    ) -> Option<(Spanned<FieldPath>, Leaf)> {
        let written = text(node)?;
        let path = match FieldPath::parse(&written.value) {
            Ok(path) => path,
            Err(reason) => {
                let message = format!("`{}` is not the path of a field", shown(&written.value));
                let mended = [
                    written.value.replace("[]", "[*]"),
                    format!(".{}", written.value.trim_start_matches("$.")),
                ];
                let mended = mended.iter().find(|text| FieldPath::parse(text).is_ok());
                let finding = Finding::new(&WRONG_TYPE, written.span, message).help(reason);
                return node.refuse(finding.did_you_mean(mended.map(String::as_str)));
            }
        };
        match self.check(node, &path)? {
            leaf if wanted.is_empty() || wanted.contains(&leaf) => Some((written.map(|_| path), leaf)),
            leaf => {
                let expected: Vec<&str> = wanted
                    .iter()
                    .filter(|leaf| **leaf != Leaf::Open)
                    .map(|leaf| leaf.describe())
                    .collect();
                let message = format!(
                    "`{}` is {}, expected {}",
                    shown(&written.value),
                    leaf.describe(),
                    expected.join(" or ")
                );
                node.sink
                    .refuse(Finding::new(&UNKNOWN_FIELD, written.span, message))
            }
        }
    }

    /// The type of the value at a path. Reports a step that the schema lacks.
    pub(crate) fn check(&self, node: Input<'_>, path: &FieldPath) -> Option<Leaf> {
        let written = text(node)?;
        match self.follow(path) {
            Ok(leaf) => Some(leaf),
            Err(PathError::NoItem { message, texts }) => {
                let mut finding = Finding::new(&UNKNOWN_FIELD, written.span, message);
                if !texts.is_empty() {
                    let texts: Vec<String> = texts.iter().map(|text| format!("`{}`", shown(text))).collect();
                    finding = finding.help(format!("its values are {}", texts.join(", ")));
                }
                node.refuse(finding)
            }
            Err(PathError::UnknownField(lost)) => {
                let message = format!("the schema has no field `{}`", shown(&lost.step));
                let suggestion = node
                    .sink
                    .suggest(&lost.step, lost.known.iter().map(String::as_str))
                    .map(str::to_owned);
                let mut finding = Finding::new(&UNKNOWN_FIELD, written.span, message);
                finding = match suggestion {
                    Some(name) => {
                        // A field of a filter is written as `@.field`.
                        let in_filter = format!("@.{}", lost.step);
                        let mended = match written.value.contains(&in_filter) {
                            true => written.value.replacen(&in_filter, &format!("@.{name}"), 1),
                            false => written.value.replacen(&lost.step, &name, 1),
                        };
                        finding.did_you_mean(Some(&mended))
                    }
                    None if lost.known.is_empty() => {
                        finding.help("remove this step: the value before it has no fields")
                    }
                    None => {
                        let mut known = lost.known;
                        known.sort_unstable();
                        known.dedup();
                        known.truncate(12);
                        finding.help(format!("known there: {}", known.join(", ")))
                    }
                };
                node.refuse(finding)
            }
        }
    }

    /// Reads a duration, or the path of a field that holds a time.
    pub fn period(&self, node: Input<'_>) -> Option<Spanned<Period>> {
        let is_path = node.scalar().is_some_and(|scalar| {
            scalar.text.starts_with('.') && scalar.text[1..].starts_with(|c: char| c.is_ascii_alphabetic())
        });
        if !is_path {
            return duration(node).map(|duration| duration.map(Period::Fixed));
        }
        let (path, leaf) = self.path_and_leaf(node, &[Leaf::Duration, Leaf::Integer, Leaf::DateTime])?;
        if path.is_plural() {
            return node.refuse(Finding::new(
                &UNKNOWN_FIELD,
                node.span,
                "a time has to be in one field, not in the items of a list",
            ));
        }
        let unit = match leaf {
            Leaf::Duration => MomentUnit::Duration,
            Leaf::Integer => MomentUnit::Seconds,
            _ => MomentUnit::Instant,
        };
        Some(path.map(|path| Period::Field(MomentField { path, unit })))
    }

    fn follow(&self, path: &FieldPath) -> Result<Leaf, PathError> {
        let start = match &path.root {
            PathRoot::Label(_) => return Ok(Leaf::String),
            PathRoot::Spec => Cow::Borrowed(self.spec),
            PathRoot::Metadata => Cow::Owned(schema_of_json(kubernetes::object_metadata())),
            PathRoot::Status => Cow::Borrowed(self.status),
        };
        let end = path
            .segments
            .iter()
            .try_fold(start, |at, segment| self.step(at, segment))?;
        Ok(leaf_of(&self.meant(&end).shape))
    }

    /// The schema with its name and its reference to a Kubernetes type resolved.
    fn meant<'s>(&'s self, schema: &'s Schema) -> Cow<'s, Schema> {
        let schema = self.types.resolve(schema);
        match &schema.shape {
            Shape::Kubernetes(reference) => Cow::Owned(kubernetes::kubernetes_schema(reference).map_or_else(
                || Schema::plain(Shape::Any, schema.span),
                |json| schema_of_json(&json),
            )),
            _ => Cow::Borrowed(schema),
        }
    }

    /// Follows one step. The field that a filter compares has to exist, and its type has to allow the text.
    fn step<'s>(&'s self, at: Cow<'s, Schema>, segment: &Segment) -> Result<Cow<'s, Schema>, PathError> {
        let below = match at {
            Cow::Borrowed(at) => self.below(at, segment)?,
            Cow::Owned(at) => Cow::Owned(self.below(&at, segment)?.into_owned()),
        };
        if let Segment::Where { field, value } = segment {
            let compared = self.below(&below, &Segment::Field(field.clone()))?;
            let compared = self.meant(&compared);
            let leaf = leaf_of(&compared.shape);
            if matches!(
                leaf,
                Leaf::Integer | Leaf::Number | Leaf::Boolean | Leaf::List | Leaf::Object
            ) {
                return Err(PathError::NoItem {
                    message: format!("a filter compares strings, but `{field}` is {}", leaf.describe()),
                    texts: Vec::new(),
                });
            }
            if let Shape::Enum(values) = &compared.shape
                && !values.iter().any(|one| one.value == *value)
            {
                return Err(PathError::NoItem {
                    message: format!("`{field}` is never `{}`", shown(value)),
                    texts: values.iter().map(|value| value.value.clone()).collect(),
                });
            }
        }
        Ok(below)
    }

    fn below<'s>(&'s self, at: &'s Schema, segment: &Segment) -> Result<Cow<'s, Schema>, UnknownField> {
        match self.meant(at) {
            Cow::Borrowed(at) => child(at, segment).map(Cow::Borrowed),
            Cow::Owned(at) => child(&at, segment).map(|below| Cow::Owned(below.clone())),
        }
    }
}

/// The schema below another one. Any value may be below a value of any type.
fn child<'s>(at: &'s Schema, segment: &Segment) -> Result<&'s Schema, UnknownField> {
    let known = match (&at.shape, segment) {
        (Shape::Map(values), Segment::Field(_)) => return Ok(values),
        (Shape::List(items), Segment::Each | Segment::Where { .. }) => return Ok(items),
        (Shape::FreeForm | Shape::Any | Shape::Named(_), _) => {
            return Ok(const { &Schema::plain(Shape::Any, Span::new(0, 0)) });
        }
        (Shape::Object(fields), Segment::Field(name)) => {
            if let Some(field) = fields.iter().find(|field| field.name.as_str() == name) {
                return Ok(&field.schema);
            }
            fields.iter().map(|field| field.name.to_string()).collect()
        }
        _ => Vec::new(),
    };
    let step = match segment {
        Segment::Field(name) => name.clone(),
        Segment::Each => "[*]".to_owned(),
        Segment::Where { field, .. } => format!("[?(@.{field}…)]"),
    };
    Err(UnknownField { step, known })
}

fn leaf_of(shape: &Shape) -> Leaf {
    match shape {
        Shape::String | Shape::Enum(_) => Leaf::String,
        Shape::Boolean => Leaf::Boolean,
        Shape::Integer | Shape::Int32 => Leaf::Integer,
        Shape::Number => Leaf::Number,
        Shape::DateTime => Leaf::DateTime,
        Shape::Duration => Leaf::Duration,
        Shape::Quantity | Shape::IntOrString => Leaf::IntOrString,
        Shape::List(_) => Leaf::List,
        Shape::Map(_) | Shape::Object(_) | Shape::FreeForm => Leaf::Object,
        Shape::Any | Shape::Named(_) | Shape::Kubernetes(_) => Leaf::Open,
    }
}
