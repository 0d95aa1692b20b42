//! Rules that an older version lacks, because they are about what has changed.

use super::{Check, RuleHit, Subject};
use crate::catalog::VERSION_LACKS_RULE;
use crate::finding::Finding;
use crate::text::shown;

pub(super) const CHECK: Check = Check::of_kind(&VERSION_LACKS_RULE, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let versions = subject.kind.versions.iter();
    let lost = versions.flat_map(|version| version.lost.iter().map(move |rule| (version, rule)));
    lost.map(|(version, rule)| {
        let name = &version.name.value;
        let message = format!("objects of `{name}` are not held to {}", shown(&rule.value));
        let finding = Finding::new(&VERSION_LACKS_RULE, rule.span, message);
        let help = "it is about a field that has changed since, and is checked when somebody writes the object in the newer version";
        RuleHit::of_document(finding.related(version.name.span, "this version").help(help))
    })
    .collect()
}
