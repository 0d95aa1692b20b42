//! States that are not stored and lead to a state that may have to be waited for.

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;
use crate::model::{Next, State, StateId};

pub(super) static RULE: Rule = Rule {
    name: "unstored-gate",
    severity: Severity::Error,
    summary: "a state without a checkpoint leads to a state with a gate",
    explanation:
        "An object that comes to a shut gate waits in its state, which has to be stored for that. A state with
`checkpoint: false` never is.

Bad:

    Choose: {checkpoint: false, next: [Upgrade, Roam]}
    Upgrade: {next: [Roam], gate: {during: {schedule: 0 22 * * *, duration: 6h}}}

Good:

    Choose: {next: [Upgrade, Roam]}
    Upgrade: {next: [Roam], gate: {during: {schedule: 0 22 * * *, duration: 6h}}}",
};

pub(super) const CHECK: Check = Check::of_kind(&RULE, find);

/// The edges that handlers take to states with a gate.
pub(super) fn asking<'a>(subject: &'a Subject<'_>) -> impl Iterator<Item = (StateId, &'a State, &'a Next)> {
    let kind = subject.kind;
    kind.state_ids().flat_map(move |(id, state)| {
        let next = state.next.iter();
        next.filter(|next| kind.state(next.to.value).gate.is_some())
            .map(move |next| (id, state, next))
    })
}

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    asking(subject)
        .filter(|(_, state, _)| !state.checkpoint.value)
        .map(|(id, state, next)| {
            let target = &subject.kind.state(next.to.value).name.value;
            let name = &state.name.value;
            let message = format!(
                "objects would wait in `{name}` for the gate of `{target}`, and `{name}` is not stored"
            );
            let finding = Finding::new(&RULE, next.to.span, message).label("it has a gate");
            RuleHit::of(
                id,
                finding
                    .related(state.checkpoint.span, "not stored")
                    .help("remove `checkpoint`"),
            )
        })
        .collect()
}
