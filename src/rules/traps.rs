//! States that keep what comes to them, and allowances that allow nothing.

use super::{Check, Found, Subject};
use crate::finding::{Finding, Rule, Severity};
use crate::model::{Allow, Kind, OnSpecChange, StateKind};

/// See its summary.
pub static FAILURE_TRAP: Rule = Rule {
    name: "failure-trap",
    severity: Severity::Warning,
    summary: "a `failed` state that neither code, spec change nor time leaves",
    explanation: "A user mends a failure by changing the spec, an operator by looking again. A failed state without `next`, `timeout` or
`onSpecChange: STATE` is left by neither: the object has to be deleted. Where that is meant, `allow` it and say why.

Bad:

    Failed: {kind: failed}

Good:

    Failed: {kind: failed, onSpecChange: Validating}",
};

/// See its summary.
pub static UNUSED_ALLOW: Rule = Rule {
    name: "unused-allow",
    severity: Severity::Warning,
    summary: "an `allow` that silences nothing",
    explanation: "The finding is gone, or stands elsewhere: under the state that it is about, or beside `states` when it is about none.

Bad:

    Failed: {kind: failed, next: [Retry], allow: {failure-trap: nobody retries}}

Good:

    Failed: {kind: failed, next: [Retry]}",
};

pub(super) const CHECKS: &[Check] = &[Check {
    rule: &FAILURE_TRAP,
    needs_edges: false,
    unless: &[],
    find: failure_traps,
}];

fn failure_traps(subject: &Subject<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    for (id, state) in subject.kind.state_ids() {
        let spec_change_leaves = matches!(state.on_spec_change.value, OnSpecChange::Enter(to) if to != id);
        let is_left =
            !state.next.is_empty() || state.timeout.is_some() || spec_change_leaves || state.lacks_edges;
        if state.kind.value != StateKind::Failed || is_left {
            continue;
        }
        let message = format!("nothing leads out of the failed state `{}`", state.name.value);
        let finding = Finding::new(&FAILURE_TRAP, state.name.span, message)
            .label("neither `next`, `timeout` nor `onSpecChange: STATE`")
            .help("let a change of the spec lead out: `onSpecChange: STATE`");
        found.push(Found::of(id, finding));
    }
    found
}

/// What no finding has used.
pub(super) fn unused_allows(kind: &Kind, used: &[*const Allow]) -> Vec<Finding> {
    let of_states = kind.states.iter().flat_map(|state| &state.allow);
    of_states
        .chain(&kind.allow)
        // What code says is not known here.
        .filter(|allow| {
            crate::code::RULES
                .iter()
                .all(|rule| rule.name != allow.rule.value)
        })
        .filter(|allow| !used.contains(&std::ptr::from_ref(*allow)))
        .map(|allow| {
            let message = format!("there is no `{}` here to allow", allow.rule.value);
            Finding::new(&UNUSED_ALLOW, allow.rule.span, message).help("remove it")
        })
        .collect()
}
