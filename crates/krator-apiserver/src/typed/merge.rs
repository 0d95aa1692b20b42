//! The merge of an applied configuration into an object, after `typed/merge.go`.

use super::{as_list, as_map, both_empty};
use crate::field_set::{PathElement, list_item};
use crate::types::{Arena, List, ListKind, Map, Shape, Type, TypeId};
use serde_json::{Map as JsonMap, Value as Json};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The object merged with the configuration, whose leaves replace those of the object.
pub(crate) fn merge(type_: &Type, object: &Json, config: &Json) -> Json {
    value(type_.arena(), type_.root(), Some(object), Some(config)).unwrap_or(Json::Null)
}

fn value(arena: &Arena, id: TypeId, left: Option<&Json>, right: Option<&Json>) -> Option<Json> {
    let atom = arena.atom(id);
    let deduced = atom.deduce(if right.is_some() { right } else { left });
    match deduced.shape() {
        Shape::Nothing => None,
        Shape::Scalar(_) => leaf(left, right),
        Shape::Map(map) => {
            let (left_map, right_map) = (as_map(left), as_map(right));
            if map.atomic || both_empty(left_map.map(JsonMap::len), right_map.map(JsonMap::len)) {
                return leaf(left, right);
            }
            entries(arena, map, left_map, right_map)
        }
        Shape::List(list) => {
            let (left_list, right_list) = (as_list(left), as_list(right));
            if list.kind == ListKind::Atomic
                || both_empty(left_list.map(<[_]>::len), right_list.map(<[_]>::len))
            {
                return leaf(left, right);
            }
            items(
                arena,
                list,
                left_list.unwrap_or_default(),
                right_list.unwrap_or_default(),
            )
        }
    }
}

fn leaf(left: Option<&Json>, right: Option<&Json>) -> Option<Json> {
    right.or(left).cloned()
}

fn entries(
    arena: &Arena,
    map: &Map,
    left: Option<&JsonMap<String, Json>>,
    right: Option<&JsonMap<String, Json>>,
) -> Option<Json> {
    let mut out = JsonMap::new();
    let mut merge = |key: &str| {
        let (left, right) = (
            left.and_then(|map| map.get(key)),
            right.and_then(|map| map.get(key)),
        );
        if let Some(merged) = value(arena, map.type_of(key), left, right) {
            out.insert(key.to_owned(), merged);
        }
    };
    for key in left.into_iter().flat_map(JsonMap::keys) {
        merge(key);
    }
    for key in right.into_iter().flat_map(JsonMap::keys) {
        if left.is_none_or(|left| !left.contains_key(key)) {
            merge(key);
        }
    }
    (!out.is_empty()).then_some(Json::Object(out))
}

/// The items of one of the merged lists.
struct Side<'a> {
    /// The items in their order.
    order: Vec<(PathElement, &'a Json)>,
    /// The items by path element. An item that occurs several times is not merged, and is `null` here.
    by_place: BTreeMap<PathElement, &'a Json>,
}

impl<'a> Side<'a> {
    fn new(arena: &Arena, list: &List, items: &'a [Json]) -> Self {
        let order: Vec<(PathElement, &Json)> = items
            .iter()
            .filter_map(|item| Some((list_item(arena, list, item).ok()?, item)))
            .collect();
        let mut by_place = BTreeMap::new();
        for (element, item) in &order {
            by_place
                .entry(element.clone())
                .and_modify(|item| *item = &Json::Null)
                .or_insert(*item);
        }
        Self { order, by_place }
    }

    fn get(&self, element: &PathElement) -> Option<&'a Json> {
        self.by_place.get(element).copied()
    }
}

/// Merges two lists: items of the right list have its order, and items that only the left list has keep their
/// neighbors.
fn items(arena: &Arena, list: &List, left: &[Json], right: &[Json]) -> Option<Json> {
    let (left, right) = (Side::new(arena, list, left), Side::new(arena, list, right));
    let mut out = Vec::new();
    let mut take =
        |left: Option<&Json>, right: Option<&Json>| out.extend(value(arena, list.element, left, right));
    let mut shared: VecDeque<&PathElement> = right
        .order
        .iter()
        .map(|(element, _)| element)
        .filter(|element| left.get(element).is_some())
        .collect();
    let mut next_shared = shared.pop_front();
    let mut merged = BTreeSet::new();
    let (mut at_left, mut at_right) = (0, 0);
    while at_left < left.order.len() || at_right < right.order.len() {
        if let (Some((ours, _)), Some((theirs, _))) = (left.order.get(at_left), right.order.get(at_right)) {
            if ours == theirs {
                merged.insert(ours);
                take(left.get(ours), right.get(ours));
                at_left += 1;
                at_right += 1;
                next_shared = shared.pop_front();
                continue;
            }
            // Both lists have the item, but another shared item is next in the right list.
            if right.get(ours).is_some() && next_shared.is_some_and(|next| next != ours) {
                at_left += 1;
                continue;
            }
        }
        if let Some((ours, item)) = left.order.get(at_left) {
            if right.get(ours).is_none() {
                take(Some(item), None);
                at_left += 1;
                continue;
            }
            if merged.contains(ours) {
                at_left += 1;
            }
        }
        if let Some((theirs, _)) = right.order.get(at_right) {
            merged.insert(theirs);
            take(left.get(theirs), right.get(theirs));
            at_right += 1;
            if next_shared == Some(theirs) {
                next_shared = shared.pop_front();
            }
        }
    }
    (!out.is_empty()).then_some(Json::Array(out))
}
