//! The names of the states, and the parts of a document that states may refer to.

use std::collections::{BTreeMap, HashMap};

use super::kinds::Kinds;
use super::nodes::{Input, InputEntry, text};
use super::paths::Fields;
use super::sink::Sink;
use crate::catalog::UNKNOWN_STATE;
use crate::finding::{Finding, Span, Spanned};
use crate::model::{ObjectKind, StateId};
use crate::text::shown;

/// The names of the states, for resolving the targets of edges.
pub(super) struct Table<'a> {
    by_name: HashMap<&'a str, StateId>,
    /// Whether an edge lacks a target, so that rules must not conclude anything from missing edges.
    pub lacks_edges: bool,
}

impl<'a> Table<'a> {
    pub fn of(entries: &[InputEntry<'a>]) -> Self {
        let by_name = entries
            .iter()
            .enumerate()
            .map(|(at, entry)| (entry.key, StateId(at)))
            .collect();
        Table {
            by_name,
            lacks_edges: false,
        }
    }

    /// Whether a state has this name.
    pub fn has(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// The state with the name that a value has.
    pub fn state(&mut self, node: Input<'_>) -> Option<Spanned<StateId>> {
        let written = text(node);
        if written.is_none() {
            self.lacks_edges = true;
        }
        self.named(&written?.value, node.span, node.sink)
    }

    /// The state with this name.
    pub fn named(&mut self, name: &str, span: Span, sink: &Sink<'_>) -> Option<Spanned<StateId>> {
        if let Some(id) = self.by_name.get(name) {
            return Some(Spanned::new(*id, span));
        }
        self.lacks_edges = true;
        // The names are sorted only for a suggestion, because sorting them for thousands of mistakes would take
        // minutes.
        let mut names: Vec<&str> = if sink.has_suggestions() {
            self.by_name.keys().copied().collect()
        } else {
            Vec::new()
        };
        names.sort_unstable();
        let suggestion = sink.suggest(name, names.iter().copied());
        let message = format!("there is no state `{}`", shown(name));
        let mut finding = Finding::new(&UNKNOWN_STATE, span, message).did_you_mean(suggestion);
        if suggestion.is_none() && (1..=12).contains(&names.len()) {
            finding = finding.help(format!(
                "the states are {}",
                names
                    .iter()
                    .map(|name| shown(name))
                    .collect::<Vec<_>>()
                    .join(", ")
            ));
        }
        sink.refuse(finding)
    }
}

/// The parts of a document that states may refer to.
pub(super) struct BuildContext<'m, 'a> {
    pub fields: Fields<'m, 'a>,
    pub kinds: Kinds<'m>,
    /// The kinds that a `watch` may name, and whether there are owned and watched ones.
    pub in_view: BTreeMap<String, ObjectKind>,
    pub has_owned: bool,
    pub has_watched: bool,
}
