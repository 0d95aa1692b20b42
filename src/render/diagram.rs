//! The state graph as a diagram: for Graphviz, for Mermaid, and as plain text.
//!
//! Edges that many states inherit from the machine are drawn as one, because forty arrows to the same state hide the
//! rest of the graph.

mod ascii;
mod dot;
mod json;
mod mermaid;

pub(crate) use ascii::ascii_with;
pub(crate) use dot::dot_with;
pub(crate) use json::GraphReport;
pub(crate) use mermaid::mermaid_with;

use std::collections::BTreeMap;

use crate::finding::Span;
use crate::graph::{EdgeKind, StateGraph, Step};
use crate::model::{Description, Kind, KindId, RetryLimit, State, StateId, Times};

/// The graph in the DOT language.
pub fn dot(description: &Description) -> String {
    dot_with(description, &Notes::default())
}

/// The graph as a Mermaid state diagram.
pub fn mermaid(description: &Description) -> String {
    mermaid_with(description, &Notes::default())
}

/// The states, each with the edges that leave it.
pub fn ascii(description: &Description) -> String {
    ascii_with(description, &Notes::default())
}

/// The notes of diagrams beside states, in plain text.
#[derive(Debug, Default)]
pub(crate) struct Notes(BTreeMap<(KindId, StateId), String>);

impl Notes {
    /// Adds a note beside a state.
    #[cfg_attr(
        not(feature = "cluster"),
        allow(dead_code, reason = "only clusters have something to say")
    )]
    pub(crate) fn add(&mut self, kind: KindId, state: StateId, note: String) {
        self.0.insert((kind, state), note);
    }

    fn of(&self, kind: usize, state: StateId) -> Option<&str> {
        self.0.get(&(KindId(kind), state)).map(String::as_str)
    }
}

/// The edges of a kind as diagrams draw them.
struct DrawnEdges {
    /// Edges that are drawn one by one.
    single: Vec<Step>,
    /// Edges that several states inherit from the machine, each drawn once.
    shared: Vec<SharedEdge>,
}

/// An edge of the machine that several states have.
struct SharedEdge {
    kind: EdgeKind,
    to: StateId,
    from: Vec<StateId>,
    place: Span,
}

fn drawn(graph: &StateGraph) -> DrawnEdges {
    // All edges inherited from one edge of the machine have its place in the description.
    let mut by_place: BTreeMap<(Span, EdgeKind, StateId), Vec<Step>> = BTreeMap::new();
    let is_inherited = |step: &Step| {
        !matches!(
            step.edge.kind,
            EdgeKind::Next | EdgeKind::Timeout | EdgeKind::Limit | EdgeKind::Resume
        )
    };
    for step in graph.steps().filter(is_inherited) {
        let place = if step.edge.kind.is_deletion() {
            Span::default()
        } else {
            step.edge.span
        };
        by_place
            .entry((place, step.edge.kind, step.to))
            .or_default()
            .push(step);
    }
    let mut shared = Vec::new();
    let mut in_shared = Vec::new();
    for ((place, kind, to), steps) in by_place {
        if steps.len() > 1 || kind == EdgeKind::Deletion {
            let from = steps.iter().map(|step| step.from).collect();
            shared.push(SharedEdge {
                kind,
                to,
                from,
                place,
            });
            in_shared.extend(steps.into_iter().map(|step| (step.from, kind, to)));
        }
    }
    in_shared.sort_unstable();
    let single = graph
        .steps()
        .filter(|step| {
            in_shared
                .binary_search(&(step.from, step.edge.kind, step.to))
                .is_err()
        })
        .collect();
    DrawnEdges { single, shared }
}

