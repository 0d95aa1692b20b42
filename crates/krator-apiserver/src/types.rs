//! The types of objects for merges, after `schema/elements.go` of structured-merge-diff: which values are leaves, which
//! lists are sets or maps with keys, and where unknown fields are allowed. Types refer to each other by number in an
//! arena, because some are recursive. They are created from OpenAPI documents, as by
//! `k8s.io/kube-openapi/pkg/schemaconv`.

mod openapi;
mod custom;

pub(crate) use openapi::referred;

use crate::conversion::Converter;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The types of the kinds in OpenAPI documents.
#[derive(Debug, Clone, Default)]
pub struct Types {
    kinds: Arc<BTreeMap<GroupVersionKind, Type>>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct GroupVersionKind {
    group: String,
    version: String,
    kind: String,
}

impl Types {
    /// The types in OpenAPI v3 documents, such as `/openapi/v3/apis/apps/v1` of an API server. A schema that occurs in
    /// several documents must be the same in all of them. Kinds are found by `x-kubernetes-group-version-kind`.
    pub fn from_openapi(documents: &[Json]) -> Self {
        openapi::read(documents)
    }

    /// The type of a kind.
    pub fn find(&self, group: &str, version: &str, kind: &str) -> Option<&Type> {
        self.kinds.get(&GroupVersionKind {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
        })
    }
}

/// The type of the objects of a kind in one of its versions. Clones are cheap.
#[derive(Debug, Clone)]
pub struct Type {
    arena: Arc<Arena>,
    root: TypeId,
    empty: Arc<Json>,
    versions: Option<Arc<Versions>>,
}

/// The versions of a custom resource.
#[derive(Debug)]
struct Versions {
    /// The types by `apiVersion`.
    types: BTreeMap<String, Type>,
    converter: Converter,
}

impl Type {
    /// The type of a custom resource, with or without a schema. With a schema, `metadata` is always ObjectMeta.
    pub fn of_custom_resource(schema: Option<&Json>) -> Self {
        custom::read(schema)
    }

    /// Adds the types of all versions of the definition, by `apiVersion`, and their converter. They are needed because
    /// field managers may have written in other versions.
    #[must_use]
    pub(crate) fn with_versions(self, types: BTreeMap<String, Type>, converter: Converter) -> Self {
        Self {
            versions: Some(Arc::new(Versions { types, converter })),
            ..self
        }
    }

    /// The type of a builtin kind; `empty` is the result of [`empty`](Self::empty).
    #[must_use]
    pub fn with_empty(self, empty: Json) -> Self {
        Self {
            empty: Arc::new(empty),
            ..self
        }
    }

    /// The empty object of this type, without `apiVersion` and `kind`, from which a creation starts: for builtin kinds
    /// it has the empty fields that Go encodes, and for custom resources none.
    pub fn empty(&self) -> &Json {
        &self.empty
    }

    /// An object in another version, with its type there. There is none for other versions of builtin kinds, whose
    /// field managers the API server drops; custom resources are converted.
    ///
    /// # Errors
    ///
    /// If the conversion fails.
    pub(crate) fn convert(&self, object: &Json, to: &str) -> Result<Option<(Json, &Type)>, String> {
        let Some(versions) = &self.versions else {
            return Ok(None);
        };
        let converted = versions.converter.convert(object, to)?;
        Ok(versions.types.get(to).map(|type_| (converted, type_)))
    }

    pub(crate) fn arena(&self) -> &Arena {
        &self.arena
    }

    pub(crate) fn root(&self) -> TypeId {
        self.root
    }
}

/// The index of a type in an [`Arena`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TypeId(usize);

/// All types of a set of documents.
#[derive(Debug)]
pub(crate) struct Arena {
    atoms: Vec<Atom>,
}

impl Arena {
    /// The type without values, which undeclared fields have.
    pub(crate) const NOTHING: TypeId = TypeId(0);
    /// The type of values that are always leaves.
    const ATOMIC: TypeId = TypeId(1);
    /// The type of values that are merged by their JSON type: maps by key, all others as leaves.
    const DEDUCED: TypeId = TypeId(2);

    fn new() -> Self {
        let leaves = |element, atomic| Atom {
            scalar: Some(Scalar::Untyped),
            list: Some(List {
                element: Self::ATOMIC,
                kind: ListKind::Atomic,
            }),
            map: Some(Map {
                name: String::new(),
                fields: BTreeMap::new(),
                element,
                atomic,
            }),
        };
        Self {
            atoms: vec![
                Atom::default(),
                leaves(Self::ATOMIC, true),
                leaves(Self::DEDUCED, false),
            ],
        }
    }

