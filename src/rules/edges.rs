//! Edges that say a thing twice, or nothing.

use std::collections::BTreeMap;

use super::{Check, Found, Subject};
use crate::catalog::{DUPLICATE_EDGE, SELF_EDGE};
use crate::finding::{Finding, Span};
use crate::model::StateId;

pub(super) const CHECKS: &[Check] = &[
    Check {
        rule: &DUPLICATE_EDGE,
        needs_edges: false,
        unless: &[],
        find: duplicate_edges,
    },
    Check {
        rule: &SELF_EDGE,
        needs_edges: false,
        unless: &[],
        find: self_edges,
    },
];

fn duplicate_edges(subject: &Subject<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    for (id, state) in subject.kind.state_ids() {
        let mut first: BTreeMap<StateId, Span> = BTreeMap::new();
        for next in &state.next {
            if let Some(before) = first.get(&next.to.value) {
                let message = format!(
                    "`{}` leads to `{}` twice",
                    state.name.value,
                    subject.name(next.to.value)
                );
                let finding =
                    Finding::new(&DUPLICATE_EDGE, next.to.span, message).related(*before, "first here");
                found.push(Found::of(
                    id,
                    finding.help("write one edge; two reasons fit into one `when`"),
                ));
            } else {
                first.insert(next.to.value, next.to.span);
            }
        }
    }
    found
}

fn self_edges(subject: &Subject<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    for (id, state) in subject.kind.state_ids() {
        if let Some(next) = state.next.iter().find(|next| next.to.value == id) {
            let message = format!("`{}` leads to itself", state.name.value);
            let finding = Finding::new(&SELF_EDGE, next.to.span, message)
                .help("a handler that runs again in its state stays: `wait: {poll: 30s}`");
            found.push(Found::of(id, finding));
        }
    }
    found
}