/// The label of an edge: that of the description, or the reason why the runtime takes the edge.
pub(super) fn label(kind: &Kind, step: Step) -> Option<String> {
    let waits = matches!(step.edge.kind, EdgeKind::Next | EdgeKind::Timeout);
    let gate = kind.state(step.to).gate.as_ref().filter(|_| waits);
    let limits = kind.limits.iter();
    let limits = limits.filter(|limit| waits && limit.is_entered(step.from, step.to));
    let limits = limits.map(|limit| {
        let per = limit.per.as_ref().map(|path| format!(" per {}", path.value));
        format!("at most {}{}", limit.at_most.value, per.unwrap_or_default())
    });
    let reason = reason(kind, step).into_iter();
    let parts = reason.chain(gate.map(|gate| gate.to_string())).chain(limits);
    let parts: Vec<String> = parts.collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The reason why an object takes an edge, if it has to be shown.
fn reason(kind: &Kind, step: Step) -> Option<String> {
    let state = kind.state(step.from);
    match step.edge.kind {
        EdgeKind::Next => {
            let next = state
                .next
                .iter()
                .find(|next| next.to.value == step.to && next.to.span == step.edge.span)?;
            next.when.as_ref().map(|when| when.value.clone())
        }
        EdgeKind::Timeout => {
            let timeout = state.timeout.as_ref()?;
            Some(timeout.when.to_string())
        }
        EdgeKind::Retry => Some(match state.retry.as_ref()?.limit.value {
            RetryLimit::Times(times) => format!("{times} retries failed"),
            RetryLimit::Unlimited => "retries failed".to_owned(),
        }),
        EdgeKind::Limit => Some(match &state.limit.as_ref()?.times.value {
            Times::Number(times) => format!("entered {times} times"),
            Times::Field(path) => format!("entered {path} times"),
        }),
        EdgeKind::Deletion | EdgeKind::OnDelete => Some("deleted".to_owned()),
        EdgeKind::SpecChange => Some(changed(state, step.edge.span)),
        EdgeKind::Resume => Some("restarted".to_owned()),
    }
}

/// The label of an edge for changes of the spec that is written at this place.
fn changed(state: &State, place: Span) -> String {
    let mut changes = state.on_spec_change_of.iter();
    let of = changes
        .find(|change| change.does.span == place)
        .map(|change| &change.of);
    let paths = of.map(|of| of.iter().map(|path| path.value.to_string()).collect::<Vec<_>>());
    format!(
        "{} changed",
        paths.map_or("spec".to_owned(), |paths| paths.join(" or "))
    )
}

/// The label of a shared edge.
fn shared_label(kind: &Kind, shared: &SharedEdge) -> String {
    match shared.kind {
        EdgeKind::Retry => {
            let limits: Vec<RetryLimit> = shared
                .from
                .iter()
                .filter_map(|id| Some(kind.state(*id).retry.as_ref()?.limit.value))
                .collect();
            match limits[..] {
                [RetryLimit::Times(times), ..]
                    if limits.iter().all(|limit| *limit == RetryLimit::Times(times)) =>
                {
                    format!("{times} retries failed")
                }
                _ => "retries failed".to_owned(),
            }
        }
        EdgeKind::SpecChange => changed(kind.state(shared.from[0]), shared.place),
        _ => "deleted".to_owned(),
    }
}

/// The states that a shared edge leaves, in few words.
fn shared_sources(kind: &Kind, shared: &SharedEdge) -> String {
    // States on the deletion path cannot have such an edge, so they are not missing.
    let others = kind
        .state_ids()
        .filter(|(id, state)| !state.on_deletion_path && *id != shared.to);
    let missing: Vec<StateId> = others
        .map(|(id, _)| id)
        .filter(|id| !shared.from.contains(id))
        .collect();
    let names = |ids: &[StateId]| {
        ids.iter()
            .map(|id| kind.state(*id).name.as_str())
            .collect::<Vec<_>>()
            .join(", ")
    };
    match (shared.from.len(), missing.len()) {
        (_, 0) => "in any state".to_owned(),
        (from, _) if from <= 3 => format!("in {}", names(&shared.from)),
        (_, missing_count) if missing_count <= 3 => format!("in any state but {}", names(&missing)),
        (from, _) => format!("in {from} states"),
    }
}

/// Breaks a label into short lines between words.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The groups of states, in the order of the description. States without a group are under the empty name.
fn groups(kind: &Kind) -> Vec<(&str, Vec<StateId>)> {
    let mut groups: Vec<(&str, Vec<StateId>)> = Vec::new();
    for (id, state) in kind.state_ids() {
        let name = state.group.as_ref().map_or("", |group| group.value.as_str());
        match groups.iter_mut().find(|(group, _)| *group == name) {
            Some((_, ids)) => ids.push(id),
            None => groups.push((name, vec![id])),
        }
    }
    groups
}
