//! The fields of an object, after `typed/tofieldset.go`.

use crate::field_set::{FieldSet, PathElement, list_item};
use crate::types::{Arena, List, ListKind, Map, Shape, Type, TypeId};
use serde_json::{Map as JsonMap, Value as Json};
use std::collections::BTreeMap;

/// The set of the fields of an object.
pub(crate) fn field_set(type_: &Type, object: &Json) -> FieldSet {
    fields(type_.arena(), type_.root(), object).below
}

/// The fields of a value.
#[derive(Default)]
struct Fields {
    /// Whether the value itself is a field, as leaves are.
    itself: bool,
    below: FieldSet,
}

impl Fields {
    fn leaf() -> Self {
        Self {
            itself: true,
            ..Self::default()
        }
    }

    fn inner(below: FieldSet) -> Self {
        Self { itself: false, below }
    }
}

fn fields(arena: &Arena, id: TypeId, value: &Json) -> Fields {
    match arena.atom(id).deduce(Some(value)).shape() {
        Shape::Nothing => Fields::default(),
        Shape::Scalar(_) => Fields::leaf(),
        Shape::List(list) if list.kind == ListKind::Atomic => Fields::leaf(),
        Shape::Map(map) if map.atomic => Fields::leaf(),
        Shape::List(list) => Fields::inner(
            value
                .as_array()
                .map(|items| of_list(arena, list, items))
                .unwrap_or_default(),
        ),
        Shape::Map(map) => Fields::inner(
            value
                .as_object()
                .map(|entries| of_map(arena, map, entries))
                .unwrap_or_default(),
        ),
    }
}

fn of_map(arena: &Arena, map: &Map, entries: &JsonMap<String, Json>) -> FieldSet {
    let mut set = FieldSet::default();
    for (key, value) in entries {
        let of_value = fields(arena, map.type_of(key), value);
        let empty = value.is_null() || value.as_object().is_some_and(JsonMap::is_empty);
        let member = of_value.itself || empty || !map.fields.contains_key(key);
        set.graft(PathElement::field(key), member, of_value.below);
    }
    set
}

fn of_list(arena: &Arena, list: &List, items: &[Json]) -> FieldSet {
    // An item that the merge has emptied has no key, but is still an item of the list.
    let place = |item: &Json| list_item(arena, list, item).unwrap_or(PathElement::Value(Json::Null));
    let items: Vec<(PathElement, &Json)> = items.iter().map(|item| (place(item), item)).collect();
    let mut counts: BTreeMap<&PathElement, usize> = BTreeMap::new();
    for (element, _) in &items {
        *counts.entry(element).or_default() += 1;
    }
    let mut set = FieldSet::default();
    for (element, item) in &items {
        // Duplicate items are owned as a whole.
        let below = if counts[element] > 1 {
            FieldSet::default()
        } else {
            fields(arena, list.element, item).below
        };
        set.graft(element.clone(), true, below);
    }
    set
}
