//! States that are listed twice in `next`.

use std::collections::BTreeMap;

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::{Finding, Span};
use crate::model::StateId;

pub(super) static RULE: Rule = Rule {
    name: "duplicate-edge",
    severity: Severity::Error,
    summary: "`next` names the same state twice",
    explanation: "A handler chooses the target state, so there is only one edge between two states. If the edge has two reasons, write
both into one `when`.

Bad:

    Roam: {next: [{to: Eat, when: hungry}, {to: Eat, when: bored}]}

Good:

    Roam: {next: [{to: Eat, when: hungry or bored}]}",
};

pub(super) const CHECK: Check = Check::of_kind(&RULE, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let mut found = Vec::new();
    for (id, state) in subject.kind.state_ids() {
        let mut first: BTreeMap<StateId, Span> = BTreeMap::new();
        for next in &state.next {
            if let Some(before) = first.get(&next.to.value) {
                let message = format!(
                    "`next` of `{}` names `{}` twice",
                    state.name.value,
                    subject.name(next.to.value)
                );
                let finding = Finding::new(&RULE, next.to.span, message).related(*before, "first here");
                found.push(RuleHit::of(
                    id,
                    finding.help("write one edge, with both reasons in its `when`"),
                ));
            } else {
                first.insert(next.to.value, next.to.span);
            }
        }
    }
    found
}
