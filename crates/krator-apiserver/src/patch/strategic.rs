//! Strategic merge patches, after `k8s.io/apimachinery/pkg/util/strategicpatch/patch.go`: the types of fields determine
//! which lists are merged and by which key, and directives in the patch delete, replace or order values.

use super::{as_patch_map, unprocessable};
use crate::refusal::Refusal;
use crate::types::{Arena, PatchMeta, Shape, Type, TypeId};
use crate::values::plain;
use serde_json::{Map, Value as Json};

const DIRECTIVE: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const DELETE_FROM: &str = "$deleteFromPrimitiveList/";
const ELEMENT_ORDER: &str = "$setElementOrder/";

/// The object after a strategic merge patch. Only builtin kinds accept it; for others the API server answers 415.
///
/// # Errors
/// 400 if the patch is malformed, 422 if it has lists of lists, and 500, as from the API server, if it does not fit the
/// type of the object.
pub fn strategic_merge_patch(live: &Json, patch: &Json, type_: &Type) -> Result<Json, Refusal> {
    let patch = as_patch_map(patch, "")?.cloned().unwrap_or_default();
    let object = live.as_object().cloned().unwrap_or_default();
    let merger = Merger { arena: type_.arena() };
    merger.map(object, patch, type_.root()).map(Json::Object)
}

/// The refusal of a patch that does not fit the object.
fn wrong(message: impl Into<String>) -> Refusal {
    Refusal::failed(message)
}

fn bad_retain_keys() -> Refusal {
    Refusal::bad_request("invalid patch format of retainKeys")
}

fn unknown_directive(map: &Json) -> Refusal {
    let directive = plain(&map[DIRECTIVE]);
    wrong(format!("unknown patch type: {directive} in map: {}", plain(map)))
}

/// The items of a directive's list.
fn items(directive: Json, name: &str) -> Result<Vec<Json>, Refusal> {
    match directive {
        Json::Array(items) => Ok(items),
        _ => Err(Refusal::bad_request(format!("invalid patch format of {name}"))),
    }
}

/// The type of a field, and how patches merge it.
struct FieldMeta<'a> {
    type_: TypeId,
    /// `merge`, `replace` or empty.
    strategy: &'a str,
    merge_key: &'a str,
}

struct Merger<'a> {
    arena: &'a Arena,
}

impl<'a> Merger<'a> {
    fn field(&self, id: TypeId, key: &str) -> Result<FieldMeta<'a>, Refusal> {
        let Shape::Map(map) = self.arena.atom(id).deduce(None).shape() else {
            return Err(not_a_struct("interface"));
        };
        if map.fields.is_empty() && map.element != Arena::NOTHING {
            return Err(not_a_struct("map"));
        }
        let Some(field) = map.fields.get(key) else {
            return Err(wrong(format!(
                "unable to find api field in struct {} for the json field {key:?}",
                map.name
            )));
        };
        let PatchMeta {
            strategies,
            merge_key,
        } = &field.patch;
        // The directive in the patch determines whether keys are retained.
        let mut others = strategies.iter().filter(|strategy| *strategy != "retainKeys");
        Ok(FieldMeta {
            type_: field.type_,
            strategy: others.next().map_or("", String::as_str),
            merge_key,
        })
    }

    /// A list field, with the type of its items.
    fn list_field(&self, id: TypeId, key: &str) -> Result<FieldMeta<'a>, Refusal> {
        let meta = self.field(id, key)?;
        match self.arena.atom(meta.type_).deduce(None).shape() {
            Shape::List(list) => Ok(FieldMeta {
                type_: list.element,
                ..meta
            }),
            _ => Err(wrong("expected slice or array type, but got: struct")),
        }
    }

    fn map(
        &self,
        mut object: Map<String, Json>,
        mut patch: Map<String, Json>,
        id: TypeId,
    ) -> Result<Map<String, Json>, Refusal> {
        match patch.get(DIRECTIVE).map(Json::as_str) {
            None => {}
            Some(Some("replace")) => {
                patch.shift_remove(DIRECTIVE);
                return Ok(patch);
            }
            Some(Some("delete")) => return Ok(Map::new()),
            Some(_) => return Err(unknown_directive(&Json::Object(patch))),
        }
        retain_keys(&mut object, &mut patch)?;
        let (orders, patch): (Map<_, _>, Map<_, _>) = patch
            .into_iter()
            .partition(|(key, _)| key.starts_with(ELEMENT_ORDER));
        for (key, value) in patch {
            if let Some(list) = key.strip_prefix(DELETE_FROM) {
                let gone = items(value, "primitive list")?;
                if let Some(Json::Array(items)) = object.get_mut(list) {
                    items.retain(|item| !gone.contains(item));
                }
            } else if key.starts_with('$') {
                return Err(Refusal::bad_request("invalid patch format of primitive list"));
            } else {
                let order = orders.get(&format!("{ELEMENT_ORDER}{key}"));
                self.entry(&mut object, key, value, order.and_then(Json::as_array), id)?;
            }
        }
        for (directive, wanted) in orders {
            let wanted = items(wanted, "setElementOrder list")?;
            let list = directive.trim_start_matches(ELEMENT_ORDER);
            let meta = self.list_field(id, list)?;
            if let Some(Json::Array(items)) = object.get_mut(list) {
                *items = ordered(items.clone(), &wanted, items, meta.merge_key);
            }
        }
        Ok(object)
    }

    fn entry(
        &self,
        object: &mut Map<String, Json>,
        key: String,
        value: Json,
        order: Option<&Vec<Json>>,
        id: TypeId,
    ) -> Result<(), Refusal> {
        let value = match (object.get_mut(&key), value) {
            (_, Json::Null) => None,
            (Some(Json::Object(old)), Json::Object(patch)) => {
                let meta = self.field(id, &key)?;
                Some(Json::Object(match meta.strategy {
                    "replace" => patch,
                    _ => self.map(std::mem::take(old), patch, meta.type_)?,
                }))
            }
            (Some(Json::Array(old)), Json::Array(patch)) => {
                let meta = self.list_field(id, &key)?;
                Some(Json::Array(self.list(old, patch, order, &meta)?))
            }
            (_, value) => without_directives(without_nulls(value)),
        };
        match value {
            Some(value) => object.insert(key, value),
            None => object.shift_remove(&key),
        };
        Ok(())
    }

    /// Merges a list, or replaces it if its type does not have the strategy `merge`.
    fn list(
        &self,
        old: &[Json],
        patch: Vec<Json>,
        order: Option<&Vec<Json>>,
        meta: &FieldMeta<'_>,
    ) -> Result<Vec<Json>, Refusal> {
        if meta.strategy != "merge" {
            return Ok(patch);
        }
        if old.iter().chain(&patch).any(Json::is_array) {
            return Err(unprocessable());
        }
        let key = meta.merge_key;
        let directive = |item: &Json| item.get(DIRECTIVE).cloned();
        let replaces = patch.iter().any(|item| directive(item) == Some("replace".into()));
        let mut merged = if replaces { Vec::new() } else { old.to_vec() };
        let mut patched = Vec::new();
        for item in patch {
            let directive = directive(&item);
            if directive == Some("replace".into()) {
                continue;
            }
            if item.is_object() && item.get(key).is_none() {
                let map = plain(&item);
                return Err(wrong(format!(
                    "map: {map} does not contain declared merge key: {key}"
                )));
            }
            match directive {
                Some(directive) if directive == "delete" => {
                    merged.retain(|other| !is_same(other, &item, key))
                }
                Some(_) => return Err(unknown_directive(&item)),
                None => {
                    match (merged.iter_mut().find(|other| is_same(other, &item, key)), &item) {
                        (Some(Json::Object(old)), Json::Object(patch)) => {
                            *old = self.map(std::mem::take(old), patch.clone(), meta.type_)?;
                        }
                        (Some(_), _) => {}
                        (None, _) => merged.push(item.clone()),
                    }
                    patched.push(item);
                }
            }
        }
        let order = order.unwrap_or(&patched);
        Ok(ordered(merged, order, old, key))
    }
}

