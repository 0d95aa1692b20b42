//! Entries of `allow` that silence no finding.

use super::{Check, UsedAllows};
use crate::catalog::{UNUSED_ALLOW, checked};
use crate::finding::Finding;
use crate::model::Description;

pub(super) const CHECK: Check = Check::of_allows(&UNUSED_ALLOW, find);

fn find(description: &Description, used: &UsedAllows) -> Vec<Finding> {
    description
        .kinds
        .iter()
        .flat_map(|kind| {
            kind.states
                .iter()
                .flat_map(|state| &state.allow)
                .chain(&kind.allow)
        })
        // Rules about written code are checked elsewhere, so nothing here can tell whether those are used.
        .filter(|allow| checked().any(|rule| rule.name == allow.rule.value))
        .filter(|allow| !used.contains(allow))
        .map(|allow| {
            let message = format!("there is no finding of `{}` here", allow.rule.value);
            Finding::new(&UNUSED_ALLOW, allow.rule.span, message).help("remove it")
        })
        .collect()
}
