//! Former names that are names of other states again, in chains and swaps of names.

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;

pub(crate) static RULE: Rule = Rule {
    name: "reused-name",
    severity: Severity::Warning,
    summary: "a former name of one state is now the name of another state that was renamed too",
    explanation: "One edit may rename `A` to `B` while it renames `B` to `D`, or swap the names of two states. `krator gen` then moves
each handler to the state that it belongs to. But a stored object contains only the name of its state: once the new
operator has started, an object that was in the former `B` is treated as one in the new `B`, because the two cannot be
distinguished.

Such an edit is therefore safe only while no object is stored in a state whose name is reused, as in a test cluster.
Otherwise rename in two releases: first `B` to `D`, and then `A` to `B` when no object is stored in `B`. When all
stored objects have the new names, remove the former name, or `allow` this warning.

In this example, the former description had the states `Roam` and `Graze`.

Bad:

    Graze: {renamedFrom: [Roam], next: [Feed]}
    Feed: {renamedFrom: [Graze], next: [Graze]}

Good:

    Roam: {next: [Feed]}
    Feed: {renamedFrom: [Graze], next: [Roam]}",
};

pub(super) const CHECK: Check = Check::of_kind(&RULE, find);

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
                "`{0}` is now another state: stored objects in `{0}` continue in that state, not in `{1}`",
                former.value, state.name.value
            );
            let finding = Finding::new(&RULE, former.span, message)
                .related(holder.name.span, "stored objects continue here")
                .help(
                    "rename in two releases; once no object is stored in the former state, remove this name",
                );
            found.push(RuleHit::of(id, finding));
        }
    }
    found
}
