//! Former names that came back as the names of other states, in chains and swaps of names.

use super::{Check, RuleHit, Subject};
use crate::catalog::REUSED_NAME;
use crate::finding::Finding;

pub(super) const CHECK: Check = Check::of_kind(&REUSED_NAME, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let mut found = Vec::new();
    for (id, state) in subject.kind.state_ids() {
        let others = state
            .renamed_from
            .iter()
            .filter(|former| former.value != state.name.value);
        for former in others {
            let holder = subject
                .kind
                .state_named(former.as_str())
                .map(|id| subject.kind.state(id));
            let Some(holder) = holder.filter(|holder| !holder.renamed_from.is_empty()) else {
                continue;
            };
            let message = format!(
                "`{0}` is another state now: objects that are stored in `{0}` go on in that one, not in `{1}`",
                former.value, state.name.value
            );
            let finding = Finding::new(&REUSED_NAME, former.span, message)
                .related(holder.name.span, "they go on here")
                .help(
                    "rename in two releases; once no object is stored in the former state, remove this name",
                );
            found.push(RuleHit::of(id, finding));
        }
    }
    found
}
