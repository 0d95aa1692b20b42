//! States that keep what comes to them, and allowances that allow nothing.

use super::{Check, Found, Subject};
use crate::catalog::{FAILURE_TRAP, UNUSED_ALLOW};
use crate::finding::Finding;
use crate::model::{Allow, Kind, OnSpecChange, StateKind};

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
        // Rules about written code run elsewhere, so nothing here can tell whether these are used.
        .filter(|allow| !crate::catalog::is_about_code(&allow.rule))
        .filter(|allow| !used.contains(&std::ptr::from_ref(*allow)))
        .map(|allow| {
            let message = format!("there is no `{}` here to allow", allow.rule.value);
            Finding::new(&UNUSED_ALLOW, allow.rule.span, message).help("remove it")
        })
        .collect()
}
