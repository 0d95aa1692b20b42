//! Fields whose changes an earlier entry of `onSpecChange` covers already.

use std::collections::BTreeSet;

use super::{Check, RuleHit, Subject};
use crate::catalog::UNREACHED_CHANGE;
use crate::crd;
use crate::finding::{Finding, Spanned};
use crate::model::FieldPath;

pub(super) const CHECK: Check = Check::of_kind(&UNREACHED_CHANGE, find);

fn find(subject: &Subject<'_>) -> Vec<RuleHit> {
    let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
    let rules = crd::field_rules(subject.description, subject.kind);
    for (id, state) in subject.kind.state_ids() {
        let mut before: Vec<&Spanned<FieldPath>> = Vec::new();
        for path in state.on_spec_change_of.iter().flat_map(|change| &change.of) {
            let decided = before.iter().find(|earlier| earlier.value.covers(&path.value));
            let frozen = rules
                .iter()
                .find(|rule| rule.is_immutable && rule.field.covers(&path.value));
            // States inherit the list of the machine, so each path is reported once.
            if let Some(frozen) = frozen
                && seen.insert(path.span.start)
            {
                let message = format!("`{}` never changes", path.value);
                let finding = Finding::new(&UNREACHED_CHANGE, path.span, message)
                    .related(frozen.key, "it is immutable")
                    .help("remove this path");
                found.push(RuleHit::of(id, finding));
            }
            if let Some(earlier) = decided
                && seen.insert(path.span.start)
            {
                let message = format!("a change of `{}` is decided by an earlier entry", path.value);
                let label = if earlier.value == path.value {
                    "by the same path"
                } else {
                    "this path covers it"
                };
                let finding = Finding::new(&UNREACHED_CHANGE, path.span, message)
                    .related(earlier.span, label)
                    .help("the first entry with a changed field decides: remove this path, or put it first");
                found.push(RuleHit::of(id, finding));
            }
            before.push(path);
        }
    }
    found
}
