//! States of the deletion path from which no `final` state can be reached.

use super::deletion_path::{MAX_PATHS, is_path_edge};
use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;
use crate::graph::{EdgeKind, Step};
use crate::model::{StateId, StateKind};

pub(super) static RULE: Rule = Rule {
    name: "no-path-to-final",
    severity: Severity::Error,
    summary: "no `final` state can be reached from a state of the deletion path",
    explanation: "A deleted object keeps its finalizer until the handler of a `final` state is done. Every state of the deletion path
therefore needs a path to a `final` state along `next`, `timeout`, `retry` and `limit` edges. Without one, the object is
never removed.

Bad:

    machine: {initial: Roam, deletion: Release}
    states:
      Roam: {kind: ready}
      Release: {next: [Check], wait: {poll: 1m}}
      Check: {next: [Release]}

Good:

    machine: {initial: Roam, deletion: Release}
    states:
      Roam: {kind: ready}
      Release: {next: [Check], wait: {poll: 1m}}
      Check: {next: [Release, Released]}
      Released: {kind: final}",
};

pub(super) const CHECK: Check = Check {
    needs_edges: true,
    unless: &[&super::deletion_escape::RULE],
    ..Check::of_kind(&RULE, find)
};

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let kind = subject.kind;
    if kind.machine.deletion.is_none() {
        return Vec::new();
    }
    let wanted = |step: Step| is_path_edge(step) && step.edge.kind != EdgeKind::Resume;
    let finals = kind
        .state_ids()
        .filter(|(_, state)| state.kind.value == StateKind::Final)
        .map(|(id, _)| id);
    let reaching = subject.graph.reaching(finals, wanted);
    let is_stuck = |id: StateId| kind.state(id).on_deletion_path && !reaching[id.0];
    // States that lead to another stuck component are stuck because of it, so only components without edges to others
    // are reported.
    let mut component_of = vec![usize::MAX; kind.states.len()];
    let components = subject.graph.components(is_stuck, wanted);
    for (at, component) in components.iter().enumerate() {
        for id in component {
            component_of[id.0] = at;
        }
    }
    let mut found = Vec::new();
    for (at, component) in components.iter().enumerate() {
        let leads_on = component
            .iter()
            .flat_map(|id| subject.graph.leaving(*id))
            .any(|step| wanted(step) && component_of[step.to.0] != at);
        // A `working` state without edges is a finding of the rule no-exit.
        let is_no_exit = component.iter().all(|id| {
            let state = kind.state(*id);
            state.kind.value == StateKind::Working && state.next.is_empty() && state.timeout.is_none()
        });
        if leads_on || is_no_exit {
            continue;
        }
        let id = component[0];
        let starts = kind.machine.deletion_entries.iter().copied();
        let path = (found.len() <= MAX_PATHS)
            .then(|| {
                subject
                    .graph
                    .shortest_path(starts, |state| state == id, is_path_edge)
            })
            .flatten()
            .unwrap_or_default();
        let message = format!(
            "a deleted object that enters `{}` is never removed",
            subject.name(id)
        );
        let finding = Finding::new(&RULE, subject.span(id), message)
            .label("no `final` state can be reached from here")
            .help("add a path to a state with `kind: final`, along `next`, `timeout`, `retry` or `limit`");
        let finding = subject.with_path(finding, &path, is_path_edge);
        found.push(RuleHit::of(id, finding));
    }
    found
}
