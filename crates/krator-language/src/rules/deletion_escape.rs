//! States that the deletion path shares with the rest of the graph.

use super::deletion_path::{MAX_PATHS, is_ordinary, is_path_edge, ordinary_life};
use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;
use crate::graph::Step;
use crate::model::{StateId, StateKind};

pub(super) static RULE: Rule = Rule {
    name: "deletion-escape",
    severity: Severity::Error,
    summary: "a state is both on the deletion path and reachable without a deletion",
    explanation: "The deletion path consists of the states that can be reached from `deletion` and from the targets of `onDelete`. No such
state, except a `final` one, may also be reachable from `initial` without a deletion: a restarted operator determines
from the state whether the object is being deleted.

Bad:

    machine: {initial: Roam, deletion: Release}
    states:
      Roam: {kind: ready, next: [Release]}
      Release: {next: [Released, Roam]}
      Released: {kind: final}

Good:

    machine: {initial: Roam, deletion: Release}
    states:
      Roam: {kind: ready}
      Release: {next: [Released]}
      Released: {kind: final}",
};

pub(super) const CHECK: Check = Check::of_kind(&RULE, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let kind = subject.kind;
    let initial = kind.machine.initial;
    let entries = &kind.machine.deletion_entries;
    if entries.is_empty() {
        return Vec::new();
    }
    if entries.contains(&initial.value) && !kind.lacks_edges {
        let message = format!(
            "`{}` is the first state both of new objects and of the deletion path",
            subject.name(initial.value)
        );
        return vec![RuleHit::of(
            initial.value,
            Finding::new(&RULE, initial.span, message),
        )];
    }
    let is_final = |id: StateId| kind.state(id).kind.value == StateKind::Final;
    let ordinary = |step: Step| is_ordinary(kind, step);
    let ordinary_life = ordinary_life(subject);
    let with_path = |finding: Finding, id: StateId, found: usize| {
        if found > MAX_PATHS {
            return finding;
        }
        let path = subject
            .graph
            .shortest_path([initial.value], |state| state == id, ordinary);
        subject.with_path(finding, &path.unwrap_or_default(), ordinary)
    };

    let mut found = Vec::new();
    let mut is_reported = vec![false; kind.states.len()];
    for step in subject.graph.steps() {
        let leads_in =
            ordinary(step) && ordinary_life[step.from.0] && entries.contains(&step.to) && !is_final(step.to);
        if leads_in && !std::mem::replace(&mut is_reported[step.to.0], true) {
            let message = format!(
                "`{}` starts the deletion path, but is also entered without a deletion",
                subject.name(step.to)
            );
            let finding = Finding::new(&RULE, step.edge.span, message)
                .label("this edge does not need a deletion")
                .help("only deletion may lead to this state; use another state for objects that are not being deleted");
            found.push(RuleHit::of(step.from, with_path(finding, step.to, found.len())));
        }
    }
    // The deletion path up to its first shared states. Reports about the states behind these would only repeat the
    // mistake.
    let is_shared = |id: StateId| ordinary_life[id.0] && !entries.contains(&id) && !is_final(id);
    let starts = entries.iter().copied();
    let path = subject
        .graph
        .reached(starts, |step| is_path_edge(step) && !is_shared(step.from));
    for step in subject.graph.steps() {
        let crosses = is_path_edge(step) && path[step.from.0] && !is_shared(step.from) && is_shared(step.to);
        if crosses && !std::mem::replace(&mut is_reported[step.to.0], true) {
            let message = format!(
                "`{}` is on the deletion path, but is also entered without a deletion",
                subject.name(step.to)
            );
            let finding = Finding::new(&RULE, step.edge.span, message)
                .label(format!(
                    "the deletion path leads there from `{}`",
                    subject.name(step.from)
                ))
                .related(subject.span(step.to), "can also be reached without a deletion")
                .help(
                    "use two states: a restarted operator determines from the state whether the object is being \
                     deleted",
                );
            found.push(RuleHit::of(step.from, with_path(finding, step.to, found.len())));
        }
    }
    found
}
