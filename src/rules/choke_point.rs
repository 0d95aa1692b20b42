//! States that every object passes before it is ready.

use petgraph::graph::{DiGraph, NodeIndex};

use super::{Check, RuleHit, Subject};
use crate::catalog::CHOKE_POINT;
use crate::finding::Finding;
use crate::graph::{EdgeKind, Step};
use crate::model::{StateId, StateKind};

pub(super) const CHECK: Check = Check {
    needs_edges: true,
    ..Check::of_kind(&CHOKE_POINT, find)
};

/// An additional node that follows all ready states has the choke points as its dominators.
fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let kind = subject.kind;
    let counts = |step: &Step| step.edge.kind != EdgeKind::Resume && !step.edge.kind.is_deletion();
    let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(kind.states.len() + 1, kind.states.len() * 8);
    for _ in &kind.states {
        graph.add_node(());
    }
    let goal = graph.add_node(());
    for step in subject.graph.steps().filter(counts) {
        graph.add_edge(NodeIndex::new(step.from.0), NodeIndex::new(step.to.0), ());
    }
    for (id, _) in kind
        .state_ids()
        .filter(|(_, state)| state.kind.value == StateKind::Ready)
    {
        graph.add_edge(NodeIndex::new(id.0), goal, ());
    }
    let initial = kind.machine.initial.value;
    let dominators = petgraph::algo::dominators::simple_fast(&graph, NodeIndex::new(initial.0));
    let Some(all) = dominators.strict_dominators(goal) else {
        return Vec::new();
    };
    let mut ids: Vec<StateId> = all.map(|node| StateId(node.index())).collect();
    ids.sort_unstable();
    ids.into_iter()
        .filter(|id| *id != initial && kind.state(*id).kind.value != StateKind::Ready)
        .map(|id| {
            let message = format!(
                "every object passes through `{}` before it is ready",
                subject.name(id)
            );
            RuleHit::of(id, Finding::new(&CHOKE_POINT, subject.span(id), message))
        })
        .collect()
}
