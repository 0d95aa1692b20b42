//! The edges of a graph, as people see them.
use crate::graph::{Graph, OnDelete, StateId};
use serde::Serialize;

/// An edge of the graph.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Edge {
    from: &'static str,
    to: &'static str,
    /// The cause of the transition, in the words of `krator graph --json`.
    by: &'static str,
}

/// All edges, in the order of the states that they leave.
pub(super) fn edges(graph: &'static Graph<'static>) -> Vec<Edge> {
    let mut edges = Vec::new();
    for (policy, number) in graph.states.iter().zip(0..) {
        let mut add = |to: StateId, by| {
            edges.push(Edge {
                from: policy.name,
                to: graph.state(to).name,
                by,
            });
        };
        for next in policy.next {
            add(*next, "next");
        }
        if let Some((_, to)) = policy.timeout {
            add(to, "timeout");
        }
        if let Some(to) = policy.retry.then {
            add(to, "retry");
        }
        if let Some((_, to)) = policy.limit {
            add(to, "limit");
        }
        if let Some(to) = policy.resume.filter(|to| *to != StateId(number)) {
            add(to, "resume");
        }
        // A deleted object stays on the deletion path, whatever happens to it.
        if policy.deletion_path {
            continue;
        }
        for to in policy.spec_change_targets() {
            add(to, "specChange");
        }
        match (policy.on_delete, graph.deletion) {
            (OnDelete::To(to), deletion) if Some(to) != deletion => add(to, "onDelete"),
            (_, Some(deletion)) => add(deletion, "deletion"),
            (_, None) => {}
        }
    }
    edges
}
