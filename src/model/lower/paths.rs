//! Follows the path of a field through the schema.

use std::borrow::Cow;

use serde_json::Value as Json;

use super::nodes::{Input, duration, text};
use super::schema::Types;
use crate::catalog::{UNKNOWN_FIELD, WRONG_TYPE};
use crate::finding::{Finding, Spanned};
use crate::model::{
    Field, FieldPath, MomentField, MomentUnit, PathRoot, Period, Schema, Segment, Shape, kubernetes,
    machine_status_of,
};
use crate::text::shown;

/// The fields that paths of one kind can lead to.
pub(super) struct Fields<'m, 'a> {
    pub types: &'m Types<'a>,
    pub spec: &'m Schema,
    pub status: &'m [Field],
    /// Whether a state names a phase, so that the machine keeps `.status.phase`.
    pub names_phases: bool,
}

/// What a path ends at.
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
    /// The schema does not say.
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

/// What a path has led to so far.
#[derive(Clone)]
enum Cursor<'s> {
    Schema(&'s Schema),
    Fields(&'s [Field]),
    Json(Cow<'s, Json>),
    Open,
}

/// Why a path leads nowhere.
enum Astray {
    /// The schema has no field for a step.
    Lost(Lost),
    /// A filter that no item of the list can pass, in words, and what the text could be instead.
    NoItem { message: String, texts: Vec<String> },
}

/// A step for which the schema has no field, with the fields that it has.
struct Lost {
    step: String,
    known: Vec<String>,
}

impl From<Lost> for Astray {
    fn from(lost: Lost) -> Self {
        Astray::Lost(lost)
    }
}

impl Fields<'_, '_> {
    /// Reads a path that leads to one of these types, or reports a finding.
    pub fn path(&self, node: Input<'_>, wanted: &[Leaf]) -> Option<Spanned<FieldPath>> {
        self.path_and_leaf(node, wanted).map(|(path, _)| path)
    }

    /// The same, with the type that the path leads to.
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
                node.sink.report(finding.did_you_mean(mended.map(String::as_str)));
                return None;
            }
        };
        match self.follow(&path) {
            Ok(leaf) if wanted.is_empty() || wanted.contains(&leaf) => Some((written.map(|_| path), leaf)),
            Ok(leaf) => {
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
                node.sink.error(&UNKNOWN_FIELD, written.span, message);
                None
            }
            Err(Astray::NoItem { message, texts }) => {
                let mut finding = Finding::new(&UNKNOWN_FIELD, written.span, message);
                if !texts.is_empty() {
                    let texts: Vec<String> = texts.iter().map(|text| format!("`{}`", shown(text))).collect();
                    finding = finding.help(format!("it is one of {}", texts.join(", ")));
                }
                node.sink.report(finding);
                None
            }
            Err(Astray::Lost(lost)) => {
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
                    None if lost.known.is_empty() => finding.help("the path is longer than the schema"),
                    None => {
                        let mut known = lost.known;
                        known.sort_unstable();
                        known.dedup();
                        known.truncate(12);
                        finding.help(format!("known there: {}", known.join(", ")))
                    }
                };
                node.sink.report(finding);
                None
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
            node.sink.error(
                &UNKNOWN_FIELD,
                node.span,
                "a time has to be in one field, not in the items of a list",
            );
            return None;
        }
        let unit = match leaf {
            Leaf::Duration => MomentUnit::Duration,
            Leaf::Integer => MomentUnit::Seconds,
            _ => MomentUnit::Instant,
        };
        Some(path.map(|path| Period::Field(MomentField { path, unit })))
    }

    fn follow(&self, path: &FieldPath) -> Result<Leaf, Astray> {
        let start = match &path.root {
            PathRoot::Label(_) => return Ok(Leaf::String),
            PathRoot::Spec => Cursor::Schema(self.spec),
            PathRoot::Metadata => Cursor::Json(Cow::Borrowed(kubernetes::object_metadata())),
            PathRoot::Status => Cursor::Fields(self.status),
        };
        let end = path
            .segments
            .iter()
            .try_fold(start, |at, segment| self.step(at, segment))?;
        Ok(self.leaf(&end))
    }

    fn leaf(&self, end: &Cursor<'_>) -> Leaf {
        match end {
            Cursor::Schema(schema) => leaf_of(&self.types.resolve(schema).shape),
            Cursor::Fields(_) => Leaf::Object,
            Cursor::Json(json) => leaf_of_json(json),
            Cursor::Open => Leaf::Open,
        }
    }

    /// What a step leads to. The field that a filter compares has to exist, and it has to be able to have the text.
    fn step<'s>(&'s self, at: Cursor<'s>, segment: &Segment) -> Result<Cursor<'s>, Astray> {
        let below = self.below(at, segment)?;
        if let Segment::Where { field, value } = segment {
            let compared = self.below(below.clone(), &Segment::Field(field.clone()))?;
            let leaf = self.leaf(&compared);
            if matches!(
                leaf,
                Leaf::Integer | Leaf::Number | Leaf::Boolean | Leaf::List | Leaf::Object
            ) {
                return Err(Astray::NoItem {
                    message: format!("a filter compares texts, and `{field}` is {}", leaf.describe()),
                    texts: Vec::new(),
                });
            }
            if let Cursor::Schema(schema) = compared
                && let Shape::Enum(values) = &self.types.resolve(schema).shape
                && !values.iter().any(|one| one.value == *value)
            {
                return Err(Astray::NoItem {
                    message: format!("`{field}` is never `{}`", shown(value)),
                    texts: values.iter().map(|value| value.value.clone()).collect(),
                });
            }
        }
        Ok(below)
    }

    fn below<'s>(&'s self, at: Cursor<'s>, segment: &Segment) -> Result<Cursor<'s>, Lost> {
        match at {
            Cursor::Open => Ok(Cursor::Open),
            Cursor::Fields(fields) => match segment {
                Segment::Field(name) => match fields.iter().find(|field| field.name.as_str() == name) {
                    Some(field) => Ok(Cursor::Schema(&field.schema)),
                    None => step_json(Cow::Borrowed(machine_status_of(self.names_phases)), segment).map_err(
                        |mut lost| {
                            lost.known
                                .extend(fields.iter().map(|field| field.name.to_string()));
                            lost
                        },
                    ),
                },
                _ => Err(lost(segment, Vec::new())),
            },
            Cursor::Schema(schema) => match (&self.types.resolve(schema).shape, segment) {
                (Shape::Object(fields), Segment::Field(name)) => fields
                    .iter()
                    .find(|field| field.name.as_str() == name)
                    .map(|field| Cursor::Schema(&field.schema))
                    .ok_or_else(|| {
                        lost(
                            segment,
                            fields.iter().map(|field| field.name.to_string()).collect(),
                        )
                    }),
                (Shape::Map(values), Segment::Field(_)) => Ok(Cursor::Schema(values)),
                (Shape::List(items), Segment::Each | Segment::Where { .. }) => Ok(Cursor::Schema(items)),
                (Shape::FreeForm | Shape::Any | Shape::Named(_), _) => Ok(Cursor::Open),
                (Shape::Kubernetes(reference), _) => match kubernetes::kubernetes_schema(reference) {
                    Some(json) => step_json(Cow::Owned(json), segment),
                    None => Ok(Cursor::Open),
                },
                _ => Err(lost(segment, Vec::new())),
            },
            Cursor::Json(json) => step_json(json, segment),
        }
    }
}

