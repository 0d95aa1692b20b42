//! Keys that are read and checked, and that generated operators do not act on yet.

use super::{Check, RuleHit, Subject};
use crate::catalog::NOT_SERVED;
use crate::finding::Finding;

pub(super) const CHECK: Check = Check::of_kind(&NOT_SERVED, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let document = subject.kind.span;
    let keys = subject.description.unserved.iter();
    let here = keys.filter(|key| (document.start..document.end).contains(&key.span.start));
    here.map(|key| {
        let message = format!(
            "`{}` is not served yet: the operator does not act on it",
            key.value
        );
        RuleHit::of_document(
            Finding::new(&NOT_SERVED, key.span, message)
                .label("krator reads and checks it, and nothing more")
                .help("remove it, or `allow` it beside `states` and give the reason"),
        )
    })
    .collect()
}
