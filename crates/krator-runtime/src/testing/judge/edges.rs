//! Where the edges of a graph lead, as the judge understands them.
use crate::graph::{Graph, OnSpecChange, StateId};
use std::collections::BTreeSet;

/// The states that can be stored next after `from`. States that are not stored, and those whose limit is exceeded,
/// are passed through.
pub(super) fn leads(graph: &Graph<'_>, from: Option<StateId>) -> BTreeSet<StateId> {
    let Some(from) = from else {
        return passing(graph, BTreeSet::from([graph.initial()]));
    };
    passing(graph, edges_of(graph, from))
}

fn edges_of(graph: &Graph<'_>, from: StateId) -> BTreeSet<StateId> {
    let policy = graph.state(from);
    let mut to: BTreeSet<StateId> = policy.next.iter().copied().collect();
    to.extend(policy.timeout.map(|(_, to)| to));
    to.extend(policy.retry.then);
    to.extend(policy.resume);
    if let OnSpecChange::To(state) = policy.on_spec_change {
        to.insert(state);
    }
    if !policy.deletion_path {
        to.extend(policy.on_delete.to().or(graph.deletion()));
        // A restarted operator resumes the object before it observes the deletion.
        to.extend(
            policy
                .resume
                .and_then(|resumed| graph.state(resumed).on_delete.to()),
        );
    }
    to
}

/// These states, and those that an object reaches by passing through them.
fn passing(graph: &Graph<'_>, reached: BTreeSet<StateId>) -> BTreeSet<StateId> {
    let (mut all, mut next) = (reached.clone(), Vec::from_iter(reached));
    while let Some(at) = next.pop() {
        let policy = graph.state(at);
        let mut on: BTreeSet<StateId> = policy.limit.map(|(_, then)| then).into_iter().collect();
        if !policy.checkpoint {
            on.extend(edges_of(graph, at));
        }
        next.extend(on.into_iter().filter(|state| all.insert(*state)));
    }
    all
}