    /// Adds a placeholder for a type that is defined later.
    fn reserve(&mut self) -> TypeId {
        self.add(Atom::default())
    }

    fn add(&mut self, atom: Atom) -> TypeId {
        self.atoms.push(atom);
        TypeId(self.atoms.len() - 1)
    }

    pub(crate) fn atom(&self, id: TypeId) -> &Atom {
        &self.atoms[id.0]
    }
}

/// The forms of values of a type: at least one of a scalar, a list and a map.
#[derive(Debug, Clone, Default)]
pub(crate) struct Atom {
    pub(crate) scalar: Option<Scalar>,
    pub(crate) list: Option<List>,
    pub(crate) map: Option<Map>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scalar {
    Numeric,
    String,
    Boolean,
    Untyped,
}

#[derive(Debug, Clone)]
pub(crate) struct List {
    pub(crate) element: TypeId,
    pub(crate) kind: ListKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ListKind {
    /// The list is a leaf.
    Atomic,
    /// The items are unique scalars.
    Set,
    /// The items are maps, which are unique by the values of these keys.
    Map(Vec<String>),
}

#[derive(Debug, Clone)]
pub(crate) struct Map {
    /// The name of the Go type, if there is one.
    pub(crate) name: String,
    pub(crate) fields: BTreeMap<String, Field>,
    /// The type of the values that are not in `fields`; [`Arena::NOTHING`] if there are none.
    pub(crate) element: TypeId,
    /// Whether the map is a leaf.
    pub(crate) atomic: bool,
}

impl Map {
    /// The type of a value in the map.
    pub(crate) fn type_of(&self, key: &str) -> TypeId {
        self.fields.get(key).map_or(self.element, |field| field.type_)
    }

    /// Whether no fields are declared and the values are merged by their JSON type. The adaptation to a changed schema
    /// skips such a map, even if `x-kubernetes-map-type` makes it atomic.
    pub(crate) fn is_deduced(&self) -> bool {
        self.element == Arena::DEDUCED && self.fields.is_empty()
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) type_: TypeId,
    /// The default of a key of list items.
    pub(crate) default: Option<Json>,
    pub(crate) patch: PatchMeta,
}

/// How strategic merge patches treat a field.
#[derive(Debug, Clone, Default)]
pub(crate) struct PatchMeta {
    pub(crate) strategies: Vec<String>,
    pub(crate) merge_key: String,
}

/// The forms of a value that remain for its type, after `deduceAtom`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deduced<'a> {
    scalar: Option<Scalar>,
    list: Option<&'a List>,
    map: Option<&'a Map>,
}

/// How a value is merged.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape<'a> {
    Map(&'a Map),
    Scalar(Scalar),
    List(&'a List),
    /// No value has this type.
    Nothing,
}

impl Atom {
    /// Narrows the type to the form of the value. A value that is `null`, absent or of no allowed form does not narrow
    /// it.
    pub(crate) fn deduce(&self, value: Option<&Json>) -> Deduced<'_> {
        let mut deduced = Deduced {
            scalar: self.scalar,
            list: self.list.as_ref(),
            map: self.map.as_ref(),
        };
        match value {
            Some(Json::Number(_) | Json::String(_) | Json::Bool(_)) if self.scalar.is_some() => {
                (deduced.list, deduced.map) = (None, None);
            }
            Some(Json::Array(_)) if self.list.is_some() => (deduced.scalar, deduced.map) = (None, None),
            Some(Json::Object(_)) if self.map.is_some() => (deduced.scalar, deduced.list) = (None, None),
            _ => {}
        }
        deduced
    }
}

impl<'a> Deduced<'a> {
    /// Whether both have the same forms of values.
    pub(crate) fn agrees(&self, other: &Self) -> bool {
        let kinds = |of: &Self| (of.scalar.is_some(), of.list.is_some(), of.map.is_some());
        kinds(self) == kinds(other)
    }

    pub(crate) fn shape(&self) -> Shape<'a> {
        match (self.map, self.scalar, self.list) {
            (Some(map), _, _) => Shape::Map(map),
            (None, Some(scalar), _) => Shape::Scalar(scalar),
            (None, None, Some(list)) => Shape::List(list),
            (None, None, None) => Shape::Nothing,
        }
    }
}

#[cfg(test)]
mod tests;
