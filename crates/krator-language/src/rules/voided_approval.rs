//! Approvals that an autoscaler invalidates.

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;

pub(super) static RULE: Rule = Rule {
    name: "voided-approval",
    severity: Severity::Warning,
    summary: "an autoscaler changes the spec that was approved",
    explanation: "An approval applies to the spec that was reviewed. An autoscaler may edit the spec of an object between the approval and
the entry into the state, and then the object waits for another approval. Make the scaled part a kind of its own, or
replace the approval by a field of the spec.

Bad:

    resource: {scale: {spec: .spec.replicas, status: .status.replicas}}
    states:
      Upgrade: {next: [Roam], gate: {approval: required}}

Good:

    states:
      Upgrade: {next: [Roam], gate: {approval: required}}",
};

pub(super) const CHECK: Check = Check::of_kind(&RULE, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let kind = subject.kind;
    let Some(scale) = &kind.resource.scale else {
        return Vec::new();
    };
    kind.state_ids()
        .filter_map(|(id, state)| {
            let approval = state.gate.as_ref()?.approval?;
            let message = format!(
                "an autoscaler of the objects invalidates the approvals for `{}`",
                state.name.value
            );
            let finding =
                Finding::new(&RULE, approval, message).label("an approval applies to the present spec");
            let finding = finding.related(scale.spec.span, "an autoscaler changes this part of the spec");
            Some(RuleHit::of(
                id,
                finding.help("replace the approval by a field of the spec"),
            ))
        })
        .collect()
}
