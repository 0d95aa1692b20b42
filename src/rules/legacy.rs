//! States of an earlier description, in which stored objects may still be.

use super::{Check, Found, Subject};
use crate::catalog::{LEGACY_DEAD_END, LEGACY_ENTERED};
use crate::finding::{Finding, Span};
use crate::model::{StateId, StateKind};

pub(super) const CHECKS: &[Check] = &[
    Check {
        rule: &LEGACY_ENTERED,
        needs_edges: false,
        unless: &[],
        find: entered,
    },
    Check {
        rule: &LEGACY_DEAD_END,
        needs_edges: false,
        unless: &[],
        find: dead_ends,
    },
];

fn entered(subject: &Subject<'_>) -> Vec<Found> {
    let machine = &subject.kind.machine;
    let mut found = Vec::new();
    let mut report = |to: StateId, span: Span| {
        if let Some(legacy) = subject.kind.state(to).legacy {
            let message = format!(
                "this leads to `{}`, which nothing enters any more",
                subject.name(to)
            );
            let finding = Finding::new(&LEGACY_ENTERED, span, message).related(legacy, "`legacy` here");
            found.push(Found::of(to, finding));
        }
    };
    // Without a right `initial` the first state stands in for it.
    if !subject.kind.lacks_edges {
        report(machine.initial.value, machine.initial.span);
    }
    if let Some(deletion) = &machine.deletion {
        report(deletion.value, deletion.span);
    }
    let mut last = None;
    for step in subject.graph.steps().filter(|step| step.from != step.to) {
        // What all states inherit is said in one place.
        if last != Some((step.to, step.edge.span))
            && machine.deletion.is_none_or(|deletion| deletion.value != step.to)
        {
            report(step.to, step.edge.span);
        }
        last = Some((step.to, step.edge.span));
    }
    found
}

fn dead_ends(subject: &Subject<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    for (id, state) in subject.kind.state_ids() {
        let Some(legacy) = state.legacy else { continue };
        let leaves = subject
            .graph
            .leaving(id)
            .any(|step| step.to != id && !step.edge.kind.is_deletion());
        if state.kind.value == StateKind::Final || state.lacks_edges || leaves {
            continue;
        }
        let message = format!("objects that are still in `{}` never leave it", state.name.value);
        let finding = Finding::new(&LEGACY_DEAD_END, state.name.span, message)
            .related(legacy, "`legacy` here")
            .help("give it a `next`");
        found.push(Found::of(id, finding));
    }
    found
}
