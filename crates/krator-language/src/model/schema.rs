//! Schemas as a tree, from which both the CRD and the Rust types are generated.

use std::collections::BTreeMap;

use serde_json::{Number, Value as Json};

use super::TypeId;
use crate::finding::{Span, Spanned};
use crate::names::{FieldName, RustFieldName, TypeName, rust_ident};

/// A type of `types`.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedType {
    /// Its name.
    pub name: Spanned<TypeName>,
    /// The type itself; never recursive.
    pub schema: Schema,
}

/// A field of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Its name in JSON.
    pub name: Spanned<FieldName>,
    /// Its type.
    pub schema: Schema,
}

impl Field {
    /// Its name in Rust, as a raw identifier if it is a keyword. The model guarantees that it exists.
    pub fn rust_name(&self) -> String {
        match &self.schema.rust_name {
            Some(name) => rust_ident(name.as_str()),
            None => self.name.rust_field().unwrap_or_default(),
        }
    }

    /// The name in Rust without the prefix of raw identifiers, from which names for types of the field's values are
    /// derived.
    pub fn word(&self) -> &str {
        let written = self.schema.rust_name.as_ref();
        written.map_or(self.name.as_str(), |name| name.as_str())
    }
}

/// A type at the place where it is used: its shape and its other keys.
///
/// Besides [`Shape::Named`] or [`Shape::Kubernetes`], these keys add to the type's own keys, and override them if both
/// are written.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    /// The place of the type.
    pub span: Span,
    /// The shape of values.
    pub shape: Shape,
    /// `optional`: whether the field may be absent, as it also may with a default. Has no effect if the schema is not
    /// that of a field.
    pub optional: bool,
    /// `nullable`.
    pub nullable: bool,
    /// The purpose of the field.
    pub description: Option<Spanned<String>>,
    /// The default, proven to be of this type as far as the language checks it.
    pub default: Option<Spanned<Json>>,
    /// A value for samples and tests, for types whose simplest value would break a rule or be meaningless.
    pub example: Option<Spanned<Json>>,
    /// Bounds.
    pub constraints: Constraints,
    /// `rustName`: the name of the field in Rust, if it does not follow from that in JSON. Has no effect if the schema
    /// is not that of a field.
    pub rust_name: Option<Spanned<RustFieldName>>,
    /// The constraint on changes of a field, at its key.
    pub change: Option<Spanned<FieldChange>>,
    /// CEL rules.
    pub validations: Vec<Validation>,
    /// `x-kubernetes-*` as written, except `x-kubernetes-validations`, which are in `validations`; and the schemas of
    /// `allOf`, `anyOf`, `oneOf` and `not`.
    pub extensions: Vec<(Spanned<String>, Json)>,
}

/// The shape of values.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// Text; a format such as `byte` is among the constraints.
    String,
    /// `true` or `false`.
    Boolean,
    /// `int64`.
    Integer,
    /// `int32`.
    Int32,
    /// `double`.
    Number,
    /// RFC 3339.
    DateTime,
    /// A duration of Go: `1h30m`.
    Duration,
    /// `500Mi`.
    Quantity,
    /// `25%` or `3`.
    IntOrString,
    /// One of these strings; never empty.
    Enum(Vec<Spanned<String>>),
    /// Items.
    List(Box<Schema>),
    /// String keys to values.
    Map(Box<Schema>),
    /// Fields, in the order of the text.
    Object(Vec<Field>),
    /// An object of any content.
    FreeForm,
    /// Any JSON.
    Any,
    /// A type of `types`.
    Named(TypeId),
    /// A built-in type of Kubernetes.
    Kubernetes(KubernetesType),
}

/// A built-in type of Kubernetes for which k8s-openapi has a schema.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KubernetesType {
    /// API group; `core` and `meta` by these names.
    pub group: String,
    /// Version.
    pub version: String,
    /// Name of the type.
    pub name: String,
}

impl KubernetesType {
    /// The form that descriptions use: `core/v1.PodTemplateSpec`.
    pub fn reference(&self) -> String {
        format!("{}/{}.{}", self.group, self.version, self.name)
    }
}

/// Bounds of a schema; each was checked to fit the shape.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Constraints {
    /// The values of OpenAPI's keywords, such as `minimum`, `pattern` and `format`, by keyword and in the form of the
    /// CRD.
    pub limits: BTreeMap<&'static str, Spanned<Json>>,
    /// `enum` of a number or integer; that of a string is [`Shape::Enum`].
    pub one_of: Vec<Spanned<Number>>,
}

/// The constraint on changes of a field after it is set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldChange {
    /// `immutable`: the field keeps its value from the creation of the object.
    Immutable,
    /// `onceSet`: the field keeps its first value.
    OnceSet,
    /// `transition`: the allowed new values for each value.
    Transition(Vec<(String, Vec<String>)>),
}

/// A CEL rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Validation {
    /// The rule.
    pub rule: Spanned<String>,
    /// The message for a value that breaks it.
    pub message: Option<Spanned<String>>,
    /// A CEL expression that computes the message.
    pub message_expression: Option<Spanned<String>>,
    /// A reason of the API.
    pub reason: Option<Spanned<String>>,
    /// The field to which the error is attributed.
    pub field_path: Option<Spanned<String>>,
    /// Whether a rule about `oldSelf` applies to new values too.
    pub optional_old_self: bool,
}

impl Schema {
    /// A type of this shape without other keys.
    pub const fn plain(shape: Shape, span: Span) -> Self {
        Schema {
            span,
            shape,
            optional: false,
            nullable: false,
            description: None,
            default: None,
            example: None,
            constraints: Constraints {
                limits: BTreeMap::new(),
                one_of: Vec::new(),
            },
            rust_name: None,
            change: None,
            validations: Vec::new(),
            extensions: Vec::new(),
        }
    }

    /// An extension's value, by its full name.
    pub fn extension(&self, name: &str) -> Option<&Json> {
        self.extensions
            .iter()
            .find(|(key, _)| key.value == name)
            .map(|(_, value)| value)
    }

    /// The place of a key besides the type, by its keyword in OpenAPI.
    pub(crate) fn key_span(&self, keyword: &str) -> Option<Span> {
        match keyword {
            "default" => self.default.as_ref().map(|default| default.span),
            "example" => self.example.as_ref().map(|example| example.span),
            "description" => self.description.as_ref().map(|text| text.span),
            "enum" => self.constraints.one_of.first().map(|value| value.span),
            _ => {
                let extension = self.extensions.iter().find(|(key, _)| key.value == keyword);
                let limit = self.constraints.limits.get(keyword);
                extension
                    .map(|(key, _)| key.span)
                    .or(limit.map(|limit| limit.span))
            }
        }
    }

    /// The schemas directly below this one.
    pub fn children(&self) -> Vec<&Schema> {
        match &self.shape {
            Shape::List(inner) | Shape::Map(inner) => vec![inner],
            Shape::Object(fields) => fields.iter().map(|field| &field.schema).collect(),
            _ => Vec::new(),
        }
    }
}
