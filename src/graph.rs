//! The state graph as petgraph sees it, and the few algorithms that rules and diagrams share. All are linear in
//! states and edges, and none recurses: a description may have ten thousand states.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{EdgeFiltered, EdgeRef, NodeFiltered};

use crate::finding::Span;
use crate::model::{Kind, OnSpecChange, StateId};

/// What takes an object along an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EdgeKind {
    /// The handler chooses it.
    Next,
    /// Time passes.
    Timeout,
    /// The handler has failed too often.
    Retry,
    /// The state has been entered too often.
    Limit,
    /// The object is deleted; to the machine's `deletion`.
    Deletion,
    /// The object is deleted; to a state that `onDelete` names.
    OnDelete,
    /// The spec changes.
    SpecChange,
    /// The operator restarts.
    Resume,
}

impl EdgeKind {
    /// Whether deletion is what takes the edge.
    pub fn is_deletion(self) -> bool {
        matches!(self, EdgeKind::Deletion | EdgeKind::OnDelete)
    }
}

/// An edge and the place that says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// What takes it.
    pub kind: EdgeKind,
    /// Where its target is named.
    pub span: Span,
}

/// An edge with its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Where it begins.
    pub from: StateId,
    /// Where it ends.
    pub to: StateId,
    /// The edge.
    pub edge: Edge,
}

/// The graph of one kind; the node of a state has the state's index.
#[derive(Debug)]
pub struct StateGraph {
    graph: DiGraph<(), Edge>,
}

impl StateGraph {
    /// All edges that the model says, in the order of the states.
    pub fn of(kind: &Kind) -> Self {
        let mut graph = DiGraph::with_capacity(kind.states.len(), kind.states.len() * 8);
        for _ in &kind.states {
            graph.add_node(());
        }
        let deletion = kind.machine.deletion.as_ref().map(|deletion| deletion.value);
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
            if let OnSpecChange::Enter(to) = state.on_spec_change.value
                && !state.on_deletion_path
            {
                add(to, EdgeKind::SpecChange, state.on_spec_change.span);
            }
            if let Some(to) = state.on_delete.to {
                let kind = if Some(to) == deletion {
                    EdgeKind::Deletion
                } else {
                    EdgeKind::OnDelete
                };
                add(to, kind, state.on_delete.span);
            }
            if let Some(resume) = state.resume.filter(|resume| resume.value != id) {
                add(resume.value, EdgeKind::Resume, resume.span);
            }
        }
        StateGraph { graph }
    }

    /// All edges, in the order of the states that they leave.
    pub fn steps(&self) -> impl Iterator<Item = Step> {
        self.graph.edge_references().map(|edge| Step {
            from: StateId(edge.source().index()),
            to: StateId(edge.target().index()),
            edge: *edge.weight(),
        })
    }

    /// The edges that leave a state, as the text has them.
    pub fn leaving(&self, state: StateId) -> impl Iterator<Item = Step> {
        let mut steps: Vec<Step> = self
            .graph
            .edges(NodeIndex::new(state.0))
            .map(|edge| Step {
                from: state,
                to: StateId(edge.target().index()),
                edge: *edge.weight(),
            })
            .collect();
        // petgraph gives the newest edge first.
        steps.reverse();
        steps.into_iter()
    }

    /// Which states can be reached from these along edges that are wanted; the first ones count as reached.
    pub fn reached(
        &self,
        from: impl IntoIterator<Item = StateId>,
        wanted: impl Fn(Step) -> bool,
    ) -> Vec<bool> {
        let mut reached = vec![false; self.graph.node_count()];
        let mut queue: Vec<StateId> = Vec::new();
        let mut reach = |state: StateId, queue: &mut Vec<StateId>| {
            if !std::mem::replace(&mut reached[state.0], true) {
                queue.push(state);
            }
        };
        for state in from {
            reach(state, &mut queue);
        }
        while let Some(state) = queue.pop() {
            for step in self.leaving(state).filter(|step| wanted(*step)) {
                reach(step.to, &mut queue);
            }
        }
        reached
    }

    /// From which states one of these can be reached along edges that are wanted.
    pub fn reaching(
        &self,
        to: impl IntoIterator<Item = StateId>,
        wanted: impl Fn(Step) -> bool,
    ) -> Vec<bool> {
        let mut reaching = vec![false; self.graph.node_count()];
        let mut queue: Vec<NodeIndex> = to.into_iter().map(|state| NodeIndex::new(state.0)).collect();
        while let Some(node) = queue.pop() {
            if std::mem::replace(&mut reaching[node.index()], true) {
                continue;
            }
            for edge in self.graph.edges_directed(node, petgraph::Direction::Incoming) {
                let step = Step {
                    from: StateId(edge.source().index()),
                    to: StateId(node.index()),
                    edge: *edge.weight(),
                };
                if wanted(step) {
                    queue.push(edge.source());
                }
            }
        }
        reaching
    }

    /// A shortest way, both ends included, along edges that are wanted.
    pub fn way(
        &self,
        from: impl IntoIterator<Item = StateId>,
        to: impl Fn(StateId) -> bool,
        wanted: impl Fn(Step) -> bool,
    ) -> Option<Vec<StateId>> {
        // A map, since most searches end long before they have seen all states.
        let mut before: HashMap<StateId, StateId> = HashMap::new();
        let mut queue: VecDeque<StateId> = VecDeque::new();
        for state in from {
            if before.insert(state, state).is_none() {
                queue.push_back(state);
            }
        }
        while let Some(state) = queue.pop_front() {
            if to(state) {
                let mut way = vec![state];
                let mut at = state;
                while let Some(previous) = before.get(&at).filter(|previous| **previous != at) {
                    way.push(*previous);
                    at = *previous;
                }
                way.reverse();
                return Some(way);
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

    /// The knots of the graph that is left when only these states and edges count: each with its states in the
    /// order of the text, in the order of their first states.
    pub fn components(
        &self,
        states: impl Fn(StateId) -> bool,
        wanted: impl Fn(Step) -> bool,
    ) -> Vec<Vec<StateId>> {
        let nodes = NodeFiltered::from_fn(&self.graph, |node: NodeIndex| states(StateId(node.index())));
        let edges = EdgeFiltered::from_fn(&nodes, |edge| {
            wanted(Step {
                from: StateId(edge.source().index()),
                to: StateId(edge.target().index()),
                edge: *edge.weight(),
            })
        });
        // Not tarjan_scc: that one recurses.
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

    /// One cycle of each knot, by its states, the first one again at the end.
    pub fn cycles(
        &self,
        states: impl Fn(StateId) -> bool,
        wanted: impl Fn(Step) -> bool,
    ) -> Vec<Vec<StateId>> {
        let mut knot_of: Vec<Option<usize>> = vec![None; self.graph.node_count()];
        let components = self.components(&states, &wanted);
        for (at, component) in components.iter().enumerate() {
            for state in component {
                knot_of[state.0] = Some(at);
            }
        }
        components
            .iter()
            .enumerate()
            .filter_map(|(at, component)| {
                let first = component[0];
                let stays_inside = |step: Step| {
                    knot_of[step.to.0] == Some(at) && knot_of[step.from.0] == Some(at) && wanted(step)
                };
                // The shortest way from a neighbour back to the first state closes the cycle.
                let neighbours: Vec<StateId> = self
                    .leaving(first)
                    .filter(|step| stays_inside(*step))
                    .map(|step| step.to)
                    .collect();
                let way = self.way(neighbours, |state| state == first, stays_inside)?;
                Some(std::iter::once(first).chain(way).collect())
            })
            .collect()
    }
}
