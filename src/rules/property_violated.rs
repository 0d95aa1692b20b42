//! `properties` that do not hold for the graph.

use super::{Check, RuleHit, Subject};
use crate::catalog::PROPERTY_VIOLATED;
use crate::finding::{Finding, Span};
use crate::graph::{EdgeKind, Escape, Routes, Step};
use crate::model::{PropertyKind, StateId, StateSet};

pub(super) const CHECK: Check = Check {
    needs_edges: true,
    ..Check::of_kind(&PROPERTY_VIOLATED, find)
};

fn counts(step: Step) -> bool {
    step.edge.kind != EdgeKind::Resume
}

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let properties = &subject.kind.properties;
    if properties.is_empty() {
        return Vec::new();
    }
    // Made once, because there may be a thousand properties.
    let mut routes = Routes::of(subject.graph, counts);
    properties
        .iter()
        .filter_map(|property| violation(subject, &mut routes, property.span, &property.kind))
        .collect()
}

fn violation(
    subject: &Subject<'_>,
    routes: &mut Routes,
    span: Span,
    property: &PropertyKind,
) -> Option<RuleHit> {
    let report = |message: String, path: Vec<StateId>| {
        let finding = Finding::new(&PROPERTY_VIOLATED, span, message).path(subject.names(&path));
        Some(RuleHit::of_document(finding))
    };
    let set = |states: &StateSet| -> Vec<StateId> {
        match states {
            StateSet::All => subject.kind.state_ids().map(|(id, _)| id).collect(),
            StateSet::These(states) => states.iter().map(|state| state.value).collect(),
        }
    };
    match property {
        PropertyKind::CanReach { from, to } => {
            let reaching = routes.reaching(to.value);
            let stuck: Vec<&str> = set(from)
                .iter()
                .filter(|id| !reaching[id.0])
                .map(|id| subject.name(*id))
                .collect();
            match stuck[..] {
                [] => None,
                [one] => report(
                    format!("`{one}` cannot reach `{}`", subject.name(to.value)),
                    Vec::new(),
                ),
                [first, .., last] => report(
                    format!(
                        "{} states cannot reach `{}`, the first being `{first}` and the last `{last}`",
                        stuck.len(),
                        subject.name(to.value)
                    ),
                    Vec::new(),
                ),
            }
        }
        PropertyKind::Never { from, to } => {
            // The search starts at the successors, because a state does not count as reaching itself without an edge.
            let successors = routes.next(from.value).iter().copied();
            let path = routes.shortest_path(successors, to.value, |_| false)?;
            report(
                format!(
                    "`{}` leads to `{}`",
                    subject.name(from.value),
                    subject.name(to.value)
                ),
                std::iter::once(from.value).chain(path).collect(),
            )
        }
        PropertyKind::Only { state, through } => {
            let start = subject.kind.machine.initial.value;
            let path = routes.shortest_path([start], state.value, |id| id == through.value)?;
            if path.contains(&through.value) {
                return None;
            }
            report(
                format!(
                    "`{}` can be reached without passing through `{}`",
                    subject.name(state.value),
                    subject.name(through.value)
                ),
                path,
            )
        }
        PropertyKind::LeadsTo { state, from } => {
            let goal = subject.name(state.value);
            match routes.escape(&set(from), state.value)? {
                Escape::End(path) => {
                    let end = path.last().map(|end| subject.name(*end)).unwrap_or_default();
                    report(
                        format!("an object can end in `{end}` without reaching `{goal}`"),
                        path,
                    )
                }
                Escape::Cycle(path) => report(
                    format!("an object can follow a cycle forever without reaching `{goal}`"),
                    path,
                ),
            }
        }
    }
}
