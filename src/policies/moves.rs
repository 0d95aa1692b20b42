//! Which state may be stored after which: the edges of the graph, and hops over states that are entered without being stored.

use std::collections::{BTreeMap, BTreeSet};

use super::list;
use crate::graph::{EdgeKind, StateGraph, Step};
use crate::model::{Kind, StateId};

/// The states that the operator may store where `from` is stored, or nothing. It may always store `from` again.
///
/// An object goes on from a state that is not stored yet: always, where the state has no checkpoint; on the deletion path,
/// which does not wait for writes that fail; and everywhere by the edges that the runtime takes itself, because deletions,
/// changes of the spec, times and limits do not wait for a write.
pub fn may_follow(kind: &Kind, graph: &StateGraph, from: Option<StateId>) -> BTreeSet<StateId> {
    let entered = match from {
        Some(from) => graph.leaving(from).map(|step| step.to).collect(),
        None => vec![kind.machine.initial.value],
    };
    passing(kind, graph, entered)
}

/// These states, and those that an object reaches by passing through them.
fn passing(kind: &Kind, graph: &StateGraph, mut next: Vec<StateId>) -> BTreeSet<StateId> {
    let mut all: BTreeSet<StateId> = next.iter().copied().collect();
    while let Some(at) = next.pop() {
        let state = kind.state(at);
        let runs_unstored = !state.checkpoint.value || state.on_deletion_path;
        let is_taken =
            |step: &Step| runs_unstored || !matches!(step.edge.kind, EdgeKind::Next | EdgeKind::Retry);
        for step in graph.leaving(at).filter(is_taken) {
            if all.insert(step.to) {
                next.push(step.to);
            }
        }
    }
    all
}

/// The moves of a kind in CEL, over `variables.from` and `variables.to`. A state that is left has its former names, too:
/// objects are stored with them until they are next written.
pub(super) fn expression(kind: &Kind, graph: &StateGraph) -> String {
    // By names, so that the order of the states changes nothing.
    let named = |ids: BTreeSet<StateId>| -> BTreeSet<&str> {
        ids.into_iter().map(|id| kind.state(id).name.as_str()).collect()
    };
    let mut alike: BTreeMap<BTreeSet<&str>, BTreeSet<&str>> = BTreeMap::new();
    let initial = named(may_follow(kind, graph, None));
    alike.entry(initial).or_default().insert("");
    for (id, state) in kind.state_ids() {
        let mut to = may_follow(kind, graph, Some(id));
        if !state.renamed_from.is_empty() {
            to.insert(id);
        }
        alike.entry(named(to)).or_default().extend(state.names());
    }
    let with_moves = alike.into_iter().filter(|(to, _)| !to.is_empty());
    let mut moves: Vec<String> = with_moves
        .map(|(to, from)| format!("variables.from in {} && variables.to in {}", list(from), list(to)))
        .collect();
    if let Some(deletion) = &kind.machine.deletion {
        // An object whose state the operator does not know is left alone until it is deleted.
        let known: BTreeSet<&str> = kind.states.iter().flat_map(|state| state.names()).collect();
        let to = named(passing(kind, graph, vec![deletion.value]));
        moves.push(format!(
            "!(variables.from in {}) && variables.to in {}",
            list(known),
            list(to)
        ));
    }
    moves.join(" || ")
}
