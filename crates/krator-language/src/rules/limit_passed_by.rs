//! Edges to the states of a limit on which objects do not wait.

use std::collections::BTreeSet;

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::{EdgeKind, Finding};

pub(super) static RULE: Rule = Rule {
    name: "limit-passed-by",
    severity: Severity::Warning,
    summary: "objects come into the states of a limit without waiting",
    explanation: "Only what a handler or a timeout decides can wait for a place. Objects that are created, restarted, deleted, whose spec
changes, or whose handler fails too often enter their state at once: they are counted, and more of them than the limit says may be
there. Let such an edge lead to a state outside of the limit, whose handler then enters it.

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
                .help("let objects begin in a state outside of the limit, whose handler leads on");
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
                "objects that come from `{}` here do not wait for a place of the limit `{name}`",
                subject.name(step.from)
            );
            let finding = Finding::new(&RULE, step.edge.span, message)
                .related(limit.span, "the limit")
                .help("lead to a state outside of the limit, whose handler leads on, or add the state to the limit");
            found.push(RuleHit::of(step.from, finding));
        }
    }
    found
}
