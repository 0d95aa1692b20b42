//! The rules of the language: what can be wrong, how bad it is, and why. One file a rule or a close family; each has
//! the rules' texts and functions over the model and its graph.
//!
//! What only follows from another finding is left out: a `Check` says which findings make its own meaningless.

mod access;
mod cost;
mod deletion;
mod edges;
mod hints;
mod legacy;
mod loops;
mod names;
mod owners;
mod properties;
mod reach;
mod resume;
mod traps;

use crate::catalog::{Rule, Severity};
use crate::finding::{Finding, Span, sort};
use crate::graph::StateGraph;
use crate::model::{Allow, Description, Kind, StateId};

/// What a rule of one kind looks at.
struct Subject<'a> {
    description: &'a Description,
    kind: &'a Kind,
    graph: &'a StateGraph,
    namespaces: bool,
}

impl Subject<'_> {
    /// The name of a state.
    fn name(&self, id: StateId) -> &str {
        self.kind.state(id).name.as_str()
    }

    /// The place of a state's name.
    fn span(&self, id: StateId) -> Span {
        self.kind.state(id).name.span
    }

    /// The names of a way's states.
    fn names(&self, way: &[StateId]) -> Vec<String> {
        way.iter().map(|id| self.name(*id).to_owned()).collect()
    }
}

/// A finding and the states whose `allow` may silence it; none: that of the document.
struct Found {
    finding: Finding,
    states: Vec<StateId>,
}

impl Found {
    fn of(state: StateId, finding: Finding) -> Self {
        Found {
            finding,
            states: vec![state],
        }
    }

    fn of_document(finding: Finding) -> Self {
        Found {
            finding,
            states: Vec::new(),
        }
    }
}

/// A rule that is a function.
struct Check {
    rule: &'static Rule,
    /// Means nothing while an edge of the text leads nowhere.
    needs_edges: bool,
    /// Means nothing where one of these was found in the same kind.
    unless: &'static [&'static Rule],
    find: fn(&Subject<'_>) -> Vec<Found>,
}

/// In this order, so that `unless` looks at what has been found.
const CHECKS: &[&[Check]] = &[
    names::CHECKS,
    edges::CHECKS,
    legacy::CHECKS,
    deletion::ESCAPE,
    reach::CHECKS,
    loops::CHECKS,
    resume::CHECKS,
    owners::CHECKS,
    properties::CHECKS,
    deletion::CHECKS,
    traps::CHECKS,
    access::CHECKS,
    cost::CHECKS,
    hints::CHECKS,
];

/// What the rules have to say about a description, what `allow` silences left out. `is_sound`: reading it gave no
/// errors; only then can an `allow` be called unused.
pub fn judge(description: &Description, is_sound: bool) -> Vec<Finding> {
    let mut findings = access::unelected_replicas(description);
    findings.extend(names::of_description(description));
    for kind in &description.kinds {
        let graph = StateGraph::of(kind);
        let subject = Subject {
            description,
            kind,
            graph: &graph,
            namespaces: !description.deploy.namespaces.is_empty(),
        };
        let mut found: Vec<Found> = Vec::new();
        for check in CHECKS.iter().copied().flatten() {
            let is_follow_up = check.needs_edges && kind.lacks_edges
                || check
                    .unless
                    .iter()
                    .any(|rule| found.iter().any(|found| found.finding.rule == *rule));
            if !is_follow_up {
                let hits = (check.find)(&subject);
                debug_assert!(hits.iter().all(|hit| hit.finding.rule == check.rule));
                found.extend(hits);
            }
        }
        let mut used: Vec<*const Allow> = Vec::new();
        found.retain(|found| match silenced_by(kind, found) {
            Some(allow) => {
                used.push(std::ptr::from_ref(allow));
                false
            }
            None => true,
        });
        findings.extend(found.into_iter().map(|found| found.finding));
        let is_sound = is_sound
            && !findings
                .iter()
                .any(|finding| finding.rule.severity == Severity::Error);
        if is_sound {
            findings.extend(traps::unused_allows(kind, &used));
        }
    }
    sort(&mut findings);
    findings
}

fn silenced_by<'k>(kind: &'k Kind, found: &Found) -> Option<&'k Allow> {
    if found.finding.rule.severity == Severity::Error {
        return None;
    }
    let of_states = found.states.iter().flat_map(|id| &kind.state(*id).allow);
    let of_document = kind.allow.iter().filter(|_| found.states.is_empty());
    of_states
        .chain(of_document)
        .find(|allow| allow.rule.value == found.finding.rule.name)
}
