//! Entries of `allow` that silence no finding.

use super::{Check, UsedAllows};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;
use crate::model::{Allow, Description, Kind};

pub(super) static RULE: Rule = Rule {
    name: "unused-allow",
    severity: Severity::Warning,
    summary: "an entry of `allow` that silences no finding",
    explanation: "Either the finding is gone, or the entry is in the wrong place. An `allow` belongs to the state that the finding is
about, or next to `states` if the finding is not about a single state.

Bad:

    Failed: {kind: failed, next: [Retry], allow: {failure-trap: nobody retries}}

Good:

    Failed: {kind: failed, next: [Retry]}",
};

pub(super) const CHECK: Check = Check::of_allows(&RULE, find);

fn find(description: &Description, used: &UsedAllows) -> Vec<Finding> {
    let of_kind = |kind: &Kind| {
        let of_states = kind.states.iter().flat_map(|state| &state.allow);
        let of_states = of_states.filter_map(|allow| unused(allow, used));
        let of_document = kind.allow.iter().filter_map(|allow| {
            let finding = unused(allow, used)?;
            // Some rules have findings both of the document and of states, which only the state itself may allow.
            let states = used.states_with(kind, &allow.rule.value);
            let names: Vec<String> = states
                .iter()
                .map(|id| format!("`{}`", kind.state(*id).name.value))
                .collect();
            Some(match names.is_empty() {
                true => finding,
                false => finding.help(format!("move it to `allow` of {}", names.join(" or "))),
            })
        });
        of_states.chain(of_document).collect::<Vec<_>>()
    };
    description.kinds.iter().flat_map(of_kind).collect()
}

fn unused(allow: &Allow, used: &UsedAllows) -> Option<Finding> {
    // Rules about written code are checked elsewhere, so it is unknown here whether their entries are used.
    let is_checked = super::checked().any(|rule| rule.name == allow.rule.value);
    (is_checked && !used.contains(allow)).then(|| {
        let message = format!("there is no finding of `{}` here", allow.rule.value);
        Finding::new(&RULE, allow.rule.span, message).help("remove it")
    })
}
