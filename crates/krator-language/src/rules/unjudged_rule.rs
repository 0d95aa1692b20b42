//! CEL rules for which the decision of the API server is unknown.

use krator_schema::cel;

use super::{Check, RuleHit, Subject};
use crate::catalog::{INVALID_SCHEMA, Rule, Severity};
use crate::finding::Finding;

pub(super) static RULE: Rule = Rule {
    name: "unjudged-rule",
    severity: Severity::Warning,
    summary: "a CEL rule that krator cannot evaluate",
    explanation: "krator evaluates every function that rules can call, but cannot parse a few forms of expressions: protobuf messages,
names that begin with a dot, and expressions of more than 3,000 tokens. It then cannot check whether the sample
satisfies the rule, and `krator dev` and tests in memory refuse the CRD.

Bad:

    spec:
      size: integer
      validations: [{rule: \"google.protobuf.Int64Value{value: 3} < self.size\"}]

Good:

    spec:
      size: integer
      validations: [{rule: \"3 < self.size\"}]",
};

pub(super) const CHECK: Check = Check {
    needs_sound_schemas: true,
    unless: &[&INVALID_SCHEMA],
    ..Check::of_kind(&RULE, find)
};

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let (root, path) = subject.schema();
    let hit = |rule| {
        let message =
            "krator cannot parse this rule, so only an API server can check whether objects satisfy it";
        let finding = Finding::new(&RULE, subject.place(&rule), message);
        RuleHit::of_document(
            finding.help("`krator dev` and tests in memory refuse such a rule: write it in another form"),
        )
    };
    cel::unjudged(root, &path).into_iter().map(hit).collect()
}
