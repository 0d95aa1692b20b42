//! Types from OpenAPI schemas, after `ToSchemaFromOpenAPI` of `k8s.io/kube-openapi/pkg/schemaconv/openapi.go`.

use super::{
    Arena, Atom, Field, GroupVersionKind, List, ListKind, Map, PatchMeta, Scalar, Type, TypeId, Types,
};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::sync::Arc;

const QUANTITY: &str = "io.k8s.apimachinery.pkg.api.resource.Quantity";
const RAW_EXTENSION: &str = "io.k8s.apimachinery.pkg.runtime.RawExtension";
const PRESERVE_UNKNOWN_FIELDS: &str = "x-kubernetes-preserve-unknown-fields";

/// The schemas of documents by name.
pub(super) type Components<'a> = BTreeMap<&'a str, &'a Json>;

/// The types of all kinds in the documents.
pub(super) fn read(documents: &[Json]) -> Types {
    let components = components(documents);
    let (arena, names) = arena(&components);
    let arena = Arc::new(arena);
    let empty = Arc::new(Json::Null);
    let mut kinds = BTreeMap::new();
    for (name, schema) in &components {
        for kind in kinds_of(schema) {
            let of_kind = Type {
                arena: Arc::clone(&arena),
                root: names[name],
                empty: Arc::clone(&empty),
                versions: None,
            };
            kinds.insert(kind, of_kind);
        }
    }
    Types {
        kinds: Arc::new(kinds),
    }
}

/// The schemas in the documents.
pub(super) fn components(documents: &[Json]) -> Components<'_> {
    let schemas = documents
        .iter()
        .filter_map(|document| document.pointer("/components/schemas")?.as_object());
    schemas
        .flatten()
        .map(|(name, schema)| (name.as_str(), schema))
        .collect()
}

/// The types of the schemas, and their indexes.
pub(super) fn arena<'a>(components: &Components<'a>) -> (Arena, BTreeMap<&'a str, TypeId>) {
    let mut arena = Arena::new();
    let names: BTreeMap<&str, TypeId> = components.keys().map(|name| (*name, arena.reserve())).collect();
    let mut reader = Reader {
        names: &names,
        arena,
        overrides: Vec::new(),
    };
    for (name, schema) in components {
        let atom = match *name {
            QUANTITY => Atom {
                scalar: Some(Scalar::Untyped),
                ..Atom::default()
            },
            RAW_EXTENSION => reader.arena.atom(Arena::ATOMIC).clone(),
            _ => {
                let mut atom = reader.atom(schema, false);
                if let Some(map) = &mut atom.map {
                    map.name = name.rsplit('.').next().unwrap_or_default().to_owned();
                }
                atom
            }
        };
        reader.arena.atoms[names[name].0] = atom;
    }
    (reader.finish(), names)
}

struct Reader<'a> {
    names: &'a BTreeMap<&'a str, TypeId>,
    arena: Arena,
    /// References that change whether the referenced type is atomic. They are applied at the end, because that type may
    /// not be read before.
    overrides: Vec<Override>,
}

struct Override {
    id: TypeId,
    refers_to: TypeId,
    atomic: bool,
}

