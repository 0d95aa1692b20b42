//! States that are not stored and lead to a state for which the object may have to wait.

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::{Finding, Span};
use crate::model::{Next, State, StateId};

pub(super) static RULE: Rule = Rule {
    name: "unstored-gate",
    severity: Severity::Error,
    summary: "a state without a checkpoint leads to a state with a gate",
    explanation:
        "An object before a closed gate waits in its state, so that state has to be stored. A state with `checkpoint: false` is
never stored, so a limit of `limits` cannot count the objects in it, either.

Bad:

    Choose: {checkpoint: false, next: [Upgrade, Roam]}
    Upgrade: {next: [Roam], gate: {during: {schedule: 0 22 * * *, duration: 6h}}}

Good:

    Choose: {next: [Upgrade, Roam]}
    Upgrade: {next: [Roam], gate: {during: {schedule: 0 22 * * *, duration: 6h}}}",
};

pub(super) const CHECK: Check = Check::of_kind(&RULE, find);

/// The edges that handlers take to states for which objects may have to wait, each with the place of its gate.
pub(super) fn asking<'a>(
    subject: &'a Subject<'_>,
) -> impl Iterator<Item = (StateId, &'a State, &'a Next, Span)> {
    let kind = subject.kind;
    kind.state_ids().flat_map(move |(id, state)| {
        let next = state.next.iter();
        next.filter_map(move |next| {
            let gate = kind.gates_between(id, next.to.value).next()?;
            Some((id, state, next, gate))
        })
    })
}

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let kind = subject.kind;
    let counted = kind.limits.iter().flat_map(|limit| {
        let states = limit.states.iter().map(|state| (state, kind.state(state.value)));
        states
            .filter(|(_, state)| !state.checkpoint.value)
            .map(|(counted, state)| {
                let name = &state.name.value;
                let message = format!(
                    "the limit `{}` counts stored states, but `{name}` is not stored",
                    limit.name.value
                );
                let finding = Finding::new(&RULE, counted.span, message);
                let finding = finding.related(state.checkpoint.span, "not stored");
                RuleHit::of(counted.value, finding.help("remove `checkpoint`"))
            })
    });
    let waiting = asking(subject)
        .filter(|(_, state, ..)| !state.checkpoint.value)
        .map(|(id, state, next, _)| {
            let target = &subject.kind.state(next.to.value).name.value;
            let name = &state.name.value;
            let message = format!(
                "objects would wait in `{name}` for the gate of `{target}`, but `{name}` is not stored"
            );
            let finding = Finding::new(&RULE, next.to.span, message).label("this state has a gate");
            RuleHit::of(
                id,
                finding
                    .related(state.checkpoint.span, "not stored")
                    .help("remove `checkpoint`"),
            )
        });
    waiting.chain(counted).collect()
}
