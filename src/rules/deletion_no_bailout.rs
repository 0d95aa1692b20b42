//! Handlers of the deletion path that may fail forever.

use super::{Check, RuleHit, Subject};
use crate::catalog::{DELETION_ESCAPE, DELETION_NO_BAILOUT, NO_PATH_TO_FINAL};
use crate::finding::Finding;
use crate::model::RetryLimit;

pub(super) const CHECK: Check = Check {
    needs_edges: true,
    unless: &[&DELETION_ESCAPE, &NO_PATH_TO_FINAL],
    ..Check::of_kind(&DELETION_NO_BAILOUT, find)
};

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let mut found = Vec::new();
    for (id, state) in subject
        .kind
        .state_ids()
        .filter(|(_, state)| state.on_deletion_path)
    {
        let Some(retry) = state
            .retry
            .as_ref()
            .filter(|retry| retry.limit.value == RetryLimit::Unlimited)
        else {
            continue;
        };
        if state.timeout.is_some() {
            continue;
        }
        let message = format!(
            "if the handler of `{}` keeps failing, a deleted object is never removed",
            state.name.value
        );
        let mut finding = Finding::new(&DELETION_NO_BAILOUT, state.name.span, message)
            .label("neither a retry limit nor a timeout")
            .help("say when to give up: `retry: {limit: 5, then: STATE}`; states of the deletion path do not inherit the machine's `then`");
        if retry.limit.span != state.name.span && !state.kind.span.eq(&retry.limit.span) {
            finding = finding.related(retry.limit.span, "its delays come from this policy");
        }
        found.push(RuleHit::of(id, finding));
    }
    found
}
