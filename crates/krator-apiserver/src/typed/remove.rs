//! Removes fields from an object, after `typed/remove.go`.

use crate::field_set::{FieldSet, PathElement, list_item};
use crate::types::{Arena, List, ListKind, Map, Shape, Type, TypeId};
use serde_json::{Map as JsonMap, Value as Json};

/// The object without the fields of a set and the fields below them. A map or a list that becomes empty is replaced by
/// `null`.
pub(crate) fn remove(type_: &Type, object: &Json, fields: &FieldSet) -> Json {
    value(type_.arena(), type_.root(), object, fields)
}

fn value(arena: &Arena, id: TypeId, value: &Json, fields: &FieldSet) -> Json {
    match (arena.atom(id).deduce(Some(value)).shape(), value) {
        (Shape::Scalar(_), _) => value.clone(),
        (Shape::List(list), Json::Array(items)) if list.kind != ListKind::Atomic => {
            of_list(arena, list, items, fields)
        }
        (Shape::Map(map), Json::Object(entries)) if !map.atomic => of_map(arena, map, entries, fields),
        _ => Json::Null,
    }
}

fn of_map(arena: &Arena, map: &Map, entries: &JsonMap<String, Json>, fields: &FieldSet) -> Json {
    let mut out = JsonMap::new();
    for (key, entry) in entries {
        let element = PathElement::field(key);
        if fields.has_member(&element) {
            continue;
        }
        let rest = match fields.below(&element) {
            Some(below) => value(arena, map.type_of(key), entry, below),
            None => entry.clone(),
        };
        out.insert(key.clone(), rest);
    }
    if out.is_empty() {
        Json::Null
    } else {
        Json::Object(out)
    }
}

fn of_list(arena: &Arena, list: &List, items: &[Json], fields: &FieldSet) -> Json {
    let mut out = Vec::new();
    for item in items {
        let Ok(element) = list_item(arena, list, item) else {
            out.push(item.clone());
            continue;
        };
        if fields.has_member(&element) {
            continue;
        }
        out.push(match fields.below(&element) {
            Some(below) => value(arena, list.element, item, below),
            None => item.clone(),
        });
    }
    if out.is_empty() {
        Json::Null
    } else {
        Json::Array(out)
    }
}
