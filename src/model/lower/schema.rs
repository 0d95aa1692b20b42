//! From types as written to the schema tree.

use std::collections::BTreeMap;

use super::constraints::{constraints, extensions, is_told_by_shape, validation_list};
use super::keys::{Keys, Sink, boolean, entries, list, named, text};
use super::values::{json_of, typed_json};
use crate::catalog::keys::TypeKey;
use crate::catalog::{INVALID_SCHEMA, NAME_COLLISION, WRONG_TYPE};
use crate::finding::{Finding, Span, Spanned};
use crate::model::{Field, KubernetesType, NamedType, Schema, Shape, TypeId, kubernetes};
use crate::names::{FieldName, TypeName, is_rust_keyword};
use crate::spec::{Entry, Node, NodeKind};
use crate::text::shown;

/// How deep named types may build upon each other.
const DEEPEST_TYPES: usize = 32;
/// How many values a schema may have with all names expanded: far more than an API server stores.
const LARGEST_SCHEMA: usize = 50_000;

/// The types of the language that are one word.
const WORDS: [(&str, Shape); 11] = [
    ("string", Shape::String),
    ("boolean", Shape::Boolean),
    ("integer", Shape::Integer),
    ("int32", Shape::Int32),
    ("number", Shape::Number),
    ("date-time", Shape::DateTime),
    ("duration", Shape::Duration),
    ("quantity", Shape::Quantity),
    ("int-or-string", Shape::IntOrString),
    ("object", Shape::FreeForm),
    ("any", Shape::Any),
];

/// The named types, each read when it is first asked for.
pub(super) struct Types<'a> {
    slots: Vec<Slot<'a>>,
    by_name: BTreeMap<&'a str, TypeId>,
    depth: usize,
}

struct Slot<'a> {
    name: Spanned<TypeName>,
    node: &'a Node,
    state: SlotState,
}

enum SlotState {
    Unread,
    Reading,
    Read { schema: Box<Schema>, size: usize },
}

impl<'a> Types<'a> {
    /// The names of `types` of all documents.
    pub fn declare(nodes: impl IntoIterator<Item = &'a Node>, sink: &mut Sink<'_>) -> Self {
        let mut types = Types {
            slots: Vec::new(),
            by_name: BTreeMap::new(),
            depth: 0,
        };
        for entry in nodes
            .into_iter()
            .flat_map(|node| entries(node, "types by name", sink))
            .collect::<Vec<_>>()
        {
            if let Some(first) = types.by_name.get(entry.key.as_str()) {
                let first = types.slots[first.0].name.span;
                let message = format!("the type `{}` is there twice", shown(&entry.key));
                sink.report(
                    Finding::new(&NAME_COLLISION, entry.key_span, message).related(first, "first here"),
                );
                continue;
            }
            let Some(name) = named(&entry.key, entry.key_span, "type", TypeName::parse, sink) else {
                continue;
            };
            if is_rust_keyword(name.as_str()) {
                let message = format!("`{}` cannot be a type of Rust", name.value);
                sink.error(&NAME_COLLISION, name.span, message);
            }
            types.by_name.insert(&entry.key, TypeId(types.slots.len()));
            types.slots.push(Slot {
                name,
                node: &entry.value,
                state: SlotState::Unread,
            });
        }
        types
    }

    /// All types, once everything has been read.
    pub fn finish(mut self, sink: &mut Sink<'_>) -> Vec<NamedType> {
        for at in 0..self.slots.len() {
            self.read(TypeId(at), self.slots[at].name.span, sink);
        }
        self.slots
            .into_iter()
            .map(|slot| {
                let schema = match slot.state {
                    SlotState::Read { schema, .. } => *schema,
                    SlotState::Unread | SlotState::Reading => Schema::plain(Shape::Any, slot.node.span),
                };
                NamedType {
                    name: slot.name,
                    schema,
                }
            })
            .collect()
    }

    /// What a schema stands for, seen through names.
    pub fn resolve<'s>(&'s self, schema: &'s Schema) -> &'s Schema {
        let mut schema = schema;
        while let Shape::Named(id) = &schema.shape {
            match &self.slots[id.0].state {
                SlotState::Read { schema: inner, .. } => schema = inner,
                SlotState::Unread | SlotState::Reading => break,
            }
        }
        schema
    }

