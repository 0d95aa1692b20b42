//! Webhooks that would block deletions while no replica answers.

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;
use crate::model::{FailurePolicy, Operation};

pub(super) static RULE: Rule = Rule {
    name: "unsafe-webhook",
    severity: Severity::Error,
    summary: "a webhook whose failure blocks all deletions",
    explanation: "With `failurePolicy: Fail`, which is the default, the API server refuses a request that no replica of the operator judges. For
deletions that means that no object of the kind goes while the operator is down, and neither does its namespace. A webhook
for deletions therefore has `failurePolicy: Ignore`: it refuses what it can, and never holds up a cluster. What must not be
deleted in some states is better protected by the API server itself, with `admission: {protect: ..}`.

Bad:

    webhooks: {validate: {operations: [create, update, delete]}}

Good:

    webhooks: {validate: {operations: [create, update, delete], failurePolicy: Ignore}}",
};

pub(super) const CHECK: Check = Check::of_kind(&RULE, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let webhook = subject.kind.webhooks.validate.iter();
    let failing = webhook.filter(|webhook| webhook.failure_policy.value == FailurePolicy::Fail);
    let deletes = failing.flat_map(|webhook| &webhook.operations);
    deletes
        .filter(|operation| operation.value == Operation::Delete)
        .map(|delete| {
            let message = "while no replica of the operator responds, nothing can be deleted";
            let finding = Finding::new(&RULE, delete.span, message)
                .label("requests fail without a response")
                .help("add `failurePolicy: Ignore`, or leave `delete` out");
            RuleHit::of_document(finding)
        })
        .collect()
}
