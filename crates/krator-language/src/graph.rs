//! The state graph as a graph of petgraph, and the algorithms that rules, diagrams and comparisons share.
//!
//! A description may have ten thousand states, so every algorithm is linear in states and edges, and none recurses.

mod routes;

pub use crate::finding::EdgeKind;
pub(crate) use routes::{Escape, Routes};

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

use petgraph::Direction;
use petgraph::graph::{DiGraph, EdgeReference, NodeIndex};
use petgraph::visit::{
    Dfs, EdgeFiltered, EdgeRef, IntoNeighbors, NodeFiltered, Reversed, VisitMap, Visitable,
};

use crate::finding::Span;
use crate::model::{Kind, OnSpecChange, StateId};

/// An edge, with its place in the description.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// The reason why an object takes it.
    pub kind: EdgeKind,
    /// The place at which the description names the target.
    pub span: Span,
}

/// An edge with the states that it connects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The state that it leaves.
    pub from: StateId,
    /// The state that it enters.
    pub to: StateId,
    /// The edge.
    pub edge: Edge,
}

fn step(edge: EdgeReference<'_, Edge>) -> Step {
    Step {
        from: StateId(edge.source().index()),
        to: StateId(edge.target().index()),
        edge: *edge.weight(),
    }
}

/// The state graph of one kind. The index of a node is that of its state.
#[derive(Debug)]
pub struct StateGraph {
    graph: DiGraph<(), Edge>,
}

impl StateGraph {
    /// The graph with every edge of the kind.
    pub fn of(kind: &Kind) -> Self {
        let mut graph = DiGraph::with_capacity(kind.states.len(), kind.states.len() * 8);
        for _ in &kind.states {
            graph.add_node(());
        }
        let deletion = kind.machine.deletion;
        for (id, state) in kind.state_ids() {
            let mut add = |to: StateId, kind: EdgeKind, span: Span| {
                graph.add_edge(NodeIndex::new(id.0), NodeIndex::new(to.0), Edge { kind, span });
            };
            for next in &state.next {
                add(next.to.value, EdgeKind::Next, next.to.span);
            }
            if let Some(timeout) = &state.timeout {
                add(timeout.to.value, EdgeKind::Timeout, timeout.to.span);
            }
            if let Some(then) = state.retry.as_ref().and_then(|retry| retry.then) {
                add(then.value, EdgeKind::Retry, then.span);
            }
            if let Some(limit) = &state.limit {
                add(limit.then.value, EdgeKind::Limit, limit.then.span);
            }
            for change in state.on_any_spec_change().filter(|_| !state.on_deletion_path) {
                if let OnSpecChange::Enter(to) = change.value {
                    add(to, EdgeKind::SpecChange, change.span);
                }
            }
            if let Some(to) = state.on_delete.to {
                match deletion.filter(|deletion| deletion.value == to) {
                    Some(deletion) => add(to, EdgeKind::Deletion, deletion.span),
                    None => add(to, EdgeKind::OnDelete, state.on_delete.span),
                }
            }
            if let Some(resume) = state.resume.filter(|resume| resume.value != id) {
                add(resume.value, EdgeKind::Resume, resume.span);
            }
        }
        StateGraph { graph }
    }

    /// All edges, in the order of the states that they leave.
    pub fn steps(&self) -> impl Iterator<Item = Step> {
        self.graph.edge_references().map(step)
    }

    /// The edges that leave a state, in the order of [`StateGraph::of`].
    pub fn leaving(&self, state: StateId) -> impl Iterator<Item = Step> {
        let mut steps: Vec<Step> = self.graph.edges(NodeIndex::new(state.0)).map(step).collect();
        // petgraph returns the edge that was added last first.
        steps.reverse();
        steps.into_iter()
    }

    /// The edges that enter a state, the one that was added last first.
    pub fn entering(&self, state: StateId) -> impl Iterator<Item = Step> {
        let edges = self
            .graph
            .edges_directed(NodeIndex::new(state.0), Direction::Incoming);
        edges.map(step)
    }

    /// For each state whether it can be reached from one of the given states along `wanted` edges. The given states
    /// count as reached.
    pub(crate) fn reached(
        &self,
        from: impl IntoIterator<Item = StateId>,
        wanted: impl Fn(Step) -> bool,
    ) -> Vec<bool> {
        let edges = EdgeFiltered::from_fn(&self.graph, |edge| wanted(step(edge)));
        self.visited(&edges, from)
    }

