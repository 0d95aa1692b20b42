//! The targets of the edges of a graph. The oracle determines them independently of the engine, which it judges.
use crate::graph::{Graph, StateId};
use std::collections::BTreeSet;

/// The states that can be stored next after `from`. States that are not stored, and those whose limit is exceeded, are
/// passed through. If writes fail, so are those of the deletion path, because the deletion continues regardless.
pub(super) fn leads(graph: &Graph<'_>, from: Option<StateId>, writes_fail: bool) -> BTreeSet<StateId> {
    // A new object may be deleted, or its spec changed, before anything is stored.
    let reached = from.map_or_else(|| resumed(graph, graph.initial), |from| edges_of(graph, from));
    passing(graph, reached, writes_fail)
}

/// The same, if the object may be deleted, or its spec changed, between an entry and its first write.
pub(super) fn leads_at_any_time(
    graph: &Graph<'_>,
    from: Option<StateId>,
    writes_fail: bool,
) -> BTreeSet<StateId> {
    or_later(graph, &leads(graph, from, writes_fail), writes_fail)
}

/// The states that can be stored next after `from` without an ask for a place in them.
pub(super) fn leads_without_asking(graph: &Graph<'_>, from: StateId, writes_fail: bool) -> BTreeSet<StateId> {
    let mut next = chosen(graph, from);
    next.retain(|to| !graph.limits.iter().any(|limit| limit.is_entered(Some(from), *to)));
    next.extend(imposed(graph, from));
    or_later(graph, &passing(graph, next, writes_fail), writes_fail)
}

/// These states, and those that an object reaches if it is deleted, or its spec changed, before it is stored there.
fn or_later(graph: &Graph<'_>, next: &BTreeSet<StateId>, writes_fail: bool) -> BTreeSet<StateId> {
    let reached = next.iter().flat_map(|at| resumed(graph, *at)).collect();
    passing(graph, reached, writes_fail)
}

fn edges_of(graph: &Graph<'_>, from: StateId) -> BTreeSet<StateId> {
    &chosen(graph, from) | &imposed(graph, from)
}

/// The targets of the handler and of the timeout. These edges wait for gates.
fn chosen(graph: &Graph<'_>, from: StateId) -> BTreeSet<StateId> {
    let policy = graph.state(from);
    let next = policy.next.iter().copied().filter(|_| policy.written);
    next.chain(policy.timeout.map(|(_, to)| to)).collect()
}

/// The targets of failures, restarts, changes of the spec and the deletion.
fn imposed(graph: &Graph<'_>, from: StateId) -> BTreeSet<StateId> {
    let policy = graph.state(from);
    let mut to = BTreeSet::new();
    if policy.written {
        to.extend(policy.retry.then);
        to.extend(policy.resume.into_iter().flat_map(|at| resumed(graph, at)));
    }
    to.extend(policy.spec_change_targets());
    if !policy.deletion_path {
        to.extend(policy.on_delete.to().or(graph.deletion));
    }
    to
}

/// The states in which an object may be stored next if a new process resumes it in the state `at`: that state, the
/// state of its limit, or the target of a deletion or of a change of the spec in one of these, because the process
/// resumes the object before it observes such an event.
pub(super) fn resumed(graph: &Graph<'_>, at: StateId) -> BTreeSet<StateId> {
    let mut all = within_limits(graph, at);
    for at in all.clone() {
        let policy = graph.state(at);
        if !policy.deletion_path {
            all.extend(policy.on_delete.to().or(graph.deletion));
        }
        all.extend(policy.spec_change_targets());
    }
    all
}

/// The state, and the states that an object enters instead when limits are exceeded.
pub(super) fn within_limits(graph: &Graph<'_>, at: StateId) -> BTreeSet<StateId> {
    let mut all = BTreeSet::from([at]);
    let mut next = at;
    while let Some((_, then)) = graph.state(next).limit
        && all.insert(then)
    {
        next = then;
    }
    all
}

/// These states, and the states that an object reaches through them.
pub(super) fn passing(graph: &Graph<'_>, reached: BTreeSet<StateId>, writes_fail: bool) -> BTreeSet<StateId> {
    let (mut all, mut next) = (reached.clone(), Vec::from_iter(reached));
    while let Some(at) = next.pop() {
        let policy = graph.state(at);
        let mut on: BTreeSet<StateId> = policy.limit.map(|(_, then)| then).into_iter().collect();
        if !policy.checkpoint || (writes_fail && policy.deletion_path) {
            on.extend(edges_of(graph, at));
        }
        next.extend(on.into_iter().filter(|state| all.insert(*state)));
    }
    all
}
