//! `properties` that the graph does not have.

use std::collections::BTreeMap;

use super::deletion_path::ordinary_life;
use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;
use crate::graph::{EdgeKind, Escape, Routes, Step};
use crate::model::{Property, PropertyKind, StateId, StateSet};

pub(super) static RULE: Rule = Rule {
    name: "property-violated",
    severity: Severity::Error,
    summary: "a property of `properties` does not hold for the graph",
    explanation: "`properties` must remain true when the graph is edited. All edges count that an object may take without an action of a
user: edges of handlers and of the runtime, including `resume` after a restart. Edges of `onSpecChange` count only for
`canReach`, unless `specChanges` is set. Edges of a deletion count only if the property names a state that only deleted
objects enter, and otherwise `\"*\"` does not include such states. The finding shows a path that violates the property,
with the key and the line of each edge.

    {from: [A], canReach: B}     there is a path from A to B
    {never: A -> B}              there is no path from A to B
    {only: B, through: A}        every path from `initial` to B contains A
    {leadsTo: B, from: A}        every path from A reaches B

Bad:

    states:
      Pay: {next: [Ship], wait: {}}
      Ship: {kind: ready, next: [Pay]}
    properties: [{never: Ship -> Pay}]

Good:

    states:
      Pay: {next: [Ship], wait: {}}
      Ship: {kind: ready}
    properties: [{never: Ship -> Pay}]",
};

pub(super) const CHECK: Check = Check {
    needs_edges: true,
    ..Check::of_kind(&RULE, find)
};

/// The edges that paths of a property may follow, in addition to those that the operator itself causes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Counted {
    deletion: bool,
    spec_changes: bool,
}

impl Counted {
    fn contains(self, step: Step) -> bool {
        match step.edge.kind {
            EdgeKind::Deletion | EdgeKind::OnDelete => self.deletion,
            EdgeKind::SpecChange => self.spec_changes,
            EdgeKind::Next | EdgeKind::Timeout | EdgeKind::Retry | EdgeKind::Limit | EdgeKind::Resume => true,
        }
    }
}

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let kind = subject.kind;
    if kind.properties.is_empty() {
        return Vec::new();
    }
    let ordinary_life = ordinary_life(subject);
    let needs_deletion = |id: StateId| kind.state(id).on_deletion_path && !ordinary_life[id.0];
    // Created once for each choice of edges, because there may be a thousand properties.
    let mut routes: BTreeMap<Counted, Routes> = BTreeMap::new();
    let properties = kind.properties.iter();
    let found = properties.filter_map(|property| {
        let counted = Counted {
            deletion: property.kind.named().into_iter().any(needs_deletion),
            spec_changes: property.spec_changes,
        };
        let routes = routes
            .entry(counted)
            .or_insert_with(|| Routes::of(subject.graph, |step| counted.contains(step)));
        let set = |states: &StateSet| -> Vec<StateId> {
            let all = kind.state_ids().map(|(id, _)| id);
            match states {
                StateSet::All => all
                    .filter(|id| counted.deletion || !needs_deletion(*id))
                    .collect(),
                StateSet::These(states) => states.iter().map(|state| state.value).collect(),
            }
        };
        let (message, path) = violation(subject, routes, property, set)?;
        let finding = Finding::new(&RULE, property.span, message);
        Some(subject.with_path(finding, &path, |step| counted.contains(step)))
    });
    found.map(RuleHit::of_document).collect()
}

/// The reason why a property is violated, and a path that shows it, if any.
fn violation(
    subject: &Subject<'_>,
    routes: &mut Routes,
    property: &Property,
    set: impl Fn(&StateSet) -> Vec<StateId>,
) -> Option<(String, Vec<StateId>)> {
    let report = |message: String, path: Vec<StateId>| Some((message, path));
    match &property.kind {
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
