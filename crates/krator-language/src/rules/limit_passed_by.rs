//! Edges to the states of a limit on which objects do not wait.

use std::collections::BTreeSet;

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::{EdgeKind, Finding};

pub(super) static RULE: Rule = Rule {
    name: "limit-passed-by",
    severity: Severity::Warning,
    summary: "objects enter a state of a limit without waiting for a place",
    explanation: "An object waits for a place only if a handler or a timeout chooses the state. If the object is created, resumed after a
restart or deleted, if its spec changes, or if its handler fails too often, it enters its state at once: it is counted,
but the number of objects may exceed the limit. Make such an edge lead to a state outside of the limit, whose handler
then chooses the limited state.

Bad:

    limits: [{name: rollout, states: [Upgrade], atMost: 3}]
    states:
      Run: {kind: ready, next: [Upgrade], wait: {}, onSpecChange: Upgrade}
      Upgrade: {next: [Run], wait: {poll: 1m}}

Good:

    limits: [{name: rollout, states: [Upgrade], atMost: 3}]
    states:
      Run: {kind: ready, next: [Upgrade], wait: {}}
      Upgrade: {next: [Run], wait: {poll: 1m}}",
};

pub(super) const CHECK: Check = Check {
    needs_edges: true,
    ..Check::of_kind(&RULE, find)
};

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let kind = subject.kind;
    let mut found = Vec::new();
    for limit in &kind.limits {
        let name = &limit.name.value;
        let initial = &kind.machine.initial;
        if limit.counts(initial.value) {
            let message = format!("new objects do not wait for a place of the limit `{name}`");
            let finding = Finding::new(&RULE, initial.span, message)
                .related(limit.span, "the limit")
                .help(
                    "choose an initial state outside of the limit, whose handler chooses the limited state",
                );
            found.push(RuleHit::of(initial.value, finding));
        }
        // The state for deleted objects is named once for all states.
        let mut named = BTreeSet::new();
        let passing = subject.graph.steps().filter(|step| {
            let waits = matches!(step.edge.kind, EdgeKind::Next | EdgeKind::Timeout);
            !waits && limit.is_entered(step.from, step.to) && named.insert(step.edge.span)
        });
        for step in passing {
            let message = format!(
                "on this edge from `{}`, objects do not wait for a place of the limit `{name}`",
                subject.name(step.from)
            );
            let finding = Finding::new(&RULE, step.edge.span, message)
                .related(limit.span, "the limit")
                .help("name a state outside of the limit, whose handler chooses the limited state, or add the source \
                       state to the limit");
            found.push(RuleHit::of(step.from, finding));
        }
    }
    found
}
