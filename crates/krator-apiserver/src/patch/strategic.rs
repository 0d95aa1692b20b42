//! Strategic merge patches, after `k8s.io/apimachinery/pkg/util/strategicpatch/patch.go`: the types of fields tell
//! which lists are merged and by which key, and directives in the patch say what is deleted, replaced or ordered.

mod lists;
mod order;

use super::{as_patch_map, unprocessable};
use crate::refusal::Refusal;
use crate::types::{Arena, PatchMeta, Shape, Type, TypeId};
use crate::values;
use serde_json::{Map, Value as Json};

const DIRECTIVE: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const DELETE_FROM: &str = "$deleteFromPrimitiveList";
const ELEMENT_ORDER: &str = "$setElementOrder";

/// The object after a strategic merge patch. Only built-in kinds have them; for others the API server answers 415.
///
/// # Errors
/// 400 if the patch is malformed, 422 if it has lists of lists, and 500, as the API server answers, if it does not fit
/// the type of the object.
pub fn strategic_merge_patch(live: &Json, patch: &Json, type_: &Type) -> Result<Json, Refusal> {
    let patch = as_patch_map(patch, "")?.cloned().unwrap_or_default();
    let object = live.as_object().cloned().unwrap_or_default();
    let merger = Merger { arena: type_.arena() };
    merger
        .map(object, patch, type_.root())
        .map(Json::Object)
        .map_err(Wrong::refusal)
}

/// Why a patch cannot be applied.
enum Wrong {
    /// The patch is malformed.
    Format(&'static str),
    ListOfLists,
    /// It does not fit the object.
    Other(String),
}

const BAD_PRIMITIVE_LIST: Wrong = Wrong::Format("invalid patch format of primitive list");
const BAD_RETAIN_KEYS: Wrong = Wrong::Format("invalid patch format of retainKeys");
const BAD_ELEMENT_ORDER: Wrong = Wrong::Format("invalid patch format of setElementOrder list");

impl Wrong {
    fn refusal(self) -> Refusal {
        match self {
            Self::Format(message) => Refusal::bad_request(message),
            Self::ListOfLists => unprocessable(),
            Self::Other(message) => Refusal {
                code: 500,
                reason: "",
                ..Refusal::bad_request(message)
            },
        }
    }

    fn argument(expected: &str, actual: &Json) -> Self {
        let actual = match actual {
            Json::Null => "%!s(<nil>)",
            other => values::go_type(other),
        };
        Self::Other(format!("expected a {expected}, but received a {actual}"))
    }

    fn no_merge_key(map: &Map<String, Json>, key: &str) -> Self {
        let map = values::plain(&Json::Object(map.clone()));
        Self::Other(format!("map: {map} does not contain declared merge key: {key}"))
    }

    fn directive(directive: &Json, map: &Map<String, Json>) -> Self {
        let map = values::plain(&Json::Object(map.clone()));
        Self::Other(format!(
            "unknown patch type: {} in map: {map}",
            values::plain(directive)
        ))
    }
}

/// What is known of a field: its type, and what patches do with it.
struct FieldMeta<'a> {
    type_: TypeId,
    /// `merge`, `replace` or nothing.
    strategy: &'a str,
    merge_key: &'a str,
}

struct Merger<'a> {
    arena: &'a Arena,
}

