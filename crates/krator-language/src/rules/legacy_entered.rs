//! Edges to `legacy` states, which no object may enter.

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::{Finding, Span};
use crate::model::StateId;

pub(super) static RULE: Rule = Rule {
    name: "legacy-entered",
    severity: Severity::Error,
    summary: "an edge leads to a `legacy` state",
    explanation: "`legacy: true` means that no object may enter the state, so no edge may lead to it.

Bad:

    Roam: {next: [Graze]}
    Graze: {legacy: true, next: [Roam]}

Good:

    Roam: {next: [Eat]}
    Graze: {legacy: true, next: [Roam]}",
};

pub(super) const CHECK: Check = Check::of_kind(&RULE, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let machine = &subject.kind.machine;
    let mut found = Vec::new();
    let mut report = |to: StateId, span: Span| {
        if let Some(legacy) = subject.kind.state(to).legacy {
            let message = format!(
                "this leads to `{}`, but no object may enter a legacy state",
                subject.name(to)
            );
            let finding = Finding::new(&RULE, span, message).related(legacy, "`legacy` here");
            found.push(RuleHit::of(to, finding));
        }
    };
    // If `initial` could not be read, the model has the first state as a placeholder.
    if !subject.kind.lacks_edges {
        report(machine.initial.value, machine.initial.span);
    }
    if let Some(deletion) = &machine.deletion {
        report(deletion.value, deletion.span);
    }
    let mut last = None;
    for step in subject.graph.steps().filter(|step| step.from != step.to) {
        // An edge that all states inherit from the machine is written once, so it is reported once.
        if last != Some((step.to, step.edge.span))
            && machine.deletion.is_none_or(|deletion| deletion.value != step.to)
        {
            report(step.to, step.edge.span);
        }
        last = Some((step.to, step.edge.span));
    }
    found
}
