//! The rules for a description that could be read. Each has its own file here, with its name, severity and explanation
//! as `RULE`, and with its check as `CHECK`. Five of them are also reported while a description is read, so they are
//! declared in [`crate::catalog`] with all rules that have no check.
//!
//! A new rule is a file here, with its `mod` line and its entry in `CHECKS`.

mod allow;
mod assumed_scope;
mod boolean_in_spec;
mod broad_access;
mod unavoidable_state;
mod cluster_wide_access;
mod conflicting_rename;
mod conversion_invalid;
mod costly_rule;
mod delete_interrupts_once;
mod deletion_escape;
mod deletion_no_bailout;
mod duplicate_edge;
mod duplicate_phase;
mod duration_as_string;
mod failure_trap;
mod fast_loop;
mod float_in_spec;
mod hot_loop;
mod invalid_match_condition;
mod invalid_objective;
mod invalid_owner;
mod invalid_rule;
mod invalid_schema;
mod legacy_dead_end;
mod legacy_entered;
mod limit_cycle;
mod limit_passed_by;
mod limit_without_timeout;
mod map_of_objects;
mod misplaced_immutable;
mod misplaced_protection;
mod misspelled_condition;
mod name_collision;
mod no_backoff;
mod no_exit;
mod no_path_to_final;
mod no_timeout;
mod once_asks_twice;
mod deletion_without_path;
mod oversized_policy;
mod phase_in_status;
mod property_violated;
mod refused_sample;
mod resume_hazard;
pub use resume_hazard::must_be_saved;
mod reused_name;
pub(crate) use reused_name::RULE as REUSED_NAME;
mod self_edge;
mod spec_change_ignored;
mod stale_condition;
mod timeout_interrupts_once;
mod unbounded_loop;
mod replicas_without_leader;
mod unjudged_rule;
mod unreachable_state;
mod unreached_change;
mod unsafe_webhook;
mod unstored_gate;
mod unused_allow;
mod version_lacks_rule;
mod voided_approval;

// Shared by several rules.
mod deletion_path;
mod spec_fields;
mod subject;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use petgraph::algo::toposort;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::catalog::{self, Rule, Severity};
use crate::finding::{Finding, Span, has_errors, sort};
use crate::graph::StateGraph;
use crate::model::{Allow, Description, Kind, StateId};
use subject::Subject;

/// Every check, in alphabetical order. The order in which they run follows from [`Check::unless`].
static CHECKS: &[Check] = &[
    assumed_scope::CHECK,
    boolean_in_spec::CHECK,
    broad_access::CHECK,
    unavoidable_state::CHECK,
    cluster_wide_access::CHECK,
    conflicting_rename::CHECK,
    conversion_invalid::CHECK,
    costly_rule::CHECK,
    delete_interrupts_once::CHECK,
    deletion_escape::CHECK,
    deletion_no_bailout::CHECK,
    duplicate_edge::CHECK,
    duplicate_phase::CHECK,
    duration_as_string::CHECK,
    failure_trap::CHECK,
    fast_loop::CHECK,
    float_in_spec::CHECK,
    hot_loop::CHECK,
    invalid_match_condition::CHECK,
    invalid_objective::CHECK,
    invalid_owner::CHECK,
    invalid_rule::CHECK,
    invalid_schema::CHECK,
    legacy_dead_end::CHECK,
    legacy_entered::CHECK,
    limit_cycle::CHECK,
    limit_passed_by::CHECK,
    limit_without_timeout::CHECK,
    map_of_objects::CHECK,
    misplaced_immutable::CHECK,
    misplaced_protection::CHECK,
    misspelled_condition::CHECK,
    name_collision::CHECK,
    no_backoff::CHECK,
    no_exit::CHECK,
    no_path_to_final::CHECK,
    no_timeout::CHECK,
    once_asks_twice::CHECK,
    deletion_without_path::CHECK,
    oversized_policy::CHECK,
    phase_in_status::CHECK,
    property_violated::CHECK,
    refused_sample::CHECK,
    resume_hazard::CHECK,
    reused_name::CHECK,
    self_edge::CHECK,
    spec_change_ignored::CHECK,
    stale_condition::CHECK,
    timeout_interrupts_once::CHECK,
    unbounded_loop::CHECK,
    replicas_without_leader::CHECK,
    unjudged_rule::CHECK,
    unreachable_state::CHECK,
    unreached_change::CHECK,
    unsafe_webhook::CHECK,
    unstored_gate::CHECK,
    unused_allow::CHECK,
    version_lacks_rule::CHECK,
    voided_approval::CHECK,
];

