//! The fields of `.spec`, for the rules about API conventions.

use crate::model::{Description, Field, Kind, Schema, Shape, TypeId};
use std::collections::BTreeSet;

/// Every field at and below `.spec`, in the order of the text. Fields of a named type are listed once, regardless of
/// its uses.
pub(super) fn fields<'d>(description: &'d Description, kind: &'d Kind) -> Vec<&'d Field> {
    let mut walk = Walk {
        description,
        seen: BTreeSet::new(),
        fields: Vec::new(),
    };
    walk.below(&kind.spec);
    walk.fields
}

struct Walk<'d> {
    description: &'d Description,
    seen: BTreeSet<TypeId>,
    fields: Vec<&'d Field>,
}

impl<'d> Walk<'d> {
    fn below(&mut self, schema: &'d Schema) {
        match &schema.shape {
            Shape::Object(fields) => {
                for field in fields {
                    self.fields.push(field);
                    self.below(&field.schema);
                }
            }
            Shape::List(inner) | Shape::Map(inner) => self.below(inner),
            Shape::Named(id) if self.seen.insert(*id) => self.below(&self.description.type_(*id).schema),
            _ => {}
        }
    }
}