fn lost(segment: &Segment, known: Vec<String>) -> Lost {
    let step = match segment {
        Segment::Field(name) => name.clone(),
        Segment::Each => "[*]".to_owned(),
        Segment::Where { field, .. } => format!("[?(@.{field}…)]"),
    };
    Lost { step, known }
}

fn step_json<'s>(json: Cow<'s, Json>, segment: &Segment) -> Result<Cursor<'s>, Lost> {
    if json.get("x-kubernetes-preserve-unknown-fields").is_some() {
        return Ok(Cursor::Open);
    }
    let below = match segment {
        Segment::Field(name) => json
            .get("properties")
            .and_then(|fields| fields.get(name))
            .or_else(|| json.get("additionalProperties")),
        Segment::Each | Segment::Where { .. } => json.get("items"),
    };
    match below {
        Some(below) => Ok(Cursor::Json(Cow::Owned(below.clone()))),
        None => {
            let known = json
                .get("properties")
                .and_then(Json::as_object)
                .map(|fields| fields.keys().cloned().collect());
            Err(lost(segment, known.unwrap_or_default()))
        }
    }
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
        Shape::Any | Shape::Named(_) => Leaf::Open,
        Shape::Kubernetes(reference) => {
            kubernetes::kubernetes_schema(reference).map_or(Leaf::Open, |json| leaf_of_json(&json))
        }
    }
}

fn leaf_of_json(json: &Json) -> Leaf {
    match json.get("type").and_then(Json::as_str) {
        Some("string") if json.get("format").and_then(Json::as_str) == Some("date-time") => Leaf::DateTime,
        Some("string") => Leaf::String,
        Some("integer") => Leaf::Integer,
        Some("number") => Leaf::Number,
        Some("boolean") => Leaf::Boolean,
        Some("array") => Leaf::List,
        Some("object") => Leaf::Object,
        _ if json.get("x-kubernetes-int-or-string").is_some() => Leaf::IntOrString,
        _ => Leaf::Open,
    }
}
