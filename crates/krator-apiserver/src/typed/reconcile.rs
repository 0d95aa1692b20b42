//! Adapts a field set to a changed schema, after `typed/reconcile_schema.go`: an owner of fields in a map or a list
//! that has become atomic owns all of it.

use crate::field_set::{FieldSet, PathElement};
use crate::types::{Arena, ListKind, Shape, Type, TypeId};

/// The field set for the present type.
pub(crate) fn reconcile(type_: &Type, fields: FieldSet) -> FieldSet {
    let mut reconciler = Reconciler {
        arena: type_.arena(),
        path: Vec::new(),
        atomic: FieldSet::default(),
    };
    reconciler.visit(type_.root(), Some(&fields), false);
    if reconciler.atomic.is_empty() {
        return fields;
    }
    fields
        .recursive_difference(&reconciler.atomic)
        .union(reconciler.atomic)
}

struct Reconciler<'a> {
    arena: &'a Arena,
    path: Vec<PathElement>,
    /// The maps and lists that have become atomic.
    atomic: FieldSet,
}

impl Reconciler<'_> {
    /// `leaf` is whether the set has this field and none below it.
    fn visit(&mut self, id: TypeId, fields: Option<&FieldSet>, leaf: bool) {
        match self.arena.atom(id).deduce(None).shape() {
            Shape::Nothing | Shape::Scalar(_) => {}
            Shape::List(list) if !leaf && list.kind == ListKind::Atomic => self.atomic.insert(&self.path),
            Shape::List(list) => self.children(fields, |_| list.element),
            Shape::Map(map) if map.is_deduced() => {}
            Shape::Map(map) if !leaf && map.atomic => {
                if fields.is_some_and(|fields| !fields.is_empty()) {
                    self.atomic.insert(&self.path);
                }
            }
            Shape::Map(map) => self.children(fields, |element| match element {
                PathElement::Field(name) => map.type_of(name),
                _ => map.element,
            }),
        }
    }

    fn children(&mut self, fields: Option<&FieldSet>, type_of: impl Fn(&PathElement) -> TypeId) {
        for (element, member, below) in fields.into_iter().flat_map(FieldSet::top) {
            self.path.push(element.clone());
            self.visit(type_of(element), below, member && below.is_none());
            self.path.pop();
        }
    }
}
