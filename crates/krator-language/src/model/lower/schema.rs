//! Reads types into the schema tree.

mod change;
mod mapping;
mod phrase;
mod values;

pub(super) use phrase::kubernetes_reference;
pub(crate) use phrase::{DEEPEST_PHRASE, type_words};
pub(super) use values::typed_json;

use std::collections::BTreeMap;

use change::refuse_change;
use mapping::refuse_optional;

use super::nodes::{Input, InputEntry, entries};
use super::sink::Sink;
use crate::catalog::{INVALID_NAME, INVALID_SCHEMA, NAME_COLLISION};
use crate::finding::{Finding, Span, Spanned};
use crate::model::{Field, NamedType, Schema, Shape, TypeId};
use crate::names::{FieldName, TypeName, is_rust_keyword, unique_rust_field};
use crate::spec::NodeKind;
use crate::text::shown;

/// The maximum length of a chain of named types that refer to each other.
const DEEPEST_TYPES: usize = 32;
/// The maximum nesting of lists, maps and objects in a schema with all names expanded. Code that reads and writes
/// deeper schemas could overflow the stack.
const DEEPEST_SCHEMA: usize = 64;
/// The maximum number of values of a schema with all names expanded: far more than an API server stores.
const LARGEST_SCHEMA: usize = 50_000;

/// The named types, each of which is read on first use.
pub(super) struct Types<'a> {
    slots: Vec<Slot<'a>>,
    by_name: BTreeMap<&'a str, TypeId>,
    depth: usize,
}

struct Slot<'a> {
    name: Spanned<TypeName>,
    node: Input<'a>,
    state: SlotState,
}

enum SlotState {
    Unread,
    Reading,
    Read { schema: Box<Schema>, extent: Extent },
}

/// The size of a schema with all names expanded.
#[derive(Clone, Copy, Default)]
struct Extent {
    values: usize,
    levels: usize,
}

impl<'a> Types<'a> {
    /// The names of `types` of all documents.
    pub fn declare(nodes: impl IntoIterator<Item = Input<'a>>, sink: &Sink<'_>) -> Self {
        let mut types = Types {
            slots: Vec::new(),
            by_name: BTreeMap::new(),
            depth: 0,
        };
        for entry in nodes.into_iter().flat_map(|node| entries(node, "types by name")) {
            if let Some(first) = types.by_name.get(entry.key) {
                let first = types.slots[first.0].name.span;
                let message = format!("the type `{}` is declared twice", shown(entry.key));
                sink.report(
                    Finding::new(&NAME_COLLISION, entry.key_span, message).related(first, "first here"),
                );
                continue;
            }
            let Some(name) = entry.name("type", TypeName::parse) else {
                continue;
            };
            if is_rust_keyword(name.as_str()) {
                let message = format!("`{}` cannot be the name of a Rust type", name.value);
                sink.error(&NAME_COLLISION, name.span, message);
            }
            types.by_name.insert(entry.key, TypeId(types.slots.len()));
            types.slots.push(Slot {
                name,
                node: entry.value,
                state: SlotState::Unread,
            });
        }
        types
    }

