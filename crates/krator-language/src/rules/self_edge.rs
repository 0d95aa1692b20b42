//! Edges from a state to itself.

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;

pub(super) static RULE: Rule = Rule {
    name: "self-edge",
    severity: Severity::Error,
    summary: "`next` names the state itself",
    explanation: "To run again in the same state, a handler stays in it, which requires `wait`.

Bad:

    Roam: {next: [Roam, Eat]}

Good:

    Roam: {next: [Eat], wait: {poll: 10s}}",
};

pub(super) const CHECK: Check = Check::of_kind(&RULE, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let mut found = Vec::new();
    for (id, state) in subject.kind.state_ids() {
        if let Some(next) = state.next.iter().find(|next| next.to.value == id) {
            let message = format!("`{}` leads to itself", state.name.value);
            let finding = Finding::new(&RULE, next.to.span, message)
                .help("to run again in the same state, a handler stays in it: `wait: {poll: 30s}`");
            found.push(RuleHit::of(id, finding));
        }
    }
    found
}
