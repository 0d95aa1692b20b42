//! States that every object passes through before it is ready.

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;
use crate::graph::{EdgeKind, Step};
use crate::model::{StateId, StateKind};

pub(super) static RULE: Rule = Rule {
    name: "unavoidable-state",
    severity: Severity::Info,
    summary: "every path from `initial` to a `ready` state contains this state",
    explanation: "While this state's handler fails, no new object becomes ready. Such a state deserves tests, metrics and care.

    Validating: {next: [Creating]}
    Creating: {next: [Ready]}
    Ready: {kind: ready}",
};

pub(super) const CHECK: Check = Check {
    needs_edges: true,
    ..Check::of_kind(&RULE, find)
};

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let mut ids = choke_points(subject);
    ids.sort_unstable();
    ids.into_iter()
        .map(|id| {
            let message = format!(
                "every object passes through `{}` before it is ready",
                subject.name(id)
            );
            RuleHit::of(id, Finding::new(&RULE, subject.span(id), message))
        })
        .collect()
}

/// The states between the initial and a ready state without which no object would be ready. They are on every path to a
/// ready state, so on the shortest one, and no edge from states that are reachable before leads past them. Each edge is
/// followed once, whereas algorithms for the dominators of all states, such as petgraph's, take longer.
fn choke_points(subject: &Subject<'_>) -> Vec<StateId> {
    let (kind, graph) = (subject.kind, subject.graph);
    let counts = |step: Step| step.edge.kind != EdgeKind::Resume && !step.edge.kind.is_deletion();
    let is_ready = |id: StateId| kind.state(id).kind.value == StateKind::Ready;
    let Some(path) = graph.shortest_path([kind.machine.initial.value], is_ready, counts) else {
        return Vec::new();
    };
    let mut position = vec![None; kind.states.len()];
    for (at, id) in path.iter().enumerate() {
        position[id.0] = Some(at);
    }
    let last = path.len() - 1;
    let mut is_seen = vec![false; kind.states.len()];
    let mut furthest = 0;
    let mut found = Vec::new();
    for (at, id) in path.iter().enumerate().take(last) {
        if at > 0 && at == furthest {
            found.push(*id);
        }
        let mut queue = vec![*id];
        while let Some(from) = queue.pop() {
            for step in graph.leaving(from).filter(|step| counts(*step)) {
                // For this rule, all ready states are equivalent.
                let on_path = if is_ready(step.to) {
                    Some(last)
                } else {
                    position[step.to.0]
                };
                if let Some(at) = on_path {
                    furthest = furthest.max(at);
                } else if !std::mem::replace(&mut is_seen[step.to.0], true) {
                    queue.push(step.to);
                }
            }
        }
    }
    found
}
