//! States that users cannot distinguish by their phase.

use std::collections::BTreeMap;

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::{Finding, Span};
use crate::model::{State, StateId};
use crate::text::shown;

pub(super) static RULE: Rule = Rule {
    name: "duplicate-phase",
    severity: Severity::Info,
    summary: "several states have the same phase",
    explanation: "Users cannot tell these states apart by `.status.phase`, which is often intended.

    Tagged: {phase: Roaming, next: [Roam]}
    Roam: {phase: Roaming, kind: ready}",
};

pub(super) const CHECK: Check = Check::of_kind(&RULE, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let mut first: BTreeMap<&str, StateId> = BTreeMap::new();
    let mut found = Vec::new();
    for (id, state) in subject.kind.state_ids() {
        if let Some(other) = first.get(state.shown_phase()) {
            let phase = shown(state.shown_phase());
            let message = format!(
                "`{}` and `{}` have the same phase, `{phase}`",
                subject.name(*other),
                state.name.value
            );
            let finding = Finding::new(&RULE, place(state), message)
                .related(place(subject.kind.state(*other)), "first here");
            found.push(RuleHit::of(id, finding));
        } else {
            first.insert(state.shown_phase(), id);
        }
    }
    found
}

/// The place of the phase or, if it is not written, of the name, which is then the phase.
fn place(state: &State) -> Span {
    state.phase.as_ref().map_or(state.name.span, |phase| phase.span)
}
