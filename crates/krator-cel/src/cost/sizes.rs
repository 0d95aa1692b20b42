//! The bounds of the sizes of values with a schema.

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::range::Range;
use crate::Path;
use crate::decl_type::{DeclType, ObjectType, Shape};

/// The sizes of values with a schema.
pub(super) struct Sizes<'a> {
    pub(super) root: &'a DeclType,
    pub(super) path: &'a Path,
    /// A part of the schema that is treated as bounded, to estimate the effect of a bound.
    pub(super) as_if_bounded: Option<&'a Path>,
    /// The unbounded parts whose size was requested.
    pub(super) unbounded: RefCell<BTreeSet<Path>>,
}

impl<'a> Sizes<'a> {
    /// The range of the size of the value at a path from a variable.
    pub(super) fn at(&self, path: &[String]) -> Option<Range> {
        let (_, steps) = path.split_first()?;
        let mut declared = self.root;
        let mut place = self.path.clone();
        let mut is_key = false;
        for step in steps {
            match (&**step, &declared.shape) {
                _ if is_key => return None,
                ("@items" | "@values", Shape::List(of, _)) => {
                    place = place.field("items");
                    declared = of;
                }
                ("@items" | "@values", Shape::Map(of)) => {
                    place = place.field("additionalProperties");
                    declared = of;
                }
                // The API server has no bounds for keys, and assumes that they are empty.
                ("@keys", Shape::Map(_)) => is_key = true,
                (name, Shape::Object(ObjectType { fields, .. })) => {
                    let field = fields.get(name)?;
                    place = place.field("properties").key(&field.name);
                    declared = &field.declared;
                }
                _ => return None,
            }
        }
        if is_key {
            return Some(Range::fixed(0));
        }
        if !declared.bounded {
            if self.as_if_bounded == Some(&place) {
                return Some(Range::new(0, 1));
            }
            self.unbounded.borrow_mut().insert(place);
        }
        Some(Range::new(
            0,
            u64::try_from(declared.max_elements).unwrap_or(u64::MAX),
        ))
    }
}
