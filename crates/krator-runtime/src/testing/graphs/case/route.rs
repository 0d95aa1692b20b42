//! The facts about a graph that cases need: routes to a state, and the times that apply in it.
use super::{Action, is_found};
use crate::{
    field_value::FieldValue,
    graph::{Exit, Graph, OnSpecChange, Period, Policy, StateId, Timeout, Times},
};
use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

/// The value of every field that a limit is read from.
pub(super) const LIMIT_FROM_FIELD: u32 = 3;

/// The values of the fields that the graph refers to: a number for each limit, and a different duration for each poll
/// and timeout.
pub(in crate::testing::graphs) fn field_values(graph: &Graph<'_>) -> Vec<Option<FieldValue>> {
    let mut values = Vec::new();
    let mut set = |field: u16, value| {
        let field = usize::from(field);
        if values.len() <= field {
            values.resize(field + 1, None);
        }
        values[field] = Some(value);
    };
    for policy in graph.states {
        let periods = [policy.wait.poll, after(policy)];
        for period in periods.into_iter().flatten() {
            if let Period::FromField(field) = period {
                let minutes = u64::from(field) + 1;
                set(field, FieldValue::For(Duration::from_secs(60 * minutes)));
            }
        }
    }
    for policy in graph.states {
        if let Some((Times::FromField(field), _)) = policy.limit {
            set(field, FieldValue::Number(LIMIT_FROM_FIELD));
        }
    }
    values
}

fn length(graph: &Graph<'_>, period: Period) -> Option<Duration> {
    match period {
        Period::Fixed(after) => Some(after),
        Period::FromField(field) => match field_values(graph).get(usize::from(field))?.as_ref()? {
            FieldValue::For(after) => Some(*after),
            FieldValue::Number(seconds) => Some(Duration::from_secs(u64::from(*seconds))),
            FieldValue::At(_) | FieldValue::Text(_) => None,
        },
    }
}

pub(in crate::testing::graphs) fn timeout(graph: &Graph<'_>, policy: &Policy<'_>) -> Option<Duration> {
    length(graph, after(policy)?)
}

fn after(policy: &Policy<'_>) -> Option<Period> {
    match policy.timeout?.0 {
        Timeout::After(period) => Some(period),
        Timeout::At(..) => None,
    }
}

pub(super) fn poll(graph: &Graph<'_>, policy: &Policy<'_>) -> Option<Duration> {
    length(graph, policy.wait.poll?)
}

/// The delay after this many failures, without jitter.
pub(super) fn full_delay(policy: &Policy<'_>, failures: u32) -> Duration {
    let retry = policy.retry;
    let exponent = i32::try_from(failures - 1).unwrap_or(i32::MAX);
    let seconds = retry.initial.as_secs_f64() * retry.factor.powi(exponent);
    Duration::from_secs_f64(seconds.min(retry.max.as_secs_f64()))
}

fn ids(graph: &Graph<'_>) -> impl Iterator<Item = StateId> + use<> {
    (0..u16::try_from(graph.states.len()).unwrap_or(u16::MAX)).map(StateId)
}

fn by_code<'g>(graph: &Graph<'g>, from: StateId) -> impl Iterator<Item = (Action, StateId)> + use<'g> {
    let policy = graph.state(from);
    let next = policy.next.iter().filter(|_| policy.written);
    next.map(|to| (Action::Exit(Exit::To(*to)), *to))
}

/// The states in which an operator can find an object and whose handler may choose `to`, with the action of the
/// handler.
pub(super) fn before<'g>(
    graph: &Graph<'g>,
    to: StateId,
) -> impl Iterator<Item = (StateId, Action)> + use<'g> {
    let graph = *graph;
    let found = ids(&graph).filter(move |id| is_found(graph.state(*id)));
    found.flat_map(move |id| {
        let edges = by_code(&graph, id).filter(move |(_, next)| *next == to);
        edges.map(move |(answer, _)| (id, answer))
    })
}

/// The edges that a script can take. Those of handlers come first.
fn edges(graph: &Graph<'_>, from: StateId) -> Vec<(Action, StateId)> {
    let policy = graph.state(from);
    let mut edges: Vec<_> = by_code(graph, from).collect();
    edges.extend(policy.timeout.map(|(_, to)| (Action::Hang, to)));
    if !policy.written {
        return edges;
    }
    edges.extend(policy.retry.then.map(|to| (Action::FailForGood, to)));
    // While an object is being deleted, changes of its spec have no effect.
    if let (OnSpecChange::To(to), Some(_), false) =
        (policy.on_spec_change, policy.wait.poll, policy.deletion_path)
    {
        edges.push((Action::SeeChange(None), to));
    }
    edges
}

/// A path to a state.
pub(super) struct Route {
    /// Whether the object is new in the first state.
    pub is_new: bool,
    /// The behaviour of the handlers on the path.
    pub answers: BTreeMap<StateId, Action>,
    pub states: Vec<StateId>,
}

/// The shortest path to a state from one in which an operator can find an object.
pub(super) fn route(graph: &Graph<'_>, to: StateId) -> Option<Route> {
    if is_found(graph.state(to)) {
        return Some(Route {
            is_new: false,
            answers: BTreeMap::new(),
            states: vec![to],
        });
    }
    let mut before: BTreeMap<StateId, Option<(StateId, Action)>> = BTreeMap::new();
    let starts = ids(graph).filter(|id| is_found(graph.state(*id)) || *id == graph.initial);
    let mut next: VecDeque<StateId> = starts.collect();
    before.extend(next.iter().map(|start| (*start, None)));
    while let Some(at) = next.pop_front().filter(|_| !before.contains_key(&to)) {
        for (answer, reached) in edges(graph, at) {
            before.entry(reached).or_insert_with(|| {
                next.push_back(reached);
                Some((at, answer))
            });
        }
    }
    let (mut answers, mut states) = (BTreeMap::new(), vec![to]);
    while let Some((at, answer)) = *before.get(states.last()?)? {
        answers.insert(at, answer);
        states.push(at);
    }
    states.reverse();
    let is_new = !is_found(graph.state(*states.first()?));
    Some(Route {
        is_new,
        answers,
        states,
    })
}
