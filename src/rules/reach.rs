//! States that nothing leads to, and states that nothing leads out of.

use super::{Check, Found, Subject};
use crate::catalog::{DELETION_ESCAPE, NO_EXIT, NO_PATH_TO_FINAL, UNREACHABLE_STATE};
use crate::finding::Finding;
use crate::graph::EdgeKind;
use crate::model::{StateId, StateKind};

pub(super) const CHECKS: &[Check] = &[
    Check {
        rule: &NO_EXIT,
        needs_edges: false,
        unless: &[],
        find: no_exit,
    },
    Check {
        rule: &UNREACHABLE_STATE,
        needs_edges: true,
        unless: &[],
        find: unreachable_states,
    },
    Check {
        rule: &NO_PATH_TO_FINAL,
        needs_edges: true,
        unless: &[&DELETION_ESCAPE],
        find: super::deletion::no_path_to_final,
    },
];

fn unreachable_states(subject: &Subject<'_>) -> Vec<Found> {
    let kind = subject.kind;
    let roots = std::iter::once(kind.machine.initial.value)
        .chain(kind.machine.deletion.as_ref().map(|deletion| deletion.value))
        .chain(
            kind.state_ids()
                .filter(|(_, state)| state.legacy.is_some())
                .map(|(id, _)| id),
        );
    let reached = subject.graph.reached(roots, |_| true);
    if reached.iter().all(|reached| *reached) {
        return Vec::new();
    }
    let is_lost = |id: StateId| !reached[id.0];
    let components = subject.graph.components(is_lost, |_| true);
    let mut component_of = vec![usize::MAX; kind.states.len()];
    for (at, component) in components.iter().enumerate() {
        for id in component {
            component_of[id.0] = at;
        }
    }
    let mut follows = vec![false; components.len()];
    for step in subject
        .graph
        .steps()
        .filter(|step| is_lost(step.from) && is_lost(step.to))
    {
        if component_of[step.from.0] != component_of[step.to.0] {
            follows[component_of[step.to.0]] = true;
        }
    }
    let roots = components
        .iter()
        .zip(follows)
        .filter(|(_, follows)| !follows)
        .map(|(component, _)| component[0]);
    roots
        .map(|id| {
            let message = format!("nothing leads to the state `{}`", subject.name(id));
            let finding = Finding::new(&UNREACHABLE_STATE, subject.span(id), message)
                .label("no edge of any kind ends here")
                .help("name it in the `next` of a state, or remove it; say `legacy: true` where stored objects may be in it");
            Found::of(id, finding)
        })
        .collect()
}

fn no_exit(subject: &Subject<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    for (id, state) in subject.kind.state_ids() {
        match state.kind.value {
            StateKind::Working if state.next.is_empty() && state.timeout.is_none() => {
                // A legacy state without a way out is a finding of its own.
                if state.lacks_edges || state.legacy.is_some() {
                    continue;
                }
                let message = format!("`{}` is a `working` state that leads nowhere", state.name.value);
                let finding = Finding::new(&NO_EXIT, state.name.span, message)
                    .label("neither `next` nor `timeout`")
                    .help("give it a `next`, or a `kind`: `ready` and `failed` states rest, after a `final` one the object goes");
                found.push(Found::of(id, finding));
            }
            StateKind::Final => {
                let ways = subject.graph.leaving(id).filter(|step| {
                    matches!(
                        step.edge.kind,
                        EdgeKind::Next | EdgeKind::Timeout | EdgeKind::Retry
                    )
                });
                if let Some(step) = ways.min_by_key(|step| step.edge.span) {
                    let message = format!(
                        "`{}` is `final`, and leads to `{}`",
                        state.name.value,
                        subject.name(step.to)
                    );
                    let finding = Finding::new(&NO_EXIT, step.edge.span, message)
                        .label("nothing comes after a final state")
                        .related(state.kind.span, "final here");
                    found.push(Found::of(id, finding));
                }
            }
            StateKind::Working | StateKind::Ready | StateKind::Failed => {}
        }
    }
    found
}
