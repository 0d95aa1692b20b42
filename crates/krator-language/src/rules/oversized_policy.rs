//! Policies that the API server would refuse as too large.

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::{Finding, Span};
use crate::policies::{self, LONGEST_EXPRESSION, LONGEST_NAME};

pub(super) static RULE: Rule = Rule {
    name: "oversized-policy",
    severity: Severity::Error,
    summary: "a policy is larger than the API server accepts",
    explanation: "The name of a policy consists of its purpose and the name of the CRD, and has at most 253 characters. The expressions of
a policy have at most 100000 characters; `transitions` lists every state with its successors, so the limit suffices for
thousands of states with a few edges each.

Bad:

    resource: {group: a-group-of-240-characters.example.com, version: v1, kind: Moose}
    admission: {transitions: true}

Good:

    resource: {group: animals.com, version: v1, kind: Moose}
    admission: {transitions: true}",
};

pub(super) const CHECK: Check = Check {
    needs_edges: true,
    ..Check::of_kind(&RULE, find)
};

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let admission = &subject.kind.admission;
    let hit = |span: Span, message: String, label: &str, help: &str| {
        let finding = Finding::new(&RULE, span, message);
        RuleHit::of_document(finding.label(label).help(help))
    };
    let mut found = Vec::new();
    let of_protect = admission.protect.first().map(|state| state.span);
    let gates = subject.kind.states.iter().filter_map(|state| state.gate.as_ref());
    let asked = [
        ("approvals", gates.filter_map(|gate| gate.approval).next()),
        ("status", admission.status),
        ("protect", of_protect),
        ("transitions", admission.transitions),
    ];
    for (what, span) in asked {
        let length = policies::name(subject.kind, what).len();
        if let Some(span) = span.filter(|_| length > LONGEST_NAME) {
            let message = format!(
                "the name of the policy has {length} characters, and the API server accepts at most {LONGEST_NAME}"
            );
            found.push(hit(
                span,
                message,
                "the name has the form `<purpose>.<plural>.<group>`",
                "use a shorter group or plural",
            ));
        }
    }
    if let Some(span) = admission.transitions {
        let length = policies::moves(subject.kind).list().chars().count();
        if length > LONGEST_EXPRESSION {
            let message = format!(
                "the transitions of the graph need {length} characters, and the API server accepts at most \
                 {LONGEST_EXPRESSION}"
            );
            found.push(hit(
                span,
                message,
                "too many for one policy",
                "remove `transitions`, or split the kind",
            ));
        }
    }
    found
}
