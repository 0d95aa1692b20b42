//! `working` states without a way out, and `final` states with one.

use super::{Check, RuleHit, Subject};
use crate::catalog::NO_EXIT;
use crate::finding::Finding;
use crate::graph::EdgeKind;
use crate::model::StateKind;

pub(super) const CHECK: Check = Check::of_kind(&NO_EXIT, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let mut found = Vec::new();
    for (id, state) in subject.kind.state_ids() {
        match state.kind.value {
            StateKind::Working if state.next.is_empty() && state.timeout.is_none() => {
                // A legacy state without a way out is a finding of the rule legacy-dead-end.
                if state.lacks_edges || state.legacy.is_some() {
                    continue;
                }
                let message = format!(
                    "an object cannot leave the `working` state `{}`",
                    state.name.value
                );
                let finding = Finding::new(&NO_EXIT, state.name.span, message)
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
                    let finding = Finding::new(&NO_EXIT, step.edge.span, message)
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
