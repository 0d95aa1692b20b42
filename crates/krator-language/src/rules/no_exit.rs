//! `working` states that objects cannot leave, and `final` states that objects can leave.

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;
use crate::graph::EdgeKind;
use crate::model::StateKind;

pub(super) static RULE: Rule = Rule {
    name: "no-exit",
    severity: Severity::Error,
    summary: "a `working` state without `next` and `timeout`, or a `final` state with an edge",
    explanation: "Objects pass through a `working` state, so it needs an edge to another state. A state in which objects rest is `ready`
or `failed`, and a state after which they are removed is `final`. A `final` state has no edges.

Bad:

    Eat: {wait: {poll: 1m}}
    Released: {kind: final, next: [Roam]}

Good:

    Eat: {wait: {poll: 1m}, next: [Sleep]}
    Released: {kind: final}",
};

pub(super) const CHECK: Check = Check::of_kind(&RULE, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let mut found = Vec::new();
    for (id, state) in subject.kind.state_ids() {
        match state.kind.value {
            StateKind::Working if state.next.is_empty() && state.timeout.is_none() => {
                // A legacy state that objects cannot leave is a finding of the rule legacy-dead-end.
                if state.lacks_edges || state.legacy.is_some() {
                    continue;
                }
                let message = format!(
                    "an object cannot leave the `working` state `{}`",
                    state.name.value
                );
                let finding = Finding::new(&RULE, state.name.span, message)
                    .label("neither `next` nor `timeout`")
                    .help("give it a `next`, or a `kind`: objects rest in `ready` and `failed` states, and are removed after a `final` one");
                found.push(RuleHit::of(id, finding));
            }
            StateKind::Final => {
                let edges = subject.graph.leaving(id).filter(|step| {
                    matches!(
                        step.edge.kind,
                        EdgeKind::Next | EdgeKind::Timeout | EdgeKind::Retry
                    )
                });
                if let Some(step) = edges.min_by_key(|step| step.edge.span) {
                    let message = format!(
                        "the `final` state `{}` leads to `{}`",
                        state.name.value,
                        subject.name(step.to)
                    );
                    let finding = Finding::new(&RULE, step.edge.span, message)
                        .label("the object is removed after a final state")
                        .related(state.kind.span, "final here");
                    found.push(RuleHit::of(id, finding));
                }
            }
            StateKind::Working | StateKind::Ready | StateKind::Failed => {}
        }
    }
    found
}
