//! States of an earlier description, in which stored objects may still be.

use super::{Check, Found, Subject};
use crate::finding::{Finding, Rule, Severity, Span};
use crate::model::{StateId, StateKind};

/// See its summary.
pub static LEGACY_ENTERED: Rule = Rule {
    name: "legacy-entered",
    severity: Severity::Error,
    summary: "an edge leads to a `legacy` state",
    explanation: "`legacy: true` says that nothing enters the state any more. An edge to it says otherwise.

Bad:

    Roam: {next: [Graze]}
    Graze: {legacy: true, next: [Roam]}

Good:

    Roam: {next: [Eat]}
    Graze: {legacy: true, next: [Roam]}",
};

/// See its summary.
pub static LEGACY_DEAD_END: Rule = Rule {
    name: "legacy-dead-end",
    severity: Severity::Error,
    summary: "a `legacy` state has no way out",
    explanation: "Stored objects are to leave the state, since nobody wants them there any more. Without a way out they stay for ever.

Bad:

    Graze: {legacy: true}

Good:

    Graze: {legacy: true, next: [Roam]}",
};

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