    /// Reads a named type; false when it cannot be used from here.
    fn read(&mut self, id: TypeId, used_at: Span, sink: &mut Sink<'_>) -> bool {
        let slot = &mut self.slots[id.0];
        match slot.state {
            SlotState::Read { .. } => return true,
            SlotState::Reading => {
                let message = format!("the type `{}` holds itself", slot.name.value);
                sink.report(
                    Finding::new(&INVALID_SCHEMA, used_at, message)
                        .help("use `any` or `object` where it would recur"),
                );
                return false;
            }
            SlotState::Unread if self.depth == DEEPEST_TYPES => {
                sink.error(
                    &INVALID_SCHEMA,
                    used_at,
                    format!("types build upon each other deeper than {DEEPEST_TYPES}"),
                );
                return false;
            }
            SlotState::Unread => slot.state = SlotState::Reading,
        }
        let node = slot.node;
        self.depth += 1;
        let schema = self.schema(node, sink);
        self.depth -= 1;
        let size = self.size(&schema);
        self.slots[id.0].state = SlotState::Read {
            schema: Box::new(schema),
            size,
        };
        true
    }

    /// How many values the schema has with all names expanded.
    fn size(&self, schema: &Schema) -> usize {
        let below = match &schema.shape {
            Shape::Named(id) => match &self.slots[id.0].state {
                SlotState::Read { size, .. } => *size,
                SlotState::Unread | SlotState::Reading => 0,
            },
            _ => schema
                .children()
                .iter()
                .fold(0, |sum: usize, child| sum.saturating_add(self.size(child))),
        };
        below.saturating_add(1)
    }

    /// Reports a schema that no API server would store.
    pub fn refuse_giants(&self, schema: &Schema, sink: &mut Sink<'_>) {
        if self.size(schema) > LARGEST_SCHEMA {
            let message = format!("the schema has more than {LARGEST_SCHEMA} values with all types expanded");
            sink.error(&INVALID_SCHEMA, schema.span, message);
        }
    }

    /// A type: a phrase or a mapping. What is wrong becomes a finding and [`Shape::Any`] takes its place.
    pub fn schema(&mut self, node: &'a Node, sink: &mut Sink<'_>) -> Schema {
        match &node.kind {
            NodeKind::Scalar(scalar) if !scalar.is_null() => self.phrase(&scalar.text, node.span, sink),
            NodeKind::Mapping(_) => self.mapping(node, sink),
            _ => {
                sink.wrong_type(node, "a type");
                Schema::plain(Shape::Any, node.span)
            }
        }
    }

    /// The fields of a mapping from names to types.
    pub fn fields(&mut self, node: &'a Node, sink: &mut Sink<'_>) -> Vec<Field> {
        entries(node, "fields by name", sink)
            .iter()
            .filter_map(|entry| self.field(entry, sink))
            .collect()
    }

    /// One field.
    pub fn field(&mut self, entry: &'a Entry, sink: &mut Sink<'_>) -> Option<Field> {
        let schema = self.schema(&entry.value, sink);
        let name = named(&entry.key, entry.key_span, "field", FieldName::parse, sink)?;
        Some(Field { name, schema })
    }

    /// `[optional] [list of | map of]… TYPE`.
    fn phrase(&mut self, phrase: &str, span: Span, sink: &mut Sink<'_>) -> Schema {
        let mut words: Vec<&str> = phrase.split_ascii_whitespace().collect();
        words.reverse();
        let optional = words.last() == Some(&"optional");
        if optional {
            words.pop();
        }
        let mut around = Vec::new();
        while let [.., "of", collection @ ("list" | "map")] = words[..] {
            around.push(collection);
            words.truncate(words.len() - 2);
        }
        let shape = match words[..] {
            [word] => self.word(word, span, sink),
            _ => {
                let message = format!("`{}` is no type", shown(phrase));
                let help = "a type is `[optional] [list of | map of]… TYPE`, or a mapping";
                sink.report(Finding::new(&WRONG_TYPE, span, message).help(help));
                Shape::Any
            }
        };
        let mut schema = Schema::plain(shape, span);
        for collection in around.into_iter().rev() {
            let inner = Box::new(schema);
            let shape = if collection == "list" {
                Shape::List(inner)
            } else {
                Shape::Map(inner)
            };
            schema = Schema::plain(shape, span);
        }
        schema.optional = optional;
        schema
    }

