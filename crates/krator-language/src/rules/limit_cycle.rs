//! Limits that wait for each other.

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::{EdgeKind, Finding};
use crate::graph::Step;
use crate::model::{Places, StateId};

pub(super) static RULE: Rule = Rule {
    name: "limit-cycle",
    severity: Severity::Error,
    summary: "objects with a place of one limit wait for another limit, and the reverse",
    explanation: "An object keeps its place of a limit while it waits for a place of another limit. If other objects wait the other way
round, this is a deadlock. Make one of the limits count the states of both, or give the state in which objects wait a
timeout whose target needs no place.

Bad:

    limits:
      - {name: copies, states: [Copy], atMost: 1}
      - {name: checks, states: [Check], atMost: 1}
    states:
      Copy: {next: [Check], wait: {poll: 1m}}
      Check: {next: [Copy], wait: {poll: 1m}}

Good:

    limits:
      - {name: copies, states: [Copy, Check], atMost: 2}
      - {name: checks, states: [Check], atMost: 1}
    states:
      Copy: {next: [Check], wait: {poll: 1m}}
      Check: {next: [Copy], wait: {poll: 1m}}",
};

pub(super) const CHECK: Check = Check {
    needs_edges: true,
    ..Check::of_kind(&RULE, find)
};

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let limits = &subject.kind.limits;
    if limits.len() < 2 {
        return Vec::new();
    }
    let mut waits = DiGraph::<(), Step>::new();
    for _ in limits {
        waits.add_node(());
    }
    for step in subject.graph.steps().filter(|step| is_held_up(subject, step)) {
        for (held, of) in limits.iter().enumerate() {
            let wanted = limits.iter().enumerate();
            let wanted = wanted.filter(|(_, limit)| limit.is_entered(step.from, step.to));
            // A place that the object releases when it leaves the state blocks others as well as a place that it keeps.
            for (wanted, _) in wanted.filter(|_| of.counts(step.from)) {
                waits.add_edge(NodeIndex::new(held), NodeIndex::new(wanted), step);
            }
        }
    }
    let circles = tarjan_scc(&waits).into_iter().filter(|circle| circle.len() > 1);
    let found = circles.filter_map(|mut circle| {
        circle.sort_unstable();
        let mut edges = waits.edge_indices().filter_map(|edge| {
            let (from, to) = waits.edge_endpoints(edge)?;
            (circle.contains(&from) && circle.contains(&to)).then_some((from, to, waits[edge]))
        });
        let (held, wanted, step) = edges.next()?;
        let name = |limit: NodeIndex| &limits[limit.index()].name.value;
        let message = format!(
            "objects with places of the limit `{}` wait here for `{}`, and others wait the other way round",
            name(held),
            name(wanted)
        );
        let mut finding = Finding::new(&RULE, step.edge.span, message);
        if let Some((_, _, back)) = edges.find(|(from, _, _)| *from == wanted) {
            finding = finding.related(back.edge.span, "here objects wait the other way round");
        }
        let help = "make one limit count the states of both, or give the state a `timeout` whose target needs no place";
        Some(RuleHit::of(step.from, finding.help(help)))
    });
    found.collect()
}

/// Whether an object may wait on this edge for as long as others keep their places, because no timeout takes it out of
/// its state.
fn is_held_up(subject: &Subject<'_>, step: &Step) -> bool {
    let waits = matches!(step.edge.kind, EdgeKind::Next | EdgeKind::Timeout);
    let limits: &[Places] = &subject.kind.limits;
    let is_limited = |to: StateId| limits.iter().any(|limit| limit.is_entered(step.from, to));
    let timeout = subject.kind.state(step.from).timeout.as_ref();
    waits && is_limited(step.to) && timeout.is_none_or(|timeout| is_limited(timeout.to.value))
}
