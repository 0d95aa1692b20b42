//! States that no object can ever be in.

use super::{Check, RuleHit, Subject};
use crate::catalog::UNREACHABLE_STATE;
use crate::finding::Finding;
use crate::model::StateId;

pub(super) const CHECK: Check = Check {
    needs_edges: true,
    ..Check::of_kind(&UNREACHABLE_STATE, find)
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
    let is_lost = |id: StateId| !reached[id.0];
    let components = subject.graph.components(is_lost, |_| true);
    let mut component_of = vec![usize::MAX; kind.states.len()];
    for (at, component) in components.iter().enumerate() {
        for id in component {
            component_of[id.0] = at;
        }
    }
    let mut follows = vec![false; components.len()];
    for step in subject
        .graph
        .steps()
        .filter(|step| is_lost(step.from) && is_lost(step.to))
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
            let message = format!("nothing leads to the state `{}`", subject.name(id));
            let finding = Finding::new(&UNREACHABLE_STATE, subject.span(id), message)
                .label("no edge of any kind ends here")
                .help("name it in the `next` of a state, or remove it; say `legacy: true` where stored objects may be in it");
            RuleHit::of(id, finding)
        })
        .collect()
}