/// Every rule: first those that are reported while a description is read or compared, then the remaining ones with a
/// check, by their names.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    let is_listed = |rule: &&Rule| catalog::without_check().all(|other| other.name != rule.name);
    catalog::without_check().chain(checked().filter(is_listed))
}

/// The rule with a name.
pub fn named(name: &str) -> Option<&'static Rule> {
    // The rules in both lists are the same.
    let mut rules = catalog::without_check().chain(checked());
    rules.find(|rule| rule.name == name)
}

/// The rules that have a check.
pub(crate) fn checked() -> impl Iterator<Item = &'static Rule> {
    CHECKS.iter().map(|check| check.rule)
}

/// The check of a rule.
#[derive(Clone, Copy)]
struct Check {
    rule: &'static Rule,
    scope: CheckScope,
    /// Whether the rule infers from missing edges: it must not run if some edges failed to parse, which was reported
    /// already.
    needs_edges: bool,
    /// Whether the rule checks schemas: it must not run if unreadable parts of a schema were reported and replaced by
    /// placeholders.
    needs_sound_schemas: bool,
    /// The check does not run for a kind in which one of these rules has a finding, because its own finding would only
    /// be a consequence. These rules have to be checked for each kind as well.
    unless: &'static [&'static Rule],
}

/// The part of a description for one call of a check.
#[derive(Clone, Copy)]
enum CheckScope {
    /// One kind with its state graph.
    Kind(fn(&Subject<'_>) -> Vec<RuleHit>),
    /// The whole description. No `allow` silences the findings, so the rule has to be an error.
    Description(fn(&Description) -> Vec<Finding>),
    /// The entries of `allow`, after all other checks have run without an error.
    Allows(fn(&Description, &UsedAllows) -> Vec<Finding>),
}

impl Check {
    const fn new(rule: &'static Rule, scope: CheckScope) -> Self {
        Check {
            rule,
            scope,
            needs_edges: false,
            needs_sound_schemas: false,
            unless: &[],
        }
    }

    const fn of_kind(rule: &'static Rule, find: fn(&Subject<'_>) -> Vec<RuleHit>) -> Self {
        Check::new(rule, CheckScope::Kind(find))
    }

    const fn of_description(rule: &'static Rule, find: fn(&Description) -> Vec<Finding>) -> Self {
        Check::new(rule, CheckScope::Description(find))
    }

    const fn of_allows(rule: &'static Rule, find: fn(&Description, &UsedAllows) -> Vec<Finding>) -> Self {
        Check::new(rule, CheckScope::Allows(find))
    }
}

/// A finding of a rule in one kind.
struct RuleHit {
    finding: Finding,
    /// The states whose `allow` may silence the finding; if empty, the `allow` of the kind's document may.
    states: Vec<StateId>,
}

impl RuleHit {
    fn of(state: StateId, finding: Finding) -> Self {
        RuleHit {
            finding,
            states: vec![state],
        }
    }

    fn of_document(finding: Finding) -> Self {
        RuleHit {
            finding,
            states: Vec::new(),
        }
    }
}

/// The findings about the kinds of a description, separated by whether an entry of `allow` has silenced them.
#[derive(Default)]
struct UsedAllows {
    /// The places of the entries that have silenced a finding.
    used: BTreeSet<Span>,
    unsilenced: Vec<Unsilenced>,
}

/// A finding that no entry of `allow` has silenced.
struct Unsilenced {
    rule: &'static Rule,
    /// The place of the kind.
    kind: Span,
    /// The states whose `allow` would silence it.
    states: Vec<StateId>,
}

impl UsedAllows {
    fn contains(&self, allow: &Allow) -> bool {
        self.used.contains(&allow.rule.span)
    }

