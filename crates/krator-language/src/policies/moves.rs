//! The allowed changes of the stored state: the edges of the graph, and paths through states that are entered without
//! being stored.

use std::collections::{BTreeMap, BTreeSet};

use super::{list, quoted};
use crate::graph::{EdgeKind, StateGraph, Step};
use crate::model::{Kind, StateId};

/// The states that the operator may store after the stored state `from`, or after none. It may always store `from`
/// again.
///
/// An object leaves an unstored state in three cases: if the state has no checkpoint; on the deletion path, which does
/// not wait for failed writes; and everywhere by the edges that the runtime takes itself, because deletions, changes of
/// the spec, times and limits do not wait for a write.
pub fn may_follow(kind: &Kind, graph: &StateGraph, from: Option<StateId>) -> BTreeSet<StateId> {
    let entered = match from {
        Some(from) => graph.leaving(from).map(|step| step.to).collect(),
        None => vec![kind.machine.initial.value],
    };
    passing(kind, graph, entered)
}

/// These states, and those that an object reaches by passing through them unstored.
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

/// For the name of each stored state, the states that may be stored after it. An empty name means that no state is
/// stored, and [`UNKNOWN`] represents all states without an entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Moves(BTreeMap<String, BTreeSet<String>>);

const UNKNOWN: &str = "*";

impl Moves {
    /// The transitions of a kind. A state is also left by its former names, because objects are stored with them until
    /// the next write.
    pub fn of(kind: &Kind, graph: &StateGraph) -> Self {
        let named = |ids: BTreeSet<StateId>| -> BTreeSet<String> {
            ids.into_iter()
                .map(|id| kind.state(id).name.value.as_str().to_owned())
                .collect()
        };
        let mut moves = BTreeMap::from([(String::new(), named(may_follow(kind, graph, None)))]);
        for (id, state) in kind.state_ids() {
            let mut to = may_follow(kind, graph, Some(id));
            if !state.renamed_from.is_empty() {
                to.insert(id);
            }
            let to = named(to);
            moves.extend(state.names().map(|from| (from.to_owned(), to.clone())));
        }
        if let Some(deletion) = &kind.machine.deletion {
            // An operator ignores an object in an unknown state until the object is deleted.
            let to = passing(kind, graph, vec![deletion.value]);
            moves.insert(UNKNOWN.to_owned(), named(to));
        }
        Self(moves)
    }

    /// The union of two sets of moves.
    pub fn or(mut self, other: &Self) -> Self {
        for (from, to) in &other.0 {
            self.0.entry(from.clone()).or_default().extend(to.iter().cloned());
        }
        self
    }

    /// Whether these moves include all of the other ones.
    pub fn include(&self, other: &Self) -> bool {
        other
            .0
            .iter()
            .all(|(from, to)| self.0.get(from).is_some_and(|there| there.is_superset(to)))
    }

    /// A list in CEL and JSON: stored states, with the states that may follow them.
    pub fn list(&self) -> String {
        let mut alike: BTreeMap<&BTreeSet<String>, Vec<&str>> = BTreeMap::new();
        for (from, to) in &self.0 {
            alike.entry(to).or_default().push(from);
        }
        let moves: Vec<String> = alike
            .into_iter()
            .map(|(to, from)| format!("[{}, {}]", list(from), list(to.iter().map(String::as_str))))
            .collect();
        format!("[{}]", moves.join(", "))
    }

    /// Parses the output of [`list`](Self::list); `None` for anything else.
    pub fn read(list: &str) -> Option<Self> {
        let moves: Vec<(Vec<String>, BTreeSet<String>)> = serde_json::from_str(list).ok()?;
        let each = moves
            .into_iter()
            .flat_map(|(from, to)| from.into_iter().map(move |from| (from, to.clone())));
        Some(Self(each.collect()))
    }

    /// A CEL expression for whether the list of moves in a variable of the policy contains that from `variables.from`
    /// to `variables.to`.
    pub fn allow(variable: &str) -> String {
        format!(
            "variables.{variable}.exists(move, variables.to in move[1] && (variables.from in move[0] || {} in move[0] && \
             !variables.{variable}.exists(known, variables.from in known[0])))",
            quoted(UNKNOWN)
        )
    }
}
