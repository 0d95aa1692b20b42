//! Approvals that an autoscaler invalidates.

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;

pub(super) static RULE: Rule = Rule {
    name: "voided-approval",
    severity: Severity::Warning,
    summary: "an autoscaler changes the spec that was approved",
    explanation: "An approval is for the spec that was reviewed. An autoscaler edits the spec of the objects, also between the
approval and the entry of the state, and then the object waits for another approval. Let what is scaled be a kind of its own, or
use a field of the spec for what is approved.

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
                "an autoscaler of the objects voids the approvals for `{}`",
                state.name.value
            );
            let finding = Finding::new(&RULE, approval, message).label("of the spec as it is");
            let finding = finding.related(scale.spec.span, "this part of it is changed by others");
            Some(RuleHit::of(
                id,
                finding.help("use a field of the spec for what is approved"),
            ))
        })
        .collect()
}