    /// For each state whether one of the given states can be reached from it along `wanted` edges. The given states
    /// count as reaching themselves.
    pub(crate) fn reaching(
        &self,
        to: impl IntoIterator<Item = StateId>,
        wanted: impl Fn(Step) -> bool,
    ) -> Vec<bool> {
        let edges = EdgeFiltered::from_fn(&self.graph, |edge| wanted(step(edge)));
        self.visited(Reversed(&edges), to)
    }

    /// For each state whether a search that begins at the given ones visits it.
    fn visited<G>(&self, edges: G, from: impl IntoIterator<Item = StateId>) -> Vec<bool>
    where
        G: IntoNeighbors<NodeId = NodeIndex> + Visitable<NodeId = NodeIndex>,
    {
        let mut search = Dfs::empty(edges);
        for state in from {
            search.move_to(NodeIndex::new(state.0));
            while search.next(edges).is_some() {}
        }
        let visited = |at| search.discovered.is_visited(&NodeIndex::new(at));
        (0..self.graph.node_count()).map(visited).collect()
    }

    /// A shortest path along `wanted` edges from one of the given states to a state that `to` accepts. It includes both
    /// ends.
    pub(crate) fn shortest_path(
        &self,
        from: impl IntoIterator<Item = StateId>,
        to: impl Fn(StateId) -> bool,
        wanted: impl Fn(Step) -> bool,
    ) -> Option<Vec<StateId>> {
        // A map rather than a vector, because most searches end long before they have visited all states.
        let mut before: HashMap<StateId, StateId> = HashMap::new();
        let mut queue: VecDeque<StateId> = VecDeque::new();
        for state in from {
            if before.insert(state, state).is_none() {
                queue.push_back(state);
            }
        }
        while let Some(state) = queue.pop_front() {
            if to(state) {
                let mut path = vec![state];
                let mut at = state;
                while let Some(previous) = before.get(&at).filter(|previous| **previous != at) {
                    path.push(*previous);
                    at = *previous;
                }
                path.reverse();
                return Some(path);
            }
            for step in self.leaving(state).filter(|step| wanted(*step)) {
                if let Entry::Vacant(vacant) = before.entry(step.to) {
                    vacant.insert(state);
                    queue.push_back(step.to);
                }
            }
        }
        None
    }

    /// The strongly connected components of the subgraph of the accepted states and edges. Components and the states in
    /// each are in the order of the description.
    pub(crate) fn components(
        &self,
        states: impl Fn(StateId) -> bool,
        wanted: impl Fn(Step) -> bool,
    ) -> Vec<Vec<StateId>> {
        let nodes = NodeFiltered::from_fn(&self.graph, |node: NodeIndex| states(StateId(node.index())));
        let edges = EdgeFiltered::from_fn(&nodes, |edge| wanted(step(edge)));
        // Not tarjan_scc, which recurses.
        let mut components: Vec<Vec<StateId>> = petgraph::algo::kosaraju_scc(&edges)
            .into_iter()
            .map(|component| {
                let mut ids: Vec<StateId> = component.into_iter().map(|node| StateId(node.index())).collect();
                ids.sort_unstable();
                ids
            })
            .collect();
        components.sort_unstable();
        components
    }

    /// One cycle of each strongly connected component that has one, as its states with the first one repeated at the end.
    pub(crate) fn cycles(
        &self,
        states: impl Fn(StateId) -> bool,
        wanted: impl Fn(Step) -> bool,
    ) -> Vec<Vec<StateId>> {
        let mut component_of: Vec<Option<usize>> = vec![None; self.graph.node_count()];
        let components = self.components(&states, &wanted);
        for (at, component) in components.iter().enumerate() {
            for state in component {
                component_of[state.0] = Some(at);
            }
        }
        components
            .iter()
            .enumerate()
            .filter_map(|(at, component)| {
                let first = component[0];
                let stays_inside = |step: Step| {
                    component_of[step.to.0] == Some(at)
                        && component_of[step.from.0] == Some(at)
                        && wanted(step)
                };
                // A shortest path from a successor back to the first state closes the cycle.
                let successors: Vec<StateId> = self
                    .leaving(first)
                    .filter(|step| stays_inside(*step))
                    .map(|step| step.to)
                    .collect();
                let path = self.shortest_path(successors, |state| state == first, stays_inside)?;
                Some(std::iter::once(first).chain(path).collect())
            })
            .collect()
    }
}
