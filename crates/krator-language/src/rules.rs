//! The rules over a description that could be read. Each rule has a file of its own in `src/rules/`, with one
//! `Check`; its name, severity and explanation are in [`crate::catalog`].
//!
//! A new rule is a static in the catalog, a file here with its `CHECK`, and its entry in `CHECKS`.

mod assumed_scope;
mod boolean_in_spec;
mod broad_access;
mod choke_point;
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
mod map_of_objects;
mod misplaced_immutable;
mod misplaced_protection;
mod misspelled_condition;
mod name_collision;
mod no_backoff;
mod no_exit;
mod no_path_to_final;
mod no_timeout;
mod outlives_nothing;
mod oversized_policy;
mod phase_in_status;
mod property_violated;
mod refused_sample;
mod resume_hazard;
pub use resume_hazard::must_be_saved;
mod reused_name;
mod self_edge;
mod spec_change_ignored;
mod stale_condition;
mod timeout_interrupts_once;
mod unbounded_loop;
mod unelected_replicas;
mod unjudged_rule;
mod unreachable_state;
mod unreached_change;
mod unsafe_webhook;
mod unused_allow;
mod version_lacks_rule;

// Shared by several rules.
mod deletion_path;
mod spec_fields;

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use krator_schema::{Definition, Path, Problem, validate_definition};
use petgraph::algo::toposort;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::catalog::{Rule, Severity};
use crate::crd;
use crate::finding::{Finding, PathStep, Span, has_errors, sort};
use crate::graph::{EdgeKind, StateGraph, Step};
use crate::model::{Allow, Description, Kind, StateId};

/// Every check, in alphabetical order. The order in which they run follows from [`Check::unless`].
static CHECKS: &[Check] = &[
    assumed_scope::CHECK,
    boolean_in_spec::CHECK,
    broad_access::CHECK,
    choke_point::CHECK,
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
    map_of_objects::CHECK,
    misplaced_immutable::CHECK,
    misplaced_protection::CHECK,
    oversized_policy::CHECK,
    misspelled_condition::CHECK,
    name_collision::CHECK,
    no_backoff::CHECK,
    no_exit::CHECK,
    no_path_to_final::CHECK,
    no_timeout::CHECK,
    outlives_nothing::CHECK,
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
    unelected_replicas::CHECK,
    unjudged_rule::CHECK,
    unreachable_state::CHECK,
    unreached_change::CHECK,
    unsafe_webhook::CHECK,
    unused_allow::CHECK,
    version_lacks_rule::CHECK,
];

/// How a rule is checked.
#[derive(Clone, Copy)]
struct Check {
    rule: &'static Rule,
    scope: CheckScope,
    /// Some edges failed to parse and were reported already; a rule that infers from missing edges must not run then.
    needs_edges: bool,
    /// Unreadable parts of a schema were reported already and replaced by something harmless; a rule that judges
    /// schemas must not run then.
    needs_sound_schemas: bool,
    /// The check does not run for a kind in which one of these rules has a finding: its own would only follow from
    /// that one. They have to be checked for each kind, too.
    unless: &'static [&'static Rule],
}

