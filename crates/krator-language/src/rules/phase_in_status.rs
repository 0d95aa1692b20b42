//! Kinds that keep a phase, which API conventions advise against.

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;

pub(super) static RULE: Rule = Rule {
    name: "phase-in-status",
    severity: Severity::Info,
    summary: "the states of a kind have a `phase`",
    explanation: "The API conventions deprecate phases: clients take them for a closed list, so that a new phase breaks them. `.status.state`
always says where the machine is, and conditions say what it means for others. A phase is right where an existing API has
one.

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
        let message = format!(
            "`{}` keeps a phase in its status",
            subject.kind.resource.kind.value
        );
        let finding = Finding::new(&RULE, span, message)
            .help("leave `phase` out of all states: `.status.state` and conditions say more");
        RuleHit::of_document(finding)
    };
    first.map(|phase| hit(phase.span)).into_iter().collect()
}
