//! The constraints on changes of a field: `immutable`, `onceSet` and `transition`.

use super::Types;
use crate::catalog::INVALID_SCHEMA;
use crate::catalog::keys::{SectionKey as _, TypeKey};
use crate::finding::{Finding, Spanned};
use crate::model::lower::constraints::only_true;
use crate::model::lower::keys::Keys;
use crate::model::lower::nodes::{Input, entries, list, text};
use crate::model::lower::sink::Sink;
use crate::model::{FieldChange, Schema, Shape};
use crate::text::shown;

/// Reports keys for fields at a type that is not that of a field.
pub(super) fn refuse_change(schema: &Schema, what: &str, sink: &Sink<'_>) {
    if let Some(change) = &schema.change {
        let message = format!("{what} cannot restrict its changes");
        let help = "only a field can be `immutable`, `onceSet` or have a `transition`: write it at the field";
        sink.report(Finding::new(&INVALID_SCHEMA, change.span, message).help(help));
    }
    if let Some(name) = &schema.rust_name {
        let message = format!("{what} is not a field, so it has no name in Rust");
        let help = "write `rustName` at the field that has this type";
        sink.report(Finding::new(&INVALID_SCHEMA, name.span, message).help(help));
    }
}

impl<'a> Types<'a> {
    /// Reads the keys about changes, which exclude each other.
    pub(super) fn change(
        &self,
        keys: &mut Keys<'a, TypeKey>,
        schema: &Schema,
        sink: &Sink<'_>,
    ) -> Option<Spanned<FieldChange>> {
        let mut found: Option<Spanned<FieldChange>> = None;
        for key in [TypeKey::Immutable, TypeKey::OnceSet, TypeKey::Transition] {
            let span = keys.key_span(key);
            let change = keys.read(key, |node| match key {
                TypeKey::Immutable => only_true(node).map(|()| FieldChange::Immutable),
                TypeKey::OnceSet => only_true(node).map(|()| FieldChange::OnceSet),
                _ => self.transition(node, schema),
            });
            let (Some(change), Some(span)) = (change, span) else {
                continue;
            };
            match &found {
                Some(first) => sink.report(
                    Finding::new(
                        &INVALID_SCHEMA,
                        span,
                        format!("`{}` contradicts an earlier key", key.key().name),
                    )
                    .related(first.span, "here")
                    .help("a field can have only one of `immutable`, `onceSet` and `transition`"),
                ),
                None => found = Some(Spanned::new(change, span)),
            }
        }
        found
    }

    fn transition(&self, node: Input<'a>, schema: &Schema) -> Option<FieldChange> {
        let Shape::Enum(values) = &self.resolve(schema).shape else {
            let message = "only a string with an `enum` can have a `transition`";
            return node.refuse(Finding::new(&INVALID_SCHEMA, node.span, message));
        };
        let known = |written: &str, span| {
            if !values.iter().any(|value| value.value == written) {
                let suggestion = node
                    .sink
                    .suggest(written, values.iter().map(|value| value.value.as_str()));
                let message = format!("`{}` is not a value of the `enum`", shown(written));
                node.report(Finding::new(&INVALID_SCHEMA, span, message).did_you_mean(suggestion));
            }
        };
        let moves = entries(node, "lists of values by value")
            .into_iter()
            .map(|entry| {
                known(entry.key, entry.key_span);
                let to = list(entry.value, "a list of values").into_iter().filter_map(text);
                let to = to.map(|value| {
                    known(&value.value, value.span);
                    value.value
                });
                (entry.key.to_owned(), to.collect())
            });
        Some(FieldChange::Transition(moves.collect()))
    }
}
