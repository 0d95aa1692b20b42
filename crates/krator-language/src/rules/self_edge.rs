//! Edges from a state to itself.

use super::{Check, RuleHit, Subject};
use crate::catalog::SELF_EDGE;
use crate::finding::Finding;

pub(super) const CHECK: Check = Check::of_kind(&SELF_EDGE, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let mut found = Vec::new();
    for (id, state) in subject.kind.state_ids() {
        if let Some(next) = state.next.iter().find(|next| next.to.value == id) {
            let message = format!("`{}` leads to itself", state.name.value);
            let finding = Finding::new(&SELF_EDGE, next.to.span, message)
                .help("to run again in the same state, a handler stays in it: `wait: {poll: 30s}`");
            found.push(RuleHit::of(id, finding));
        }
    }
    found
}
