//! The graph as lists of neighbours, for many searches through the same edges.
//!
//! A description may have a thousand properties and hundreds of thousands of edges. A search through all edges for each
//! property would take minutes, so each search ends as soon as its result is certain, and results for a goal are reused
//! by later searches for the same goal.

use std::collections::{BTreeMap, VecDeque};

use super::{StateGraph, Step};
use crate::model::StateId;

/// The neighbours of each state along some of the edges. Parallel edges count once.
pub(crate) struct Routes {
    next: Vec<Vec<StateId>>,
    previous: Vec<Vec<StateId>>,
    /// For each goal of [`Routes::escape`], the states from which every path certainly reaches it.
    settled: BTreeMap<StateId, Vec<bool>>,
}

/// A way in which an object can avoid a goal forever.
pub(crate) enum Escape {
    /// The path ends in a state without edges to other states.
    End(Vec<StateId>),
    /// The path ends in a cycle: its last state is on the path twice.
    Cycle(Vec<StateId>),
}

impl Routes {
    /// The routes along the `wanted` edges.
    pub fn of(graph: &StateGraph, wanted: impl Fn(Step) -> bool) -> Self {
        let count = graph.graph.node_count();
        let (mut next, mut previous) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for step in graph.steps().filter(|step| wanted(*step)) {
            next[step.from.0].push(step.to);
            previous[step.to.0].push(step.from);
        }
        for neighbours in next.iter_mut().chain(&mut previous) {
            neighbours.sort_unstable();
            neighbours.dedup();
        }
        Routes {
            next,
            previous,
            settled: BTreeMap::new(),
        }
    }

    /// The targets of the edges that leave a state.
    pub fn next(&self, state: StateId) -> &[StateId] {
        &self.next[state.0]
    }

    /// For each state whether the goal can be reached from it. The goal counts as reaching itself.
    pub fn reaching(&self, goal: StateId) -> Vec<bool> {
        let mut reaching = vec![false; self.next.len()];
        reaching[goal.0] = true;
        let mut left = reaching.len() - 1;
        let mut queue = vec![goal];
        while let Some(state) = queue.pop() {
            for before in &self.previous[state.0] {
                if !std::mem::replace(&mut reaching[before.0], true) {
                    left -= 1;
                    queue.push(*before);
                }
            }
            if left == 0 {
                break;
            }
        }
        reaching
    }

    /// A shortest path from one of the given states to the goal that does not leave a state of `avoided`. It includes
    /// both ends.
    pub fn shortest_path(
        &self,
        from: impl IntoIterator<Item = StateId>,
        goal: StateId,
        avoided: impl Fn(StateId) -> bool,
    ) -> Option<Vec<StateId>> {
        let mut before: Vec<Option<StateId>> = vec![None; self.next.len()];
        let mut queue = VecDeque::new();
        for state in from {
            if before[state.0].replace(state).is_none() {
                queue.push_back(state);
            }
        }
        while before[goal.0].is_none() {
            let state = queue.pop_front()?;
            for to in self.next(state).iter().filter(|_| !avoided(state)) {
                if before[to.0].is_none() {
                    before[to.0] = Some(state);
                    queue.push_back(*to);
                }
            }
        }
        let mut path = vec![goal];
        let mut at = goal;
        while let Some(previous) = before[at.0].filter(|previous| *previous != at) {
            path.push(previous);
            at = previous;
        }
        path.reverse();
        Some(path)
    }

    /// A way in which an object in one of the given states can avoid the goal forever, if any.
    pub fn escape(&mut self, from: &[StateId], goal: StateId) -> Option<Escape> {
        let found = self.search(from, goal)?;
        // The search follows the first edge that it finds, so its own path may be longer than needed.
        let starts = from.iter().copied().filter(|state| *state != goal);
        let mut path = self
            .shortest_path(starts, found.state, |state| state == goal)
            .unwrap_or_else(|| vec![found.state]);
        if found.is_end {
            return Some(Escape::End(path));
        }
        let around = self.next(found.state).iter().copied().filter(|to| *to != goal);
        let around = self.shortest_path(around, found.state, |state| state == goal);
        path.extend(around.unwrap_or_default());
        Some(Escape::Cycle(path))
    }

    /// A depth-first search, without the goal, for a state without edges to other states, or for a cycle. If it leaves
    /// a state without finding either, every path from there reaches the goal, also in later searches.
    fn search(&mut self, from: &[StateId], goal: StateId) -> Option<SearchEnd> {
        /// Results for other goals are dropped if they take more memory than this, in bytes.
        const MOST: usize = 64 << 20;
        if self.settled.len() * self.next.len() > MOST {
            self.settled.clear();
        }
        let settled = self
            .settled
            .entry(goal)
            .or_insert_with(|| vec![false; self.next.len()]);
        let mut is_on_path = vec![false; self.next.len()];
        // The states of the path, each with the number of its edges that were followed already.
        let mut path: Vec<(StateId, usize)> = Vec::new();
        for start in from.iter().copied().filter(|state| *state != goal) {
            if settled[start.0] {
                continue;
            }
            path.push((start, 0));
            is_on_path[start.0] = true;
            while let Some((state, followed)) = path.last_mut() {
                let (state, edges) = (*state, &self.next[state.0]);
                if *followed == 0 && edges.iter().all(|to| *to == state) {
                    return Some(SearchEnd { state, is_end: true });
                }
                let Some(to) = edges.get(*followed).copied() else {
                    settled[state.0] = true;
                    is_on_path[state.0] = false;
                    path.pop();
                    continue;
                };
                *followed += 1;
                if is_on_path[to.0] {
                    return Some(SearchEnd {
                        state: to,
                        is_end: false,
                    });
                }
                if to != goal && !settled[to.0] {
                    path.push((to, 0));
                    is_on_path[to.0] = true;
                }
            }
        }
        None
    }
}

/// The end of a search: a state without edges to other states, or a repeated one.
struct SearchEnd {
    state: StateId,
    is_end: bool,
}