    fn word(&mut self, word: &str, span: Span, sink: &mut Sink<'_>) -> Shape {
        if let Some((_, shape)) = WORDS.iter().find(|(name, _)| *name == word) {
            return shape.clone();
        }
        if let Some(id) = self.by_name.get(word).copied() {
            return if self.read(id, span, sink) {
                Shape::Named(id)
            } else {
                Shape::Any
            };
        }
        if let Some(reference) = kubernetes_reference(word) {
            if kubernetes::has_type(&reference) {
                return Shape::Kubernetes(reference);
            }
            let message = format!(
                "Kubernetes has no type `{}` with a schema that can be expanded",
                shown(word)
            );
            let finding = Finding::new(&WRONG_TYPE, span, message);
            let candidates: Vec<String> = kubernetes::references().collect();
            let suggestion = sink
                .suggest(word, candidates.iter().map(String::as_str))
                .map(str::to_owned);
            sink.report(self.suggest_in_phrase(finding, word, suggestion.as_deref(), sink));
            return Shape::Any;
        }
        let message = format!("there is no type `{}`", shown(word));
        let candidates: Vec<&str> = WORDS
            .iter()
            .map(|(name, _)| *name)
            .chain(self.by_name.keys().copied())
            .collect();
        let aliases = [
            ("str", "string"),
            ("bool", "boolean"),
            ("int", "integer"),
            ("int64", "integer"),
            ("float", "number"),
        ];
        let aliases = aliases.into_iter().chain([
            ("double", "number"),
            ("timestamp", "date-time"),
            ("array", "list of …"),
        ]);
        let suggestion = match aliases.into_iter().find(|(alias, _)| *alias == word) {
            Some((_, meant)) => Some(meant),
            None => sink.suggest(word, candidates),
        };
        let finding = Finding::new(&WRONG_TYPE, span, message);
        let finding = self.suggest_in_phrase(finding, word, suggestion, sink);
        sink.report(finding);
        Shape::Any
    }

    /// The fix replaces the one word, not the whole phrase.
    fn suggest_in_phrase(
        &self,
        finding: Finding,
        word: &str,
        meant: Option<&str>,
        sink: &Sink<'_>,
    ) -> Finding {
        let span = finding.span;
        let mut finding = finding.did_you_mean(meant);
        if let (Some(fix), Some(at)) = (&mut finding.fix, sink.source.at(span).find(word)) {
            fix.span = Span {
                start: span.start + at,
                end: span.start + at + word.len(),
            };
        }
        finding
    }

    fn mapping(&mut self, node: &'a Node, sink: &mut Sink<'_>) -> Schema {
        let Some(mut keys) = Keys::of(node, sink) else {
            return Schema::plain(Shape::Any, node.span);
        };
        let type_node = keys.get(TypeKey::Type, sink);
        let properties = keys
            .get(TypeKey::Properties, sink)
            .map(|node| self.fields(node, sink));
        let items = keys.get(TypeKey::Items, sink).map(|node| self.schema(node, sink));
        let additional = keys.get(TypeKey::AdditionalProperties, sink).map(|node| {
            match node.scalar().and_then(|s| s.boolean()) {
                Some(true) => Schema::plain(Shape::Any, node.span),
                _ => self.schema(node, sink),
            }
        });
        let one_of = keys
            .get(TypeKey::Enum, sink)
            .map(|node| list(node, "a list of values", sink));
        let mut extensions = extensions(&mut keys, sink);
        let mut validations = keys.read_all(TypeKey::KubernetesValidations, sink, validation_list);
        validations.extend(keys.read_all(TypeKey::Validations, sink, validation_list));
        let has = |name: &str| {
            extensions
                .iter()
                .any(|(key, value)| key.value == name && *value == true)
        };

        let mut schema = match type_node {
            Some(node) => match node.scalar().map(|scalar| scalar.text.trim()) {
                Some("array" | "optional array") if items.is_some() => {
                    let mut schema = Schema::plain(Shape::Any, node.span);
                    schema.optional = node
                        .scalar()
                        .is_some_and(|scalar| scalar.text.starts_with("optional"));
                    schema
                }
                Some("array") => {
                    sink.report(
                        Finding::new(&INVALID_SCHEMA, node.span, "an array needs `items`")
                            .help("or write `list of TYPE`"),
                    );
                    Schema::plain(Shape::Any, node.span)
                }
                Some(phrase) => self.phrase(phrase, node.span, sink),
                None => {
                    sink.wrong_type(node, "a type as a phrase");
                    Schema::plain(Shape::Any, node.span)
                }
            },
            None => {
                let shape = if has("x-kubernetes-int-or-string") {
                    Shape::IntOrString
                } else {
                    Shape::Any
                };
                Schema::plain(shape, node.span)
            }
        };
        let is_open = type_node.is_none_or(|node| {
            node.scalar().is_some_and(|scalar| {
                matches!(
                    scalar.text.trim_start_matches("optional").trim(),
                    "object" | "array"
                )
            })
        });
        let inner = [properties.is_some(), items.is_some(), additional.is_some()];
        if inner.iter().filter(|present| **present).count() > 1 {
            sink.error(
                &INVALID_SCHEMA,
                keys.head(),
                "a type has one of `properties`, `items` and `additionalProperties`",
            );
        } else if inner.contains(&true) && !is_open {
            sink.error(
                &INVALID_SCHEMA,
                keys.head(),
                "this `type` has no `properties`, `items` or `additionalProperties`",
            );
        }
        if let Some(fields) = properties {
            schema.shape = Shape::Object(fields);
        } else if let Some(items) = items {
            schema.shape = Shape::List(Box::new(items));
        } else if let Some(values) = additional {
            schema.shape = Shape::Map(Box::new(values));
        } else if type_node.is_none() && one_of.is_none() && extensions.is_empty() {
            let help = "`type` may be left out where `properties`, `items`, `additionalProperties` or `enum` tells it";
            sink.report(Finding::new(&INVALID_SCHEMA, keys.head(), "this type has no `type`").help(help));
        }
        schema.span = node.span;
        schema.validations = validations;
        extensions.retain(|(key, _)| !is_told_by_shape(&key.value, &schema.shape));
        schema.extensions = extensions;
        schema.description = keys.read(TypeKey::Description, sink, text);
        let nullable = keys.read(TypeKey::Nullable, sink, boolean);
        let nullable = nullable.filter(|value| value.value);
        schema.nullable = nullable.is_some();
        if let Some(optional) = keys.read(TypeKey::Optional, sink, boolean) {
            schema.optional = optional.value;
        }
        schema.constraints = constraints(&mut keys, sink);
        if let Some(values) = one_of {
            self.one_of(&mut schema, values, node, sink);
        }
        if let Some(nullable) = nullable {
            self.refuse_null_in_enum(&schema, nullable.span, sink);
        }
        self.narrow(&mut schema);
        super::bounds::check(self.resolve(&schema), &schema, sink);
        if let Some(value) = keys.entry(TypeKey::Default) {
            let json = typed_json(&value.value, self.resolve(&schema), self, sink);
            schema.default = json.map(|json| Spanned::new(json, value.value.span));
            super::bounds::check_default(self.resolve(&schema), &schema, sink);
        }
        keys.finish(sink);
        schema
    }

