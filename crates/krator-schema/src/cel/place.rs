//! The subschemas that may have rules, and the context of each.

use krator_cel::{DeclType, Shape};
use serde_json::Value as Json;

use crate::{Items, Path, Properties, Rule, Schema};

use super::schema_types;

/// A subschema that may have rules, with its context.
#[derive(Debug, Clone)]
pub(super) struct Place<'a> {
    pub(super) schema: &'a Schema,
    pub(super) path: Path,
    /// The outermost list or map whose old and new values cannot be correlated, so that rules below it must not use
    /// `oldSelf`.
    pub(super) uncorrelated: Option<Path>,
    /// The type that is inherited from an outer subschema with rules.
    inherited: Inherited,
    is_root: bool,
    /// The largest number of values at this place; `None` if it is unbounded.
    pub(super) cardinality: Option<u64>,
    /// The unbounded lists and maps around this place.
    pub(super) unbounded: Vec<Path>,
}

#[derive(Debug, Clone)]
enum Inherited {
    /// No outer subschema has rules.
    Nothing,
    Type(DeclType),
    /// An outer subschema with rules has no type, which is an error for this place, too.
    Failed,
}

impl<'a> Place<'a> {
    pub(super) fn root(schema: &'a Schema, path: &Path) -> Self {
        Place {
            schema,
            path: path.clone(),
            uncorrelated: None,
            inherited: Inherited::Nothing,
            is_root: true,
            cardinality: Some(1),
            unbounded: Vec::new(),
        }
    }

    pub(super) fn rules(&self) -> &'a [Rule] {
        self.schema.validations.as_deref().unwrap_or_default()
    }

    /// The type of `self` in the rules of this place.
    pub(super) fn declared(&self) -> Option<DeclType> {
        match &self.inherited {
            Inherited::Type(declared) => Some(declared.clone()),
            Inherited::Nothing => schema_types::declare(
                self.schema,
                schema_types::root_of_resource(self.schema, self.is_root),
            ),
            Inherited::Failed => None,
        }
    }

    pub(super) fn rule_path(&self, index: usize) -> Path {
        self.path.field("x-kubernetes-validations").index(index)
    }

    /// The direct subschemas that may have rules.
    pub(super) fn children(&self) -> Vec<Place<'a>> {
        self.parts().into_iter().map(|(part, _)| part).collect()
    }

    /// The direct subschemas that may have rules, each with the access to its values.
    pub(super) fn parts(&self) -> Vec<(Place<'a>, Below)> {
        let in_scope = !self.rules().is_empty() || !matches!(self.inherited, Inherited::Nothing);
        let declared = if in_scope { self.declared() } else { None };
        let child = |schema: &'a Schema, path: Path, of: Option<&DeclType>, uncorrelated: Option<Path>| {
            let inherited = match (&declared, of) {
                _ if !in_scope => Inherited::Nothing,
                (None, _) => Inherited::Failed,
                (Some(_), Some(of)) => Inherited::Type(of.clone()),
                (Some(_), None) => {
                    match schema_types::declare(schema, schema.embedded_resource == Some(true)) {
                        Some(declared) => Inherited::Type(declared),
                        None => Inherited::Failed,
                    }
                }
            };
            let (cardinality, unbounded) = self.cardinality_below();
            Place {
                schema,
                path,
                uncorrelated: self.uncorrelated.clone().or(uncorrelated),
                inherited,
                is_root: false,
                cardinality,
                unbounded,
            }
        };
        let mut children = Vec::new();
        if let Some(Properties::Schema(values)) = &self.schema.additional_properties {
            let of = match declared.as_ref().map(|declared| &declared.shape) {
                Some(Shape::Map(of)) => Some(&**of),
                _ => None,
            };
            let part = child(values, self.path.field("additionalProperties"), of, None);
            children.push((part, Below::Values));
        }
        let granular = self
            .schema
            .map_type
            .as_deref()
            .is_none_or(|kind| matches!(kind, "granular" | "atomic"));
        for (name, property) in self.schema.properties.iter().flatten() {
            let of = match declared.as_ref().map(|declared| &declared.shape) {
                Some(Shape::Object(object)) => object.declared(name),
                _ => None,
            };
            let uncorrelated = (!granular).then(|| self.path.clone());
            let part = child(
                property,
                self.path.field("properties").key(name),
                of,
                uncorrelated,
            );
            children.push((part, Below::Property(name.clone())));
        }
        if let Some(Items::All(items)) = &self.schema.items {
            let of = match declared.as_ref().map(|declared| &declared.shape) {
                Some(Shape::List(of, _)) => Some(&**of),
                _ => None,
            };
            let is_map = self.schema.list_type.as_deref() == Some("map");
            let part = child(
                items,
                self.path.field("items"),
                of,
                (!is_map).then(|| self.path.clone()),
            );
            let keys = self.schema.list_map_keys.clone();
            children.push((part, Below::Items { keys }));
        }
        children
    }

    fn cardinality_below(&self) -> (Option<u64>, Vec<Path>) {
        let schema = self.schema;
        let factor = match schema.type_.as_deref() {
            Some("object") if schema.additional_properties.is_some() => schema.max_properties,
            Some("array") => schema.max_items,
            _ => Some(1),
        };
        let mut unbounded = self.unbounded.clone();
        let Some(factor) = factor else {
            unbounded.push(self.path.clone());
            return (None, unbounded);
        };
        let factor = u64::try_from(factor).unwrap_or(0);
        (
            self.cardinality
                .map(|cardinality| cardinality.saturating_mul(factor)),
            unbounded,
        )
    }
}

/// The access to the values of a subschema from a value of the outer schema.
#[derive(Debug, Clone)]
pub(super) enum Below {
    Property(String),
    /// All values of a map.
    Values,
    /// All items of a list, and the keys that identify them, if any.
    Items {
        keys: Option<Vec<String>>,
    },
}

impl Below {
    /// Calls a function with the path of each value, the value and, if it is known, the old value.
    pub(super) fn for_each<'v>(
        &self,
        at: &Path,
        value: &'v Json,
        old: Option<&'v Json>,
        mut call: impl FnMut(&Path, &'v Json, Option<&'v Json>),
    ) {
        match self {
            Below::Property(name) => {
                if let Some(value) = value.get(name) {
                    call(&at.field(name), value, old.and_then(|old| old.get(name)));
                }
            }
            Below::Values => {
                for (key, value) in value.as_object().into_iter().flatten() {
                    call(&at.key(key), value, old.and_then(|old| old.get(key)));
                }
            }
            Below::Items { keys } => {
                let old = old.and_then(Json::as_array);
                let same = |item: &Json| {
                    let keys = keys.as_ref()?;
                    let is_same = |other: &&Json| keys.iter().all(|key| other.get(key) == item.get(key));
                    old?.iter().find(is_same)
                };
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    call(&at.index(index), item, same(item));
                }
            }
        }
    }
}
