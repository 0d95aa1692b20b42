//! Policies that the API server would not take.

use super::{Check, RuleHit, Subject};
use crate::catalog::OVERSIZED_POLICY;
use crate::finding::{Finding, Span};
use crate::policies::{self, LONGEST_EXPRESSION, LONGEST_NAME};

pub(super) const CHECK: Check = Check {
    needs_edges: true,
    ..Check::of_kind(&OVERSIZED_POLICY, find)
};

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let admission = &subject.kind.admission;
    let hit = |span: Span, message: String, label: &str, help: &str| {
        let finding = Finding::new(&OVERSIZED_POLICY, span, message);
        RuleHit::of_document(finding.label(label).help(help))
    };
    let mut found = Vec::new();
    let of_protect = admission.protect.first().map(|state| state.span);
    let asked = [
        ("status", admission.status),
        ("protect", of_protect),
        ("transitions", admission.transitions),
    ];
    for (what, span) in asked {
        let length = policies::name(subject.kind, what).len();
        if let Some(span) = span.filter(|_| length > LONGEST_NAME) {
            let message = format!(
                "the name of the policy has {length} characters, and the API server takes {LONGEST_NAME}"
            );
            found.push(hit(
                span,
                message,
                "`<this>.<plural>.<group>` is its name",
                "take a shorter group or plural",
            ));
        }
    }
    if let Some(span) = admission.transitions {
        let length = policies::moves(subject.kind).list().chars().count();
        if length > LONGEST_EXPRESSION {
            let message = format!(
                "the moves of the graph take {length} characters, and the API server compiles {LONGEST_EXPRESSION}"
            );
            found.push(hit(
                span,
                message,
                "too many for one policy",
                "remove it, or split the kind",
            ));
        }
    }
    found
}