    /// The API server refuses null where there is an `enum`, even where the `enum` lists it.
    fn refuse_null_in_enum(&self, schema: &Schema, span: Span, sink: &mut Sink<'_>) {
        let meant = self.resolve(schema);
        let has_enum = matches!(meant.shape, Shape::Enum(_))
            || !meant.constraints.one_of.is_empty()
            || !schema.constraints.one_of.is_empty();
        if has_enum {
            let message = "a type with an `enum` cannot be `nullable`: the API server would refuse null";
            sink.report(
                Finding::new(&INVALID_SCHEMA, span, message)
                    .help("a value that may be left out is `optional: true`"),
            );
        }
    }

    /// `type: integer` with `format: int32` is `int32`, and so on.
    fn narrow(&self, schema: &mut Schema) {
        let Some(format) = &schema.constraints.format else {
            return;
        };
        let shape = match (&schema.shape, format.value.as_str()) {
            (Shape::Integer, "int32") => Shape::Int32,
            (Shape::Integer, "int64") => Shape::Integer,
            (Shape::Number, "double") => Shape::Number,
            (Shape::String, "date-time") => Shape::DateTime,
            _ => return,
        };
        schema.shape = shape;
        schema.constraints.format = None;
    }

    /// Texts of an `enum` make the shape; numbers bound it.
    fn one_of(&self, schema: &mut Schema, values: &'a [Node], node: &Node, sink: &mut Sink<'_>) {
        if values.is_empty() {
            sink.error(&INVALID_SCHEMA, node.span, "an `enum` has at least one value");
            return;
        }
        match self.resolve(schema).shape {
            Shape::Integer | Shape::Int32 | Shape::Number => {
                for value in values {
                    match json_of(value) {
                        serde_json::Value::Number(number) => {
                            schema.constraints.one_of.push(Spanned::new(number, value.span));
                        }
                        _ => sink.wrong_type(value, "a number"),
                    }
                }
            }
            Shape::String | Shape::Any => {
                let mut seen: BTreeMap<&str, Span> = BTreeMap::new();
                let mut texts = Vec::new();
                for value in values {
                    // Enum values are data: what is not quoted is taken as it stands.
                    let Some(scalar) = value.scalar() else {
                        sink.wrong_type(value, "a text");
                        continue;
                    };
                    if let Some(first) = seen.insert(&scalar.text, value.span) {
                        let message = format!("the value `{}` is there twice", shown(&scalar.text));
                        sink.report(
                            Finding::new(&INVALID_SCHEMA, value.span, message).related(first, "first here"),
                        );
                    } else {
                        texts.push(Spanned::new(scalar.text.clone(), value.span));
                    }
                }
                if !texts.is_empty() {
                    schema.shape = Shape::Enum(texts);
                }
            }
            _ => sink.error(
                &INVALID_SCHEMA,
                node.span,
                "only texts and numbers have an `enum`",
            ),
        }
    }
}

/// `group/version.Name`, whether or not there is such a type.
pub(super) fn kubernetes_reference(word: &str) -> Option<KubernetesType> {
    let (group, rest) = word.split_once('/')?;
    let (version, name) = rest.split_once('.')?;
    Some(KubernetesType {
        group: group.to_owned(),
        version: version.to_owned(),
        name: name.to_owned(),
    })
}
