//! The differences between two objects of a type, after `typed/compare.go`.

use super::{as_list, as_map, both_empty};
use crate::field_set::{FieldSet, PathElement, list_item};
use crate::types::{Arena, List, ListKind, Map, Shape, Type, TypeId};
use crate::values;
use serde_json::{Map as JsonMap, Value as Json};
use std::collections::BTreeMap;

/// The fields in which two objects differ.
#[derive(Debug, Default)]
pub(crate) struct Comparison {
    /// Fields that only the old object has.
    pub(crate) removed: FieldSet,
    /// Fields with different values.
    pub(crate) modified: FieldSet,
    /// Fields that only the new object has.
    pub(crate) added: FieldSet,
}

impl Comparison {
    /// The comparison without some fields and the fields below them.
    pub(crate) fn without(self, fields: &FieldSet) -> Self {
        Self {
            removed: self.removed.recursive_difference(fields),
            modified: self.modified.recursive_difference(fields),
            added: self.added.recursive_difference(fields),
        }
    }
}

/// Compares an old object with a new one.
pub(crate) fn compare(type_: &Type, old: &Json, new: &Json) -> Comparison {
    let mut comparer = Comparer {
        arena: type_.arena(),
        path: Vec::new(),
        found: Comparison::default(),
    };
    comparer.value(type_.root(), Some(old), Some(new));
    comparer.found
}

struct Comparer<'a> {
    arena: &'a Arena,
    path: Vec<PathElement>,
    found: Comparison,
}

impl<'a> Comparer<'a> {
    fn value(&mut self, id: TypeId, old: Option<&Json>, new: Option<&Json>) {
        let atom = self.arena.atom(id);
        let (of_old, of_new) = (atom.deduce(old), atom.deduce(new));
        let leaf = if new.is_none() {
            self.shape(of_old.shape(), old, new)
        } else if old.is_none() || of_old.agrees(&of_new) {
            self.shape(of_new.shape(), old, new)
        } else {
            self.shape(of_old.shape(), old, new);
            self.shape(of_new.shape(), old, new)
        };
        match (old, new) {
            (None, _) if !leaf => self.found.added.insert(&self.path),
            (_, None) if !leaf => self.found.removed.insert(&self.path),
            _ => {}
        }
    }

    /// Compares two values of a shape. Returns whether they are leaves.
    fn shape(&mut self, shape: Shape<'a>, old: Option<&Json>, new: Option<&Json>) -> bool {
        match shape {
            Shape::Nothing => false,
            Shape::Scalar(_) => self.leaf(old, new),
            Shape::Map(map) => {
                let (old_map, new_map) = (as_map(old), as_map(new));
                if map.atomic || both_empty(old_map.map(JsonMap::len), new_map.map(JsonMap::len)) {
                    return self.leaf(old, new);
                }
                self.map(map, old_map, new_map);
                false
            }
            Shape::List(list) => {
                let (old_list, new_list) = (as_list(old), as_list(new));
                if list.kind == ListKind::Atomic
                    || both_empty(old_list.map(<[_]>::len), new_list.map(<[_]>::len))
                {
                    return self.leaf(old, new);
                }
                self.list(list, old_list.unwrap_or_default(), new_list.unwrap_or_default());
                false
            }
        }
    }

    fn leaf(&mut self, old: Option<&Json>, new: Option<&Json>) -> bool {
        match (old, new) {
            (None, _) => self.found.added.insert(&self.path),
            (_, None) => self.found.removed.insert(&self.path),
            (Some(old), Some(new)) if !values::equal(old, new) => self.found.modified.insert(&self.path),
            _ => {}
        }
        true
    }

    fn child(&mut self, element: PathElement, id: TypeId, old: Option<&Json>, new: Option<&Json>) {
        self.path.push(element);
        self.value(id, old, new);
        self.path.pop();
    }

    fn map(&mut self, map: &Map, old: Option<&JsonMap<String, Json>>, new: Option<&JsonMap<String, Json>>) {
        for (key, value) in old.into_iter().flatten() {
            self.child(
                PathElement::field(key),
                map.type_of(key),
                Some(value),
                new.and_then(|new| new.get(key)),
            );
        }
        for (key, value) in new.into_iter().flatten() {
            if old.is_none_or(|old| !old.contains_key(key)) {
                self.child(PathElement::field(key), map.type_of(key), None, Some(value));
            }
        }
    }

    fn list(&mut self, list: &List, old: &[Json], new: &[Json]) {
        let mut items: BTreeMap<PathElement, (Vec<&Json>, Vec<&Json>)> = BTreeMap::new();
        for item in old {
            if let Ok(element) = list_item(self.arena, list, item) {
                items.entry(element).or_default().0.push(item);
            }
        }
        for item in new {
            if let Ok(element) = list_item(self.arena, list, item) {
                items.entry(element).or_default().1.push(item);
            }
        }
        for (element, (old, new)) in items {
            self.items(list, element, &old, &new);
        }
    }

    /// Compares the items with the same path element. There are several only if a list with duplicates was written.
    fn items(&mut self, list: &List, element: PathElement, old: &[&Json], new: &[&Json]) {
        let here = |element: &PathElement, path: &[PathElement]| {
            let mut path = path.to_vec();
            path.push(element.clone());
            path
        };
        match (old, new) {
            ([] | [_], [] | [_]) => {
                self.child(element, list.element, old.first().copied(), new.first().copied());
            }
            ([_, _, ..], [_, _, ..]) => {
                let same =
                    old.len() == new.len() && old.iter().zip(new).all(|(old, new)| values::equal(old, new));
                if !same {
                    self.found.modified.insert(&here(&element, &self.path));
                }
            }
            ([_, _, ..], _) => {
                if let Some(new) = new.first() {
                    self.child(element.clone(), list.element, None, Some(new));
                }
                self.found.removed.insert(&here(&element, &self.path));
            }
            (_, [_, _, ..]) => {
                if let Some(old) = old.first() {
                    self.child(element.clone(), list.element, Some(old), None);
                }
                self.found.added.insert(&here(&element, &self.path));
            }
        }
    }
}