/// Whether two items of a list are the same: maps are compared by their merge key, and scalars by their value.
fn is_same(one: &Json, other: &Json, merge_key: &str) -> bool {
    match (one.get(merge_key), other.get(merge_key)) {
        (None, None) => one == other,
        (one, other) => one == other,
    }
}

/// Sorts the items of a list: those in `wanted` have its order, and others precede them if they did so on the server.
fn ordered(items: Vec<Json>, wanted: &[Json], server: &[Json], merge_key: &str) -> Vec<Json> {
    let place = |list: &[Json], item: &Json| list.iter().position(|other| is_same(other, item, merge_key));
    let (mut listed, others): (Vec<Json>, Vec<Json>) =
        items.into_iter().partition(|item| place(wanted, item).is_some());
    listed.sort_by_key(|item| place(wanted, item));
    let mut others = others.into_iter().peekable();
    let mut out = Vec::new();
    for item in listed {
        let at = place(server, &item);
        while let Some(other) = others.next_if(|other| at.is_some() && place(server, other) < at) {
            out.push(other);
        }
        out.push(item);
    }
    out.extend(others);
    out
}

fn not_a_struct(kind: &str) -> Refusal {
    wrong(format!(
        "merging an object in json but data type is not struct, instead is: {kind}"
    ))
}

/// Removes the fields that `$retainKeys` does not list.
fn retain_keys(object: &mut Map<String, Json>, patch: &mut Map<String, Json>) -> Result<(), Refusal> {
    let Some(directive) = patch.shift_remove(RETAIN_KEYS) else {
        return Ok(());
    };
    let retained = directive.as_array().ok_or_else(bad_retain_keys)?;
    let is_retained = |key: &str| retained.iter().any(|retained| retained == key);
    let is_field = |key: &str| !key.starts_with(DELETE_FROM) && !key.starts_with(ELEMENT_ORDER);
    if patch
        .iter()
        .any(|(key, value)| !value.is_null() && is_field(key) && !is_retained(key))
    {
        return Err(bad_retain_keys());
    }
    object.retain(|key, _| is_retained(key));
    Ok(())
}

/// Removes fields that are `null` from a new value, also in lists.
fn without_nulls(value: Json) -> Json {
    match value {
        Json::Object(map) => {
            let fields = map.into_iter().filter(|(_, value)| !value.is_null());
            Json::Object(fields.map(|(key, value)| (key, without_nulls(value))).collect())
        }
        Json::Array(items) => Json::Array(items.into_iter().map(without_nulls).collect()),
        other => other,
    }
}

/// Removes the values that directives delete from a new value; none if it is a directive itself.
fn without_directives(value: Json) -> Option<Json> {
    match value {
        Json::Object(map) if map.contains_key(DIRECTIVE) => None,
        Json::Object(map) => {
            let fields = map
                .into_iter()
                .filter_map(|(key, value)| Some((key, without_directives(value)?)));
            Some(Json::Object(fields.collect()))
        }
        Json::Array(items) => Some(Json::Array(
            items.into_iter().filter_map(without_directives).collect(),
        )),
        other => Some(other),
    }
}
