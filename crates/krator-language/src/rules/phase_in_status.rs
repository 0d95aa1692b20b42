//! Kinds that keep a phase, which API conventions advise against.

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;

pub(super) static RULE: Rule = Rule {
    name: "phase-in-status",
    severity: Severity::Info,
    summary: "the states of a kind have a `phase`",
    explanation: "The API conventions deprecate phases: clients treat them as a closed list, so a new phase breaks clients.
`.status.state` always contains the state of the machine, and conditions express its meaning for other programs. Use a
phase only if an existing API has one.

Bad:

    states:
      Roam: {phase: Roaming, kind: ready}

Good:

    conditions: {Fed: The moose has eaten today.}
    states:
      Roam: {kind: ready, conditions: {Fed: Unknown}}",
};

pub(super) const CHECK: Check = Check::of_kind(&RULE, find);

/// Reports the kind once, at its first state with a phase.
fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let first = subject.kind.states.iter().find_map(|state| state.phase.as_ref());
    let hit = |span| {
        let message = format!("`{}` has a phase in its status", subject.kind.resource.kind.value);
        let finding = Finding::new(&RULE, span, message)
            .help("remove `phase` from all states: use `.status.state` and conditions instead");
        RuleHit::of_document(finding)
    };
    first.map(|phase| hit(phase.span)).into_iter().collect()
}
