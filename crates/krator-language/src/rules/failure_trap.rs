//! Failed states that objects leave only by deletion.

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;
use crate::model::{OnSpecChange, StateKind};

pub(super) static RULE: Rule = Rule {
    name: "failure-trap",
    severity: Severity::Warning,
    summary: "a `failed` state that an object can only leave by being deleted",
    explanation: "An object recovers from a failure when its user changes the spec, or when the operator tries again. A failed state
without `next`, `timeout` or `onSpecChange: STATE` allows neither, so the object has to be deleted. If that is intended,
`allow` the rule and give the reason.

Bad:

    Failed: {kind: failed}

Good:

    Failed: {kind: failed, onSpecChange: Validating}",
};

pub(super) const CHECK: Check = Check::of_kind(&RULE, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let mut found = Vec::new();
    for (id, state) in subject.kind.state_ids() {
        let spec_change_leaves = state
            .on_any_spec_change()
            .any(|change| matches!(change.value, OnSpecChange::Enter(to) if to != id));
        let is_left =
            !state.next.is_empty() || state.timeout.is_some() || spec_change_leaves || state.lacks_edges;
        if state.kind.value != StateKind::Failed || is_left {
            continue;
        }
        let message = format!("an object cannot leave the failed state `{}`", state.name.value);
        let finding = Finding::new(&RULE, state.name.span, message)
            .label("neither `next`, `timeout` nor `onSpecChange: STATE`")
            .help("make a change of the spec lead to another state: `onSpecChange: STATE`");
        found.push(RuleHit::of(id, finding));
    }
    found
}
