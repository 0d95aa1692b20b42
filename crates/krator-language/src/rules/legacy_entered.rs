//! Edges to states that no object may enter any more.

use super::{Check, RuleHit, Subject};
use crate::catalog::LEGACY_ENTERED;
use crate::finding::{Finding, Span};
use crate::model::StateId;

pub(super) const CHECK: Check = Check::of_kind(&LEGACY_ENTERED, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let machine = &subject.kind.machine;
    let mut found = Vec::new();
    let mut report = |to: StateId, span: Span| {
        if let Some(legacy) = subject.kind.state(to).legacy {
            let message = format!(
                "this leads to `{}`, but no object may enter a legacy state",
                subject.name(to)
            );
            let finding = Finding::new(&LEGACY_ENTERED, span, message).related(legacy, "`legacy` here");
            found.push(RuleHit::of(to, finding));
        }
    };
    // If `initial` could not be read, the model has the first state in its place.
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
