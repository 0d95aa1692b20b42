//! Former names that do not belong to a single removed state.

use std::collections::BTreeMap;

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::{Finding, Span};
use crate::names::StateName;

pub(super) static RULE: Rule = Rule {
    name: "conflicting-rename",
    severity: Severity::Error,
    summary: "`renamedFrom` names the state itself, an existing state, or a name that another state claims too",
    explanation: "A former name identifies the state of the former description that this state replaces: the stored objects of that state
continue here, and its handler becomes the handler of this state. A former name must therefore belong to a state that no
longer exists, and only one state may claim it. In a chain or a swap of names, the name does exist again, but belongs to
a state that was itself renamed: see `reused-name`.

In this example, the former description had the states `Roam` and `Graze`.

Bad:

    Roam: {next: [Eat]}
    Wander: {renamedFrom: [Roam], next: [Eat]}

Good:

    Roam: {next: [Eat]}
    Feed: {renamedFrom: [Graze], next: [Roam]}",
};

pub(super) const CHECK: Check = Check::of_kind(&RULE, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let mut found = Vec::new();
    let mut claimed: BTreeMap<&StateName, Span> = BTreeMap::new();
    for (id, state) in subject.kind.state_ids() {
        let name = &state.name.value;
        for former in &state.renamed_from {
            let finding = |message: String| Finding::new(&RULE, former.span, message);
            if former.value == *name {
                let finding = finding(format!("`{name}` cannot have been renamed from itself"));
                found.push(RuleHit::of(id, finding.help("remove it")));
                continue;
            }
            if let Some(claim) = claimed.insert(&former.value, former.span) {
                let message = format!("only one state can have been renamed from `{}`", former.value);
                let finding = finding(message).related(claim, "claimed here too");
                found.push(RuleHit::of(
                    id,
                    finding.help("keep it in the state where its objects continue"),
                ));
            }
            let holder = subject
                .kind
                .state_named(former.as_str())
                .map(|id| subject.kind.state(id));
            // If the state of the name was itself renamed, another rule reports it.
            if let Some(holder) = holder.filter(|holder| holder.renamed_from.is_empty()) {
                let message = format!(
                    "`{name}` cannot have been renamed from `{0}`, which is still a state",
                    former.value
                );
                let finding = finding(message)
                    .related(holder.name.span, "its objects continue here")
                    .help("remove it: `renamedFrom` lists names of removed states");
                found.push(RuleHit::of(id, finding));
            }
        }
    }
    found
}
