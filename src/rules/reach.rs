//! States that nothing leads to, and states that nothing leads out of.

use super::{Check, Found, Subject};
use crate::finding::{Finding, Rule, Severity};
use crate::graph::EdgeKind;
use crate::model::{StateId, StateKind};

use super::deletion::{DELETION_ESCAPE, NO_PATH_TO_FINAL};

/// See its summary.
pub static UNREACHABLE_STATE: Rule = Rule {
    name: "unreachable-state",
    severity: Severity::Error,
    summary: "no edge of any kind leads to the state",
    explanation: "No object could ever be in the state: no edge leads there from `initial`, `deletion` or a `legacy` state. Of
states that only an unreachable one leads to, the first is named.

Bad:

    machine: {initial: Roam}
    states:
      Roam: {next: [Eat]}
      Eat: {next: [Roam], wait: {poll: 1m}}
      Sleep: {next: [Roam], wait: {poll: 1m}}

Good:

    machine: {initial: Roam}
    states:
      Roam: {next: [Eat]}
      Eat: {next: [Sleep], wait: {poll: 1m}}
      Sleep: {next: [Roam], wait: {poll: 1m}}

Where objects of an earlier description may still be in the state, say `legacy: true`.",
};

/// See its summary.
pub static NO_EXIT: Rule = Rule {
    name: "no-exit",
    severity: Severity::Error,
    summary: "a `working` state has neither `next` nor `timeout`, or a `final` one has them",
    explanation: "A `working` state is on its way somewhere. One that leads nowhere keeps its objects unfinished for ever: a state
where objects rest is `ready` or `failed`, one after which they go is `final`. A `final` state leads nowhere.

Bad:

    Eat: {wait: {poll: 1m}}
    Released: {kind: final, next: [Roam]}

Good:

    Eat: {wait: {poll: 1m}, next: [Sleep]}
    Released: {kind: final}",
};

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
