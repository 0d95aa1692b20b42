//! What the description says must hold of its graph.

use super::{Check, RuleHit, Subject};
use crate::catalog::PROPERTY_VIOLATED;
use crate::finding::{Finding, Span};
use crate::graph::{EdgeKind, Step};
use crate::model::{PropertyKind, StateId, StateSet};

pub(super) const CHECK: Check = Check {
    needs_edges: true,
    ..Check::of_kind(&PROPERTY_VIOLATED, find)
};

fn counts(step: Step) -> bool {
    step.edge.kind != EdgeKind::Resume
}

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    subject
        .kind
        .properties
        .iter()
        .flat_map(|property| violations(subject, property.span, &property.kind))
        .collect()
}

fn violations(subject: &Subject<'_>, span: Span, property: &PropertyKind) -> Vec<RuleHit> {
    let graph = subject.graph;
    let report = |message: String, way: Vec<StateId>| {
        vec![RuleHit::of_document(
            Finding::new(&PROPERTY_VIOLATED, span, message).path(subject.names(&way)),
        )]
    };
    let set = |states: &StateSet| -> Vec<StateId> {
        match states {
            StateSet::All => subject.kind.state_ids().map(|(id, _)| id).collect(),
            StateSet::These(states) => states.iter().map(|state| state.value).collect(),
        }
    };
    match property {
        PropertyKind::CanReach { from, to } => {
            let reaching = graph.reaching([to.value], counts);
            let stuck: Vec<&str> = set(from)
                .iter()
                .filter(|id| !reaching[id.0])
                .map(|id| subject.name(*id))
                .collect();
            match stuck[..] {
                [] => Vec::new(),
                [one] => report(
                    format!("`{one}` cannot reach `{}`", subject.name(to.value)),
                    Vec::new(),
                ),
                [first, .., last] => report(
                    format!(
                        "{} states, `{first}` to `{last}`, cannot reach `{}`",
                        stuck.len(),
                        subject.name(to.value)
                    ),
                    Vec::new(),
                ),
            }
        }
        PropertyKind::Never { from, to } => {
            // A state reaches itself only by an edge.
            let first: Vec<StateId> = graph
                .leaving(from.value)
                .filter(|step| counts(*step))
                .map(|step| step.to)
                .collect();
            match graph.way(first, |id| id == to.value, counts) {
                Some(way) => report(
                    format!(
                        "`{}` leads to `{}`",
                        subject.name(from.value),
                        subject.name(to.value)
                    ),
                    std::iter::once(from.value).chain(way).collect(),
                ),
                None => Vec::new(),
            }
        }
        PropertyKind::Only { state, through } => {
            let around = |step: Step| counts(step) && step.from != through.value;
            let start = subject.kind.machine.initial.value;
            match graph.way([start], |id| id == state.value, around) {
                Some(way) if !way.contains(&through.value) => report(
                    format!(
                        "`{}` can be reached without passing `{}`",
                        subject.name(state.value),
                        subject.name(through.value)
                    ),
                    way,
                ),
                _ => Vec::new(),
            }
        }
        PropertyKind::LeadsTo { state, from } => {
            let goal = state.value;
            let starts: Vec<StateId> = set(from).into_iter().filter(|id| *id != goal).collect();
            let before_goal = |step: Step| counts(step) && step.from != goal && step.to != goal;
            let reached = graph.reached(starts.iter().copied(), before_goal);
            let is_left = |id: StateId| reached[id.0] && id != goal;
            let dead_end =
                subject.kind.state_ids().map(|(id, _)| id).find(|id| {
                    is_left(*id) && !graph.leaving(*id).any(|step| counts(step) && step.to != *id)
                });
            if let Some(end) = dead_end {
                let way = graph.way(starts, |id| id == end, before_goal).unwrap_or_default();
                return report(
                    format!(
                        "`{}` is an end before `{}`",
                        subject.name(end),
                        subject.name(goal)
                    ),
                    way,
                );
            }
            match graph.cycles(is_left, before_goal).into_iter().next() {
                Some(cycle) => {
                    let mut way = graph
                        .way(starts, |id| id == cycle[0], before_goal)
                        .unwrap_or_default();
                    way.extend(&cycle[1..]);
                    report(
                        format!("an object can go round for ever before `{}`", subject.name(goal)),
                        way,
                    )
                }
                None => Vec::new(),
            }
        }
    }
}
