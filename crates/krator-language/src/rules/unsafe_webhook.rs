//! Webhooks that would hold up deletions while no replica answers.

use super::{Check, RuleHit, Subject};
use crate::catalog::UNSAFE_WEBHOOK;
use crate::finding::Finding;
use crate::model::{FailurePolicy, Operation};

pub(super) const CHECK: Check = Check::of_kind(&UNSAFE_WEBHOOK, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let webhook = subject.kind.webhooks.validate.iter();
    let failing = webhook.filter(|webhook| webhook.failure_policy.value == FailurePolicy::Fail);
    let deletes = failing.flat_map(|webhook| &webhook.operations);
    deletes
        .filter(|operation| operation.value == Operation::Delete)
        .map(|delete| {
            let message = "while no replica of the operator answers, nothing could be deleted";
            let finding = Finding::new(&UNSAFE_WEBHOOK, delete.span, message)
                .label("refused without an answer")
                .help("add `failurePolicy: Ignore`, or leave `delete` out");
            RuleHit::of_document(finding)
        })
        .collect()
}