    /// All types, after everything has been read.
    pub fn finish(mut self, sink: &Sink<'_>) -> Vec<NamedType> {
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

    /// The schema that a reference to a named type resolves to; other schemas resolve to themselves.
    pub(crate) fn resolve<'s>(&'s self, schema: &'s Schema) -> &'s Schema {
        let mut schema = schema;
        while let Shape::Named(id) = &schema.shape {
            match &self.slots[id.0].state {
                SlotState::Read { schema: inner, .. } => schema = inner,
                SlotState::Unread | SlotState::Reading => break,
            }
        }
        schema
    }

    /// Replaces a reference by the outermost level of the named type, with the keys of both.
    pub fn inline(&self, schema: &mut Schema) {
        while let Shape::Named(id) = schema.shape {
            let SlotState::Read { schema: inner, .. } = &self.slots[id.0].state else {
                return;
            };
            let beside = std::mem::replace(schema, (**inner).clone());
            schema.span = beside.span;
            schema.optional = beside.optional;
            schema.nullable |= beside.nullable;
            schema.rust_name = beside.rust_name;
            schema.change = beside.change.or(schema.change.take());
            for (own, beside) in [
                (&mut schema.default, beside.default),
                (&mut schema.example, beside.example),
            ] {
                *own = beside.or(own.take());
            }
            schema.description = beside.description.or(schema.description.take());
            schema.constraints.limits.extend(beside.constraints.limits);
            if !beside.constraints.one_of.is_empty() {
                schema.constraints.one_of = beside.constraints.one_of;
            }
            schema.validations.extend(beside.validations);
            for (key, value) in beside.extensions {
                schema.extensions.retain(|(other, _)| other.value != key.value);
                schema.extensions.push((key, value));
            }
        }
    }

    /// A copy of a schema with its reference replaced.
    pub fn inlined(&self, schema: &Schema) -> Schema {
        let mut schema = schema.clone();
        self.inline(&mut schema);
        schema
    }

    /// Reads a named type; false if it cannot be used here.
    fn read(&mut self, id: TypeId, used_at: Span, sink: &Sink<'_>) -> bool {
        let slot = &mut self.slots[id.0];
        match slot.state {
            SlotState::Read { .. } => return true,
            SlotState::Reading => {
                let message = format!("the type `{}` contains itself", slot.name.value);
                sink.report(
                    Finding::new(&INVALID_SCHEMA, used_at, message)
                        .help("use `any` or `object` where the type would contain itself"),
                );
                return false;
            }
            SlotState::Unread if self.depth == DEEPEST_TYPES => {
                sink.error(
                    &INVALID_SCHEMA,
                    used_at,
                    format!("types refer to each other more than {DEEPEST_TYPES} levels deep"),
                );
                return false;
            }
            SlotState::Unread => slot.state = SlotState::Reading,
        }
        let node = slot.node;
        self.depth += 1;
        let schema = self.schema(node);
        self.depth -= 1;
        refuse_optional(&schema, "a type of `types`", sink);
        refuse_change(&schema, "a type of `types`", sink);
        let extent = self.extent(&schema);
        let is_used = extent.levels <= DEEPEST_SCHEMA;
        if !is_used {
            self.refuse_giants(&schema, sink);
        }
        self.slots[id.0].state = SlotState::Read {
            // A type that is reported as too deep would be reported again wherever it is used.
            schema: Box::new(if is_used {
                schema
            } else {
                Schema::plain(Shape::Any, used_at)
            }),
            extent: if is_used { extent } else { Extent::default() },
        };
        true
    }

    /// The size of the schema with all names expanded.
    fn extent(&self, schema: &Schema) -> Extent {
        let below = match &schema.shape {
            Shape::Named(id) => match &self.slots[id.0].state {
                // A name is not a level of its own.
                SlotState::Read { extent, .. } => {
                    return Extent {
                        values: extent.values.saturating_add(1),
                        ..*extent
                    };
                }
                SlotState::Unread | SlotState::Reading => Extent::default(),
            },
            _ => schema.children().iter().fold(Extent::default(), |sum, child| {
                let child = self.extent(child);
                Extent {
                    values: sum.values.saturating_add(child.values),
                    levels: sum.levels.max(child.levels),
                }
            }),
        };
        Extent {
            values: below.values.saturating_add(1),
            levels: below.levels + 1,
        }
    }

    /// Reports a schema that is too large for an API server.
    pub(crate) fn refuse_giants(&self, schema: &Schema, sink: &Sink<'_>) {
        let extent = self.extent(schema);
        if extent.values > LARGEST_SCHEMA {
            let message = format!("the schema has more than {LARGEST_SCHEMA} values with all types expanded");
            sink.error(&INVALID_SCHEMA, schema.span, message);
        }
        if extent.levels > DEEPEST_SCHEMA {
            let message = format!("the schema has more than {DEEPEST_SCHEMA} levels with all types expanded");
            sink.report(
                Finding::new(&INVALID_SCHEMA, schema.span, message)
                    .help("use `any` or `object` for deeper values"),
            );
        }
    }

    /// A type: a phrase or a mapping. A mistake becomes a finding, with [`Shape::Any`] as the placeholder.
    pub fn schema(&mut self, node: Input<'a>) -> Schema {
        match &node.kind {
            NodeKind::Scalar(scalar) if !scalar.is_null() => self.phrase(&scalar.text, node.span, node.sink),
            NodeKind::Mapping(_) => self.mapping(node),
            _ => {
                node.wrong_type("a type");
                Schema::plain(Shape::Any, node.span)
            }
        }
    }

    /// The fields of a mapping from names to types.
    pub fn fields(&mut self, node: Input<'a>) -> Vec<Field> {
        let entries = entries(node, "fields by name").into_iter();
        entries.filter_map(|entry| self.field(entry)).collect()
    }

    /// One field.
    pub fn field(&mut self, entry: InputEntry<'a>) -> Option<Field> {
        let mut schema = self.schema(entry.value);
        let name = entry.name("field", FieldName::parse)?;
        if schema.rust_name.is_none() && name.rust_field().is_none() {
            let proposed = unique_rust_field(name.as_str(), |_| false);
            let message = format!("`{}` cannot be the name of a Rust field", shown(name.as_str()));
            entry.value.report(
                Finding::new(&INVALID_NAME, name.span, message)
                    .help(format!("add `rustName: {proposed}` beside its type")),
            );
            schema.rust_name = Some(Spanned::new(proposed, name.span));
        }
        Some(Field { name, schema })
    }
}
