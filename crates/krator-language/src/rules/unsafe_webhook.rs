//! Webhooks that would block deletions while no replica answers.

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;
use crate::model::{FailurePolicy, Operation};

pub(super) static RULE: Rule = Rule {
    name: "unsafe-webhook",
    severity: Severity::Error,
    summary: "a webhook whose failure blocks all deletions",
    explanation: "With `failurePolicy: Fail`, which is the default, the API server refuses a request if no replica of the operator
responds. While the operator is down, no object of the kind could be deleted, and neither could its namespace. A webhook
for deletions therefore needs `failurePolicy: Ignore`, so that it does not block the cluster. To protect objects in
certain states, use `admission: {protect: ..}`, which the API server enforces itself.

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
            let message = "while no replica of the operator responds, no object can be deleted";
            let finding = Finding::new(&RULE, delete.span, message)
                .label("requests fail without a response")
                .help("add `failurePolicy: Ignore`, or remove `delete`");
            RuleHit::of_document(finding)
        })
        .collect()
}