impl<'a> Merger<'a> {
    fn field(&self, id: TypeId, key: &str) -> Result<FieldMeta<'a>, Wrong> {
        let Shape::Map(map) = self.arena.atom(id).deduce(None).shape() else {
            return Err(not_a_struct("interface"));
        };
        if map.fields.is_empty() && map.element != Arena::NOTHING {
            return Err(not_a_struct("map"));
        }
        let Some(field) = map.fields.get(key) else {
            return Err(Wrong::Other(format!(
                "unable to find api field in struct {} for the json field {key:?}",
                map.name
            )));
        };
        let PatchMeta {
            strategies,
            merge_key,
        } = &field.patch;
        // Whether keys are retained is told by the directive in the patch.
        let mut others = strategies.iter().filter(|strategy| *strategy != "retainKeys");
        Ok(FieldMeta {
            type_: field.type_,
            strategy: others.next().map_or("", String::as_str),
            merge_key,
        })
    }

    /// A field that is a list, with the type of its items.
    fn list_field(&self, id: TypeId, key: &str) -> Result<FieldMeta<'a>, Wrong> {
        let meta = self.field(id, key)?;
        match self.arena.atom(meta.type_).deduce(None).shape() {
            Shape::List(list) => Ok(FieldMeta {
                type_: list.element,
                ..meta
            }),
            _ => Err(Wrong::Other(
                "expected slice or array type, but got: struct".to_owned(),
            )),
        }
    }

    fn map(
        &self,
        mut object: Map<String, Json>,
        mut patch: Map<String, Json>,
        id: TypeId,
    ) -> Result<Map<String, Json>, Wrong> {
        if let Some(directive) = patch.get(DIRECTIVE) {
            return match directive.as_str() {
                Some("replace") => {
                    patch.shift_remove(DIRECTIVE);
                    Ok(patch)
                }
                Some("delete") => Ok(Map::new()),
                _ => Err(Wrong::directive(directive, &patch)),
            };
        }
        retain_keys(&mut object, &mut patch)?;
        self.ordered_lists(&mut object, &mut patch, id)?;
        for (key, value) in patch {
            if key.starts_with(DELETE_FROM) {
                let list = parallel_to(&key, DELETE_FROM).ok_or(BAD_PRIMITIVE_LIST)?;
                self.delete_from_list(&mut object, list, value, id)?;
            } else {
                self.entry(&mut object, key, value, id)?;
            }
        }
        Ok(object)
    }

    fn entry(
        &self,
        object: &mut Map<String, Json>,
        key: String,
        value: Json,
        id: TypeId,
    ) -> Result<(), Wrong> {
        if value.is_null() {
            object.shift_remove(&key);
            return Ok(());
        }
        match (object.get_mut(&key), value) {
            (Some(Json::Object(old)), Json::Object(patch)) => {
                let meta = self.field(id, &key)?;
                let merged = if meta.strategy == "replace" {
                    patch
                } else {
                    self.map(std::mem::take(old), patch, meta.type_)?
                };
                object.insert(key, Json::Object(merged));
            }
            (Some(Json::Array(old)), Json::Array(patch)) => {
                let meta = self.list_field(id, &key)?;
                let merged = self.list(std::mem::take(old), patch, &meta)?;
                object.insert(key, Json::Array(merged));
            }
            (_, value) => match without_directives(without_nulls(value)) {
                Some(value) => {
                    object.insert(key, value);
                }
                None => {
                    object.shift_remove(&key);
                }
            },
        }
        Ok(())
    }

    fn delete_from_list(
        &self,
        object: &mut Map<String, Json>,
        key: &str,
        value: Json,
        id: TypeId,
    ) -> Result<(), Wrong> {
        match (object.get_mut(key), value) {
            (_, Json::Null) => {
                object.shift_remove(key);
                Ok(())
            }
            (Some(Json::Array(items)), Json::Array(gone)) => {
                self.list_field(id, key)?;
                lists::delete(items, &gone)
            }
            (Some(old), gone) if values::go_type(old) == values::go_type(&gone) => Err(BAD_PRIMITIVE_LIST),
            _ => Ok(()),
        }
    }
}

fn not_a_struct(kind: &str) -> Wrong {
    Wrong::Other(format!(
        "merging an object in json but data type is not struct, instead is: {kind}"
    ))
}

/// The name of the list to which a directive such as `$setElementOrder/containers` belongs.
fn parallel_to<'a>(key: &'a str, directive: &str) -> Option<&'a str> {
    key.split_once('/')
        .filter(|(prefix, _)| *prefix == directive)
        .map(|(_, name)| name)
}

/// Removes the fields that `$retainKeys` does not list.
fn retain_keys(object: &mut Map<String, Json>, patch: &mut Map<String, Json>) -> Result<(), Wrong> {
    let Some(directive) = patch.shift_remove(RETAIN_KEYS) else {
        return Ok(());
    };
    let retained = directive.as_array().ok_or(BAD_RETAIN_KEYS)?;
    let is_retained = |key: &str| retained.iter().any(|retained| retained == key);
    let is_field = |key: &str| !key.starts_with(DELETE_FROM) && !key.starts_with(ELEMENT_ORDER);
    if patch
        .iter()
        .any(|(key, value)| !value.is_null() && is_field(key) && !is_retained(key))
    {
        return Err(BAD_RETAIN_KEYS);
    }
    object.retain(|key, _| is_retained(key));
    Ok(())
}

/// A new value without fields that are `null`, in lists too.
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

/// A new value without what directives delete; none if it is a directive itself.
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
