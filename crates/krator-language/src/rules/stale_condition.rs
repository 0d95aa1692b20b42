//! Conditions that a state sets and that remain set when an object is ready again.

use std::collections::BTreeMap;

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;
use crate::graph::{EdgeKind, Step};
use crate::model::{ConditionSetting, ConditionStatus, StateId, StateKind};

pub(super) static RULE: Rule = Rule {
    name: "stale-condition",
    severity: Severity::Warning,
    summary: "a condition that a state sets remains set when the object is ready again",
    explanation: "A condition keeps its status until another state or a handler sets it. Here an object goes from a ready state to a state
that sets a condition, and back, and none of the following states resets it. So the condition has one status in the
ready state before, and another status afterwards. Set the condition in the ready state, too. If a handler sets it
there, or if the condition records that something has happened, `allow` the rule and give the reason.

Bad:

    Running: {kind: ready, next: [Suspended]}
    Suspended: {kind: ready, next: [Running], conditions: {Suspended: \"True\"}}

Good:

    Running: {kind: ready, next: [Suspended], conditions: {Suspended: \"False\"}}
    Suspended: {kind: ready, next: [Running], conditions: {Suspended: \"True\"}}",
};

pub(super) const CHECK: Check = Check {
    needs_edges: true,
    ..Check::of_kind(&RULE, find)
};

/// The maximum number of conditions that are checked, and of findings with a path: each costs a search, and a hostile
/// file may have thousands.
const MOST: usize = 100;

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let mut settings: BTreeMap<(&str, ConditionStatus), Vec<(StateId, &ConditionSetting)>> = BTreeMap::new();
    for (id, state) in subject.kind.state_ids() {
        for setting in &state.conditions {
            let key = (setting.name.as_str(), setting.status.value);
            settings.entry(key).or_default().push((id, setting));
        }
    }
    let lasting = settings
        .keys()
        .filter(|(_, status)| *status != ConditionStatus::Unknown);
    let hits = lasting.take(MOST).flat_map(|(name, status)| {
        let of_name = settings.iter().filter(|((other, _), _)| other == name);
        let mut setters = vec![None; subject.kind.states.len()];
        for ((_, status), states) in of_name {
            for (id, _) in states {
                setters[id.0] = Some(*status);
            }
        }
        stale(subject, &settings[&(*name, *status)], &setters)
    });
    hits.take(MOST).collect()
}

/// The findings about one status of a condition; `setters` has the status that each state sets.
///
/// A round trip leads from a ready state to a setter and back, and no other state on it sets the condition. If an
/// object can be in the ready state with another status before the trip, the status there depends on the past. A
/// condition that later states reset is not reported: `Available` may remain while a state checks whether it is still
/// true.
fn stale(
    subject: &Subject<'_>,
    states: &[(StateId, &ConditionSetting)],
    setters: &[Option<ConditionStatus>],
) -> Vec<RuleHit> {
    let (kind, graph) = (subject.kind, subject.graph);
    let Some(status) = states.first().map(|(_, setting)| setting.status.value) else {
        return Vec::new();
    };
    let sets_another = |id: StateId| setters[id.0].is_some_and(|other| other != status);
    let is_unset = |id: StateId| setters[id.0].is_none();
    let ordinary = |step: Step| !step.edge.kind.is_deletion();
    let others = || kind.state_ids().map(|(id, _)| id).filter(|id| sets_another(*id));
    // Changes of the spec may never happen, so edges after them do not reset the condition.
    let taken_back = graph.reaching(others(), |step| {
        ordinary(step) && step.edge.kind != EdgeKind::SpecChange
    });
    let initial = Some(kind.machine.initial.value).filter(|id| is_unset(*id));
    let before = graph.reached(others().chain(initial), |step| {
        ordinary(step) && is_unset(step.to)
    });
    let mut component_of = vec![None; kind.states.len()];
    let components = graph.components(|id| !sets_another(id), ordinary);
    for (at, component) in components.iter().enumerate() {
        for id in component {
            component_of[id.0] = Some(at);
        }
    }
    let rests_with_another =
        |id: StateId| is_unset(id) && before[id.0] && kind.state(id).kind.value == StateKind::Ready;
    let setters = states.iter().filter(|(id, _)| !taken_back[id.0]);
    let hits = setters.filter_map(|(id, setting)| {
        let on_the_way = |step: Step| {
            ordinary(step) && is_unset(step.to) && component_of[step.to.0] == component_of[id.0]
        };
        let path = graph.shortest_path([*id], rests_with_another, on_the_way)?;
        let end = *path.last()?;
        let name = &setting.name.value;
        let (status, opposite) = match status {
            ConditionStatus::True => ("True", "False"),
            ConditionStatus::False | ConditionStatus::Unknown => ("False", "True"),
        };
        let message = format!(
            "`{name}` stays {status} when an object comes from `{}` to `{}` again",
            subject.name(*id),
            subject.name(end)
        );
        let finding = Finding::new(&RULE, setting.name.span, message)
            .label("no following state resets it")
            .related(subject.span(end), "before, the condition can have another status here")
            .help(format!(
                "set it in `{}`: `conditions: {{{name}: \"{opposite}\"}}`; if a handler does that, `allow` the rule",
                subject.name(end)
            ));
        Some(RuleHit::of(*id, subject.with_path(finding, &path, on_the_way)))
    });
    hits.collect()
}
