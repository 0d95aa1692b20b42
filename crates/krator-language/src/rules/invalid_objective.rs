//! Objectives of `slo` that no object can meet, or that are duplicates.

use std::collections::BTreeMap;

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;
use crate::model::Objective;

pub(super) static RULE: Rule = Rule {
    name: "invalid-objective",
    severity: Severity::Error,
    summary: "an objective of `slo` cannot be met, or is a duplicate",
    explanation: "An objective limits the time until an object that enters the state `from` should enter the state `to`. The states have
to be different, and a path of edges has to lead from one to the other; edges of a deletion do not count, because it
ends the measurement. Metrics identify an objective by its states, so two objectives must not have the same states.

Bad:

    states:
      Pay: {next: [Ship], wait: {}}
      Ship: {kind: ready}
    slo: {from: Ship, to: Pay, within: 1h, objective: 99}

Good:

    states:
      Pay: {next: [Ship], wait: {}}
      Ship: {kind: ready}
    slo: {from: Pay, to: Ship, within: 1h, objective: 99}",
};

pub(super) const CHECK: Check = Check {
    needs_edges: true,
    ..Check::of_kind(&RULE, find)
};

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let mut known = BTreeMap::new();
    let objectives = subject.kind.objectives.iter();
    let findings = objectives.filter_map(|objective| {
        let former = known.insert((objective.from.value, objective.to.value), objective.span);
        if let Some(former) = former {
            let message = format!("there are two objectives for `{}`", objective.name);
            let finding = Finding::new(&RULE, objective.span, message);
            let help =
                "metrics identify an objective by its states: keep one of the two, or choose other states";
            return Some(finding.related(former, "the first one").help(help));
        }
        unmet(subject, objective)
    });
    findings.map(RuleHit::of_document).collect()
}

/// The reason why no object can meet an objective.
fn unmet(subject: &Subject<'_>, objective: &Objective) -> Option<Finding> {
    let (from, to) = (objective.from.value, objective.to.value);
    if from == to {
        let message = format!("the objective begins and ends in `{}`", subject.name(from));
        let finding = Finding::new(&RULE, objective.to.span, message);
        return Some(finding.help("name another state in `to`, which objects should reach from `from`"));
    }
    if objective.within.value.is_zero() {
        let message = "no object can meet an objective within 0 seconds";
        let finding = Finding::new(&RULE, objective.within.span, message);
        return Some(finding.help("write `1s` or more: times are measured in seconds"));
    }
    // A deletion ends the measurement.
    let reached = subject
        .graph
        .reached([from], |step| !step.edge.kind.is_deletion());
    (!reached[to.0]).then(|| {
        let message = format!("`{}` cannot reach `{}`", subject.name(from), subject.name(to));
        Finding::new(&RULE, objective.to.span, message)
            .related(objective.from.span, "from here")
            .help("no object can meet the objective: name a state that edges lead to; edges of a deletion do not count")
    })
}
