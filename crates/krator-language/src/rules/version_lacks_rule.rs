//! Rules that an older version lacks, because they are about changed fields.

use super::{Check, RuleHit, Subject};
use crate::catalog::{Rule, Severity};
use crate::finding::Finding;
use crate::text::shown;

pub(super) static RULE: Rule = Rule {
    name: "version-lacks-rule",
    severity: Severity::Warning,
    summary: "a rule that does not apply to objects of an older version",
    explanation: "A CEL rule, or another rule about several fields, cannot be converted to the older version if one of these fields has
changed. The schema of the older version then lacks the rule, so a client that uses that version can store an object
that violates it. The API server refuses the next change of that object in the newer version. If that is intended,
`allow` the rule; a limit of the field itself, such as `maximum`, is kept in the older version.

Bad:

    spec:
      replicas: integer
      most: integer
      validations: [{rule: self.replicas <= self.most}]
    versions: {v1beta1: {changes: [{renamed: .spec.size, to: .spec.replicas}]}}

Good:

    spec:
      replicas: {type: integer, maximum: 100}
      most: integer
    versions: {v1beta1: {changes: [{renamed: .spec.size, to: .spec.replicas}]}}",
};

pub(super) const CHECK: Check = Check::of_kind(&RULE, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let versions = subject.kind.versions.iter();
    let lost = versions.flat_map(|version| version.lost.iter().map(move |rule| (version, rule)));
    lost.map(|(version, rule)| {
        let name = &version.name.value;
        let message = format!("objects of `{name}` need not satisfy {}", shown(&rule.value));
        let finding = Finding::new(&RULE, rule.span, message);
        let help = "the rule uses a field that has changed, and is checked only when an object is written in the newer \
                    version";
        RuleHit::of_document(finding.related(version.name.span, "this version").help(help))
    })
    .collect()
}
