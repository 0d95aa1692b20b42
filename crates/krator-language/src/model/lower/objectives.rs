//! Reads `slo`.

use super::keys::Keys;
use super::nodes::{Input, duration, is_empty_list, list};
use super::table::Table;
use crate::catalog::WRONG_TYPE;
use crate::catalog::keys::ObjectiveKey;
use crate::finding::Spanned;
use crate::model::{Objective, State, StateId};
use crate::spec::NodeKind;

/// The maximum number of objectives of a kind: each is at least one time series of every operator.
const MOST: usize = 8;

/// Reads `slo`: an objective, or a list of them.
pub(super) fn objectives(node: Input<'_>, states: &[State], table: &mut Table<'_>) -> Vec<Objective> {
    // An unknown state in an objective does not mean that an edge is missing.
    let lacks_edges = table.lacks_edges;
    let mut items = match node.kind {
        NodeKind::Mapping(_) => vec![node],
        _ => list(node, "an objective, or a list of objectives"),
    };
    if is_empty_list(node) {
        node.error(&WRONG_TYPE, "`slo` needs at least one objective");
    }
    if items.len() > MOST {
        node.error(&WRONG_TYPE, format!("`slo` can have at most {MOST} items"));
        items.truncate(MOST);
    }
    let read = items
        .into_iter()
        .filter_map(|item| Keys::mapping(item, |keys| objective(item, keys, states, table)));
    let read = read.collect();
    table.lacks_edges = lacks_edges;
    read
}

fn objective(
    node: Input<'_>,
    keys: &mut Keys<'_, ObjectiveKey>,
    states: &[State],
    table: &mut Table<'_>,
) -> Option<Objective> {
    let from = keys.read(ObjectiveKey::From, |node| table.state(node));
    let to = keys.read(ObjectiveKey::To, |node| table.state(node));
    let within = keys.read(ObjectiveKey::Within, duration);
    let objective = keys.number(ObjectiveKey::Objective);
    let (from, to) = (from?, to?);
    let name = |state: Spanned<StateId>| states[state.value.0].name.value.as_str();
    Some(Objective {
        span: node.span,
        name: format!("{}-{}", name(from), name(to)),
        from,
        to,
        within: within?,
        objective: objective?,
    })
}
