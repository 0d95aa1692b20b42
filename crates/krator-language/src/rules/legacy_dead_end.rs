//! `legacy` states that stored objects cannot leave.

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;
use crate::model::StateKind;

pub(super) static RULE: Rule = Rule {
    name: "legacy-dead-end",
    severity: Severity::Error,
    summary: "objects cannot leave a `legacy` state",
    explanation: "Objects that are still in a legacy state should leave it. Without an edge to another state they stay in it forever.

Bad:

    Graze: {legacy: true}

Good:

    Graze: {legacy: true, next: [Roam]}",
};

pub(super) const CHECK: Check = Check::of_kind(&RULE, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let mut found = Vec::new();
    for (id, state) in subject.kind.state_ids() {
        let Some(legacy) = state.legacy else { continue };
        let leaves = subject
            .graph
            .leaving(id)
            .any(|step| step.to != id && !step.edge.kind.is_deletion());
        if state.kind.value == StateKind::Final || state.lacks_edges || leaves {
            continue;
        }
        let message = format!("objects that are still in `{}` cannot leave it", state.name.value);
        let finding = Finding::new(&RULE, state.name.span, message)
            .related(legacy, "`legacy` here")
            .help("give it a `next`");
        found.push(RuleHit::of(id, finding));
    }
    found
}
