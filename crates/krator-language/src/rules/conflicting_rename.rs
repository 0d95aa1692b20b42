//! Former names that do not belong to one state that is gone.

use std::collections::BTreeMap;

use super::{Check, RuleHit, Subject};
use crate::catalog::CONFLICTING_RENAME;
use crate::finding::{Finding, Span};
use crate::names::StateName;

pub(super) const CHECK: Check = Check::of_kind(&CONFLICTING_RENAME, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let mut found = Vec::new();
    let mut claimed: BTreeMap<&StateName, Span> = BTreeMap::new();
    for (id, state) in subject.kind.state_ids() {
        let name = &state.name.value;
        for former in &state.renamed_from {
            let finding = |message: String| Finding::new(&CONFLICTING_RENAME, former.span, message);
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
                    finding.help("keep it in the state where its objects go on"),
                ));
            }
            let holder = subject
                .kind
                .state_named(former.as_str())
                .map(|id| subject.kind.state(id));
            // One that was renamed itself gave its name away: that is another rule's matter.
            if let Some(holder) = holder.filter(|holder| holder.renamed_from.is_empty()) {
                let message = format!(
                    "`{name}` cannot have been renamed from `{0}`, which is still a state",
                    former.value
                );
                let finding = finding(message)
                    .related(holder.name.span, "its objects go on here")
                    .help("remove it: `renamedFrom` takes the names of states that are gone");
                found.push(RuleHit::of(id, finding));
            }
        }
    }
    found
}
