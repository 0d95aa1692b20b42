//! Reads `admission`.

use super::constraints::only_true;
use super::keys::Keys;
use super::nodes::{Input, is_empty_list, list};
use super::table::Table;
use crate::catalog::WRONG_TYPE;
use crate::catalog::keys::{AdmissionKey, ProtectKey};
use crate::finding::{Finding, Spanned};
use crate::model::{Admission, StateId};

/// Reads `admission`.
pub(super) fn admission(node: Input<'_>, table: &mut Table<'_>) -> Option<Admission> {
    Keys::mapping(node, |keys| {
        let status = keys.word(AdmissionKey::Status, &[("operator", ())]);
        let protect = keys.read(AdmissionKey::Protect, |node| {
            Keys::mapping(node, |keys| {
                keys.read(ProtectKey::States, |node| Some(states(node, table)))
            })
        });
        let span = keys.key_span(AdmissionKey::Transitions);
        let transitions = keys.read(AdmissionKey::Transitions, only_true).and(span);
        Some(Admission {
            status: status.map(|status| status.span),
            protect: protect.unwrap_or_default(),
            transitions,
        })
    })
}

fn states(node: Input<'_>, table: &mut Table<'_>) -> Vec<Spanned<StateId>> {
    if is_empty_list(node) {
        node.report(Finding::new(
            &WRONG_TYPE,
            node.span,
            "`states` needs at least one state",
        ));
    }
    // An unknown state here does not mean that an edge is missing.
    let lacks_edges = table.lacks_edges;
    let items = list(node, "a list of states").into_iter();
    let states = items.filter_map(|node| table.state(node)).collect();
    table.lacks_edges = lacks_edges;
    states
}
