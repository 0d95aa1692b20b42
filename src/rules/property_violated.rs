//! `properties` that do not hold for the graph.

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
    let report = |message: String, path: Vec<StateId>| {
        vec![RuleHit::of_document(
            Finding::new(&PROPERTY_VIOLATED, span, message).path(subject.names(&path)),
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
                        "{} states cannot reach `{}`, the first being `{first}` and the last `{last}`",
                        stuck.len(),
                        subject.name(to.value)
                    ),
                    Vec::new(),
                ),
            }
        }
        PropertyKind::Never { from, to } => {
            // The search starts at the successors, because a state does not count as reaching itself without an edge.
            let successors: Vec<StateId> = graph
                .leaving(from.value)
                .filter(|step| counts(*step))
                .map(|step| step.to)
                .collect();
            match graph.shortest_path(successors, |id| id == to.value, counts) {
                Some(path) => report(
                    format!(
                        "`{}` leads to `{}`",
                        subject.name(from.value),
                        subject.name(to.value)
                    ),
                    std::iter::once(from.value).chain(path).collect(),
                ),
                None => Vec::new(),
            }
        }
        PropertyKind::Only { state, through } => {
            let avoids_through = |step: Step| counts(step) && step.from != through.value;
            let start = subject.kind.machine.initial.value;
            match graph.shortest_path([start], |id| id == state.value, avoids_through) {
                Some(path) if !path.contains(&through.value) => report(
                    format!(
                        "`{}` can be reached without passing through `{}`",
                        subject.name(state.value),
                        subject.name(through.value)
                    ),
                    path,
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
                let path = graph
                    .shortest_path(starts, |id| id == end, before_goal)
                    .unwrap_or_default();
                return report(
                    format!(
                        "an object can end in `{}` without reaching `{}`",
                        subject.name(end),
                        subject.name(goal)
                    ),
                    path,
                );
            }
            match graph.cycles(is_left, before_goal).into_iter().next() {
                Some(cycle) => {
                    let mut path = graph
                        .shortest_path(starts, |id| id == cycle[0], before_goal)
                        .unwrap_or_default();
                    path.extend(&cycle[1..]);
                    report(
                        format!(
                            "an object can follow a cycle forever without reaching `{}`",
                            subject.name(goal)
                        ),
                        path,
                    )
                }
                None => Vec::new(),
            }
        }
    }
}