/// The part of a description that a check sees in one call.
#[derive(Clone, Copy)]
enum CheckScope {
    /// One kind and its state graph.
    Kind(fn(&Subject<'_>) -> Vec<RuleHit>),
    /// The whole description. No `allow` silences the findings, so the rule has to be an error.
    Description(fn(&Description) -> Vec<Finding>),
    /// The entries of `allow`, once all other checks have run without an error.
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

/// The input of a check of one kind.
struct Subject<'a> {
    description: &'a Description,
    kind: &'a Kind,
    graph: &'a StateGraph,
    definition: OnceCell<Definition>,
    problems: OnceCell<Vec<Problem>>,
}

impl Subject<'_> {
    /// The CRD of the kind, as the API server reads it.
    fn definition(&self) -> &Definition {
        self.definition
            .get_or_init(|| crd::as_read(crd::specification(self.description, self.kind)))
    }

    /// Why the API server would refuse the CRD, its CEL rules apart.
    fn problems(&self) -> &[Problem] {
        let approval = self.kind.resource.api_approved.as_ref();
        let approval = approval.map(|approval| approval.value.as_str());
        self.problems
            .get_or_init(|| validate_definition(self.definition(), approval))
    }

    /// The schema of the kind's objects, with its path in the CRD.
    fn schema(&self) -> (&krator_schema::Schema, Path) {
        // `crd::definition` writes at least one version.
        self.schemas().next().expect("the CRD has a schema")
    }

    /// The schema of the objects of each version, the newest first, with its path in the CRD.
    fn schemas(&self) -> impl Iterator<Item = (&krator_schema::Schema, Path)> {
        let versions = Path::root().field("spec").field("versions");
        let parts = self.definition().versions.iter().enumerate();
        parts.filter_map(move |(at, version)| {
            let path = versions.index(at).field("schema").field("openAPIV3Schema");
            let schema = version.schema.as_ref()?.open_api_v3_schema.as_ref()?;
            Some((schema, path))
        })
    }

    /// The place in the description of a part of the CRD.
    fn place(&self, path: &Path) -> Span {
        crd::place(self.description, self.kind, path)
    }

    /// The name of a state.
    fn name(&self, id: StateId) -> &str {
        self.kind.state(id).name.as_str()
    }

    /// The place of the state's name.
    fn span(&self, id: StateId) -> Span {
        self.kind.state(id).name.span
    }

    /// Whether objects may pass a state without running its handler. Past its limit a state is not entered: the object goes to
    /// `then` at once, whatever time the state itself takes.
    fn is_passed(&self, id: StateId) -> bool {
        self.kind.state(id).limit.is_some()
    }

    /// Whether an object may take an edge as soon as it has entered the state before, unless that state lets it rest. An edge of
    /// `next` from a state to itself is a finding of the rule self-edge.
    fn is_taken_at_once(&self, step: Step) -> bool {
        match step.edge.kind {
            EdgeKind::Limit => true,
            EdgeKind::Next | EdgeKind::Resume => !self.is_passed(step.from) && step.from != step.to,
            _ => false,
        }
    }

    /// The finding with a path, and with the first of the `wanted` edges for each of its steps.
    fn with_path(&self, finding: Finding, path: &[StateId], wanted: impl Fn(Step) -> bool) -> Finding {
        let steps = path.iter().zip(path.iter().skip(1)).filter_map(|(from, to)| {
            let mut leaving = self.graph.leaving(*from);
            let step = leaving.find(|step| step.to == *to && wanted(*step))?;
            Some(PathStep {
                from: self.name(*from).to_owned(),
                to: self.name(*to).to_owned(),
                by: step.edge.kind,
                span: step.edge.span,
            })
        });
        finding.path(self.names(path)).steps(steps.collect())
    }

    /// The names of the states of a path.
    fn names(&self, path: &[StateId]) -> Vec<String> {
        path.iter().map(|id| self.name(*id).to_owned()).collect()
    }
}

/// A finding of a rule in one kind.
struct RuleHit {
    finding: Finding,
    /// The states whose `allow` may silence the finding; without any, the `allow` of the kind's document may.
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

/// The findings about the kinds of a description, apart by whether an entry of `allow` has silenced them.
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

/// The findings in a description, without those that an `allow` silences. `is_sound` says that reading
/// the description gave no errors; otherwise a finding may be missing, and no `allow` is called unused.
pub(crate) fn findings(description: &Description, is_sound: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
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
    let subject = Subject {
        description,
        kind,
        graph: &StateGraph::of(kind),
        definition: OnceCell::new(),
        problems: OnceCell::new(),
    };
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

/// The `allow` that silences a finding, if there is one. Errors cannot be silenced.
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

/// The checks in an order in which each comes after those of the rules that its `unless` names; a rule of a cycle
/// where there is no such order.
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