impl Reader<'_> {
    fn finish(mut self) -> Arena {
        for Override {
            id,
            refers_to,
            atomic,
        } in self.overrides
        {
            let mut atom = self.arena.atom(refers_to).clone();
            match (&mut atom.map, &mut atom.list) {
                (Some(map), _) => map.atomic = atomic,
                (None, Some(list)) if atomic => list.kind = ListKind::Atomic,
                _ => {}
            }
            self.arena.atoms[id.0] = atom;
        }
        self.arena
    }

    /// `preserve` is whether an outer schema preserves unknown fields.
    fn atom(&mut self, schema: &Json, preserve: bool) -> Atom {
        let preserve = preserve || schema[PRESERVE_UNKNOWN_FIELDS] == true;
        let scalar = |scalar| Atom {
            scalar: Some(scalar),
            ..Atom::default()
        };
        match schema["type"].as_str().unwrap_or_default() {
            "object" => Atom {
                map: Some(self.map(schema, preserve)),
                ..Atom::default()
            },
            "array" => Atom {
                list: Some(self.list(schema, preserve)),
                ..Atom::default()
            },
            "integer" | "number" => scalar(Scalar::Numeric),
            "boolean" => scalar(Scalar::Boolean),
            "string" => match schema["format"].as_str().unwrap_or_default() {
                // Bytes are also encoded as a string.
                "" | "byte" => scalar(Scalar::String),
                _ => scalar(Scalar::Untyped),
            },
            "" => Atom {
                scalar: Some(Scalar::Untyped),
                list: Some(self.list(schema, preserve)),
                map: Some(self.map(schema, preserve)),
            },
            _ => scalar(Scalar::Untyped),
        }
    }

    fn map(&mut self, schema: &Json, preserve: bool) -> Map {
        let mut fields = BTreeMap::new();
        for (name, member) in schema["properties"].as_object().into_iter().flatten() {
            let field = Field {
                type_: self.reference(member, preserve),
                default: member
                    .get("default")
                    .filter(|default| !default.is_null())
                    .cloned(),
                patch: patch_meta(member),
            };
            fields.insert(name.clone(), field);
        }
        let element = match schema.get("additionalProperties") {
            // An object whose schema declares no fields may have any.
            None if preserve || fields.is_empty() => Arena::DEDUCED,
            None | Some(Json::Bool(false)) => Arena::NOTHING,
            Some(Json::Bool(true)) => Arena::DEDUCED,
            Some(values) => self.reference(values, preserve),
        };
        Map {
            name: String::new(),
            fields,
            element,
            atomic: schema["x-kubernetes-map-type"] == "atomic",
        }
    }

    fn list(&mut self, schema: &Json, preserve: bool) -> List {
        let element = match schema.get("items") {
            Some(items) => self.reference(items, preserve),
            None => Arena::ATOMIC,
        };
        List {
            element,
            kind: list_kind(schema),
        }
    }

    /// The type of a subschema, which often only refers to another schema.
    fn reference(&mut self, schema: &Json, preserve: bool) -> TypeId {
        let Some(name) = referred(schema) else {
            let atom = self.atom(schema, preserve);
            return self.arena.add(atom);
        };
        let Some(refers_to) = self.names.get(name).copied() else {
            return Arena::NOTHING;
        };
        let atomic = match schema["x-kubernetes-map-type"].as_str() {
            Some("atomic") => true,
            Some("granular") => false,
            _ => return refers_to,
        };
        let id = self.arena.reserve();
        self.overrides.push(Override {
            id,
            refers_to,
            atomic,
        });
        id
    }
}

/// The name of the schema to which this one refers. Beside a default, the reference has to be in an `allOf` with one
/// item.
pub(crate) fn referred(schema: &Json) -> Option<&str> {
    let alone = schema.get("$ref");
    let reference = alone.or_else(|| match schema["allOf"].as_array().map(Vec::as_slice) {
        Some([one]) => one.get("$ref"),
        _ => None,
    });
    reference?.as_str()?.rsplit('/').next()
}

fn list_kind(schema: &Json) -> ListKind {
    let texts = |value: &Json| -> Vec<String> {
        let texts = value.as_array().into_iter().flatten().filter_map(Json::as_str);
        texts.map(str::to_owned).collect()
    };
    match schema["x-kubernetes-list-type"].as_str() {
        Some("set") => return ListKind::Set,
        Some("map") => return ListKind::Map(texts(&schema["x-kubernetes-list-map-keys"])),
        Some(_) => return ListKind::Atomic,
        None => {}
    }
    match (
        schema["x-kubernetes-patch-strategy"].as_str(),
        schema["x-kubernetes-patch-merge-key"].as_str(),
    ) {
        (Some("merge" | "merge,retainKeys"), Some(key)) => ListKind::Map(vec![key.to_owned()]),
        (Some("merge" | "merge,retainKeys"), None) => ListKind::Set,
        _ => ListKind::Atomic,
    }
}

fn patch_meta(schema: &Json) -> PatchMeta {
    let strategies = schema["x-kubernetes-patch-strategy"].as_str().unwrap_or_default();
    let merge_key = schema["x-kubernetes-patch-merge-key"]
        .as_str()
        .unwrap_or_default();
    PatchMeta {
        strategies: strategies.split(',').map(str::to_owned).collect(),
        merge_key: merge_key.to_owned(),
    }
}

fn kinds_of(schema: &Json) -> impl Iterator<Item = GroupVersionKind> + '_ {
    let listed = schema["x-kubernetes-group-version-kind"]
        .as_array()
        .into_iter()
        .flatten();
    listed.filter_map(|kind| {
        let text = |key: &str| kind[key].as_str().map(str::to_owned);
        Some(GroupVersionKind {
            group: text("group")?,
            version: text("version")?,
            kind: text("kind")?,
        })
    })
}
