//! States that no object can enter.

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;
use crate::model::StateId;

pub(super) static RULE: Rule = Rule {
    name: "unreachable-state",
    severity: Severity::Error,
    summary: "no object can ever be in the state",
    explanation: "There is no path of edges to the state from `initial`, `deletion` or a `legacy` state. If several unreachable states lead
to each other, only the first of them is reported.

Bad:

    machine: {initial: Roam}
    states:
      Roam: {next: [Eat]}
      Eat: {next: [Roam], wait: {poll: 1m}}
      Sleep: {next: [Roam], wait: {poll: 1m}}

Good:

    machine: {initial: Roam}
    states:
      Roam: {next: [Eat]}
      Eat: {next: [Sleep], wait: {poll: 1m}}
      Sleep: {next: [Roam], wait: {poll: 1m}}

If stored objects may still be in the state because an earlier description used it, mark it `legacy: true`.",
};

pub(super) const CHECK: Check = Check {
    needs_edges: true,
    ..Check::of_kind(&RULE, find)
};

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let kind = subject.kind;
    let roots = std::iter::once(kind.machine.initial.value)
        .chain(kind.machine.deletion.as_ref().map(|deletion| deletion.value))
        .chain(
            kind.state_ids()
                .filter(|(_, state)| state.legacy.is_some())
                .map(|(id, _)| id),
        );
    let reached = subject.graph.reached(roots, |_| true);
    if reached.iter().all(|reached| *reached) {
        return Vec::new();
    }
    let is_unreachable = |id: StateId| !reached[id.0];
    let components = subject.graph.components(is_unreachable, |_| true);
    let mut component_of = vec![usize::MAX; kind.states.len()];
    for (at, component) in components.iter().enumerate() {
        for id in component {
            component_of[id.0] = at;
        }
    }
    // A component with an edge from another unreachable one is not reported.
    let mut follows = vec![false; components.len()];
    for step in subject
        .graph
        .steps()
        .filter(|step| is_unreachable(step.from) && is_unreachable(step.to))
    {
        if component_of[step.from.0] != component_of[step.to.0] {
            follows[component_of[step.to.0]] = true;
        }
    }
    let roots = components
        .iter()
        .zip(follows)
        .filter(|(_, follows)| !follows)
        .map(|(component, _)| component[0]);
    roots
        .map(|id| {
            let message = format!("the state `{}` cannot be reached", subject.name(id));
            let finding = Finding::new(&RULE, subject.span(id), message)
                .label("no path leads here from `initial`, `deletion` or a `legacy` state")
                .help("name it in the `next` of a state, or remove it; use `legacy: true` if stored objects may be in it");
            RuleHit::of(id, finding)
        })
        .collect()
}