    /// The states of a kind in which the rule of this name has a finding.
    fn states_with(&self, kind: &Kind, rule: &str) -> BTreeSet<StateId> {
        let found = self.unsilenced.iter();
        let of_rule = found.filter(|found| found.rule.name == rule && found.kind == kind.span);
        of_rule.flat_map(|found| &found.states).copied().collect()
    }
}

/// The findings in a description, without those that an `allow` silences. `is_sound` means that reading the description
/// gave no errors; otherwise findings may be missing, and no `allow` is reported as unused.
pub(crate) fn findings(description: &Description, is_sound: bool) -> Vec<Finding> {
    let mut findings = allow::findings(description);
    let mut used = UsedAllows::default();
    for check in CHECKS {
        if let CheckScope::Description(find) = check.scope {
            findings.extend(find(description));
        }
    }
    for kind in &description.kinds {
        for hit in hits(description, kind) {
            match silenced_by(kind, &hit) {
                Some(allow) => {
                    used.used.insert(allow.rule.span);
                }
                None => {
                    used.unsilenced.push(Unsilenced {
                        rule: hit.finding.rule,
                        kind: kind.span,
                        states: hit.states,
                    });
                    findings.push(hit.finding);
                }
            }
        }
    }
    if is_sound && !has_errors(&findings) {
        for check in CHECKS {
            if let CheckScope::Allows(find) = check.scope {
                findings.extend(find(description, &used));
            }
        }
    }
    sort(&mut findings);
    findings
}

/// The findings in one kind.
fn hits(description: &Description, kind: &Kind) -> Vec<RuleHit> {
    let graph = StateGraph::of(kind);
    let subject = Subject::new(description, kind, &graph);
    let mut hits: Vec<RuleHit> = Vec::new();
    for check in ORDERED.iter() {
        let CheckScope::Kind(find) = check.scope else {
            continue;
        };
        let is_found = |rule: &Rule| hits.iter().any(|hit| hit.finding.rule == rule);
        let would_mislead = check.needs_edges && kind.lacks_edges
            || check.needs_sound_schemas && !description.has_sound_schemas
            || check.unless.iter().any(|rule| is_found(rule));
        if !would_mislead {
            let found = find(&subject);
            debug_assert!(found.iter().all(|hit| hit.finding.rule == check.rule));
            hits.extend(found);
        }
    }
    hits
}

/// The `allow` that silences a finding, if any. Errors cannot be silenced.
fn silenced_by<'k>(kind: &'k Kind, hit: &RuleHit) -> Option<&'k Allow> {
    if hit.finding.rule.severity == Severity::Error {
        return None;
    }
    let of_states = hit.states.iter().flat_map(|id| &kind.state(*id).allow);
    let of_document = kind.allow.iter().filter(|_| hit.states.is_empty());
    of_states
        .chain(of_document)
        .find(|allow| allow.rule.value == hit.finding.rule.name)
}

static ORDERED: LazyLock<Vec<&'static Check>> = LazyLock::new(|| {
    // CHECKS is a constant, so a cycle would fail every test.
    ordered(CHECKS).expect("the `unless` of checks form no cycle")
});

/// The checks in an order in which each comes after the checks of the rules in its `unless`. If there is no such order,
/// the error is a rule of a cycle.
fn ordered(checks: &[Check]) -> Result<Vec<&Check>, &'static Rule> {
    let mut graph: DiGraph<&Check, ()> = DiGraph::new();
    for check in checks {
        graph.add_node(check);
    }
    for (at, check) in checks.iter().enumerate() {
        for rule in check.unless {
            if let Some(earlier) = checks.iter().position(|other| other.rule == *rule) {
                graph.add_edge(NodeIndex::new(earlier), NodeIndex::new(at), ());
            }
        }
    }
    match toposort(&graph, None) {
        Ok(order) => Ok(order.into_iter().map(|node| graph[node]).collect()),
        Err(cycle) => Err(graph[cycle.node_id()].rule),
    }
}

#[cfg(test)]
mod tests;
