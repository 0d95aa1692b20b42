//! The parts of a schema that rules may be in, and what each part's place means for its rules.

use serde_json::Value as Json;

use crate::{Items, Path, Properties, Rule, Schema};

use super::schema_types::{self, Declared, Shape};

/// A part of a schema, with what its place means for its rules.
#[derive(Debug, Clone)]
pub(super) struct Place<'a> {
    pub(super) schema: &'a Schema,
    pub(super) path: Path,
    /// Where old and new values cannot be told apart, so that rules must not compare them.
    pub(super) uncorrelated: Option<Path>,
    /// The type that a rule further up gives to this part.
    inherited: Inherited,
    is_root: bool,
    /// How many values there may be at this place; `None` if nothing bounds them.
    pub(super) cardinality: Option<u64>,
    /// The lists and maps around this place that nothing bounds.
    pub(super) unbounded: Vec<Path>,
}

#[derive(Debug, Clone)]
enum Inherited {
    /// There is no rule further up.
    Nothing,
    Type(Declared),
    /// A rule further up has no type, which is an error for this place, too.
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

    /// The type that rules of this place see.
    pub(super) fn declared(&self) -> Option<Declared> {
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

    /// The parts right below this one that rules may be in.
    pub(super) fn children(&self) -> Vec<Place<'a>> {
        self.parts().into_iter().map(|(part, _)| part).collect()
    }

    /// The parts right below this one that rules may be in, each with how its values are reached.
    pub(super) fn parts(&self) -> Vec<(Place<'a>, Below<'a>)> {
        let in_scope = !self.rules().is_empty() || !matches!(self.inherited, Inherited::Nothing);
        let declared = if in_scope { self.declared() } else { None };
        let child = |schema: &'a Schema, path: Path, of: Option<&Declared>, uncorrelated: Option<Path>| {
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
                Some(Shape::Object(fields)) => {
                    schema_types::escape(name).and_then(|name| Some(&fields.get(&name)?.declared))
                }
                _ => None,
            };
            let uncorrelated = (!granular).then(|| self.path.clone());
            let part = child(
                property,
                self.path.field("properties").key(name),
                of,
                uncorrelated,
            );
            children.push((part, Below::Property(name)));
        }
        if let Some(Items::All(items)) = &self.schema.items {
            let of = match declared.as_ref().map(|declared| &declared.shape) {
                Some(Shape::List(of)) => Some(&**of),
                _ => None,
            };
            let is_map = self.schema.list_type.as_deref() == Some("map");
            let part = child(
                items,
                self.path.field("items"),
                of,
                (!is_map).then(|| self.path.clone()),
            );
            children.push((part, Below::Items));
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

/// How the values of a part are reached from a value of the part around it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Below<'a> {
    Property(&'a str),
    /// All values of a map.
    Values,
    Items,
}

impl Below<'_> {
    /// The values with their paths, each with the one that it replaces, if that can be told.
    pub(super) fn values<'v>(
        &self,
        schema: &Schema,
        at: &Path,
        value: &'v Json,
        old: Option<&'v Json>,
    ) -> Vec<(Path, &'v Json, Option<&'v Json>)> {
        let entries = value.as_object().into_iter().flatten();
        match self {
            Below::Property(name) => {
                let of = |value: &'v Json| value.get(*name);
                let found = of(value).map(|value| (at.field(*name), value, old.and_then(of)));
                found.into_iter().collect()
            }
            Below::Values => {
                let old = |key: &str| old.and_then(|old| old.get(key));
                entries
                    .map(|(key, value)| (at.key(key), value, old(key)))
                    .collect()
            }
            Below::Items => {
                let items = value.as_array().into_iter().flatten().enumerate();
                let old = old.and_then(Json::as_array);
                let same = |item: &Json| {
                    let keys = schema.list_map_keys.as_ref()?;
                    let is_same = |other: &&Json| keys.iter().all(|key| other.get(key) == item.get(key));
                    old?.iter().find(is_same)
                };
                items
                    .map(|(index, item)| (at.index(index), item, same(item)))
                    .collect()
            }
        }
    }
}
