//! How lists are merged: `mergeSlice` and what it needs.

use super::order::{self, Items};
use super::{
    BAD_ELEMENT_ORDER, BAD_PRIMITIVE_LIST, DIRECTIVE, ELEMENT_ORDER, FieldMeta, Merger, Wrong, parallel_to,
    without_directives,
};
use crate::types::TypeId;
use crate::values;
use serde_json::{Map, Value as Json};

impl Merger<'_> {
    /// Merges a list, or replaces it if its type does not say that it is merged.
    pub(super) fn list(
        &self,
        old: Vec<Json>,
        patch: Vec<Json>,
        meta: &FieldMeta<'_>,
    ) -> Result<Vec<Json>, Wrong> {
        if meta.strategy != "merge" {
            return Ok(patch);
        }
        if old.is_empty() && patch.is_empty() {
            return Ok(old);
        }
        let items = Items::by(meta.merge_key);
        if !of_maps(&[&old, &patch])? {
            let merged = without_duplicates(old.iter().chain(&patch));
            let (of_patch, of_server) = order::partition(merged, &patch, &items)?;
            return order::normalize(of_patch, of_server, &patch, &old, &Items::Scalars);
        }
        if meta.merge_key.is_empty() {
            return Err(Wrong::Other(
                "cannot merge lists without merge key for struct".to_owned(),
            ));
        }
        let (old, patch) = special_items(old, patch, meta.merge_key)?;
        let merged = self.items(old.clone(), &patch, meta)?;
        let (of_patch, of_server) = order::partition(merged, &patch, &items)?;
        order::normalize(of_patch, of_server, &patch, &old, &items)
    }

    fn items(&self, mut old: Vec<Json>, patch: &[Json], meta: &FieldMeta<'_>) -> Result<Vec<Json>, Wrong> {
        for item in patch {
            let map = as_map(item)?;
            let key = map
                .get(meta.merge_key)
                .ok_or_else(|| Wrong::no_merge_key(map, meta.merge_key))?;
            match order::find(&old, meta.merge_key, key)? {
                Some(at) => {
                    let existing = old[at].as_object().cloned().unwrap_or_default();
                    old[at] = Json::Object(self.map(existing, map.clone(), meta.type_)?);
                }
                None => old.push(item.clone()),
            }
        }
        Ok(old)
    }

    /// Merges the lists for which the patch says in which order the items are to be, and removes them from the patch.
    pub(super) fn ordered_lists(
        &self,
        object: &mut Map<String, Json>,
        patch: &mut Map<String, Json>,
        id: TypeId,
    ) -> Result<(), Wrong> {
        let directives: Vec<String> = patch
            .keys()
            .filter(|key| key.starts_with(ELEMENT_ORDER))
            .cloned()
            .collect();
        for directive in directives {
            let Some(wanted) = patch.shift_remove(&directive) else {
                continue;
            };
            let wanted = into_list(wanted)?;
            let key = parallel_to(&directive, ELEMENT_ORDER).ok_or(BAD_ELEMENT_ORDER)?;
            let old = object.get(key).cloned().map(into_list).transpose()?;
            let new = patch.get(key).cloned().map(into_list).transpose()?;
            let meta = self.list_field(id, key)?;
            order::check(new.as_deref().unwrap_or_default(), &wanted, meta.merge_key)?;
            let merged = match (&old, &new) {
                (None, None) => continue,
                (Some(old), None) => old.clone(),
                (None, Some(new)) => new.iter().cloned().filter_map(without_directives).collect(),
                (Some(old), Some(new)) => self.list(old.clone(), new.clone(), &meta)?,
            };
            let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
            let by = Items::by(meta.merge_key);
            let (of_patch, of_server) = order::partition(merged, &wanted, &by)?;
            let by = if of_maps(&[&old, &new])? {
                by
            } else {
                Items::Scalars
            };
            let both = order::normalize(of_patch, of_server, &wanted, &old, &by)?;
            object.insert(key.to_owned(), Json::Array(both));
            patch.shift_remove(key);
        }
        Ok(())
    }
}

/// Removes the items of a list of scalars that a patch deletes.
pub(super) fn delete(items: &mut Vec<Json>, gone: &[Json]) -> Result<(), Wrong> {
    if items.is_empty() && gone.is_empty() {
        return Ok(());
    }
    if of_maps(&[items, gone])? {
        return Err(BAD_PRIMITIVE_LIST);
    }
    items.retain(|item| !gone.contains(item));
    Ok(())
}

fn as_map(item: &Json) -> Result<&Map<String, Json>, Wrong> {
    item.as_object()
        .ok_or_else(|| Wrong::argument("map[string]interface {}", item))
}

fn into_list(value: Json) -> Result<Vec<Json>, Wrong> {
    match value {
        Json::Array(items) => Ok(items),
        other => Err(Wrong::argument("[]interface {}", &other)),
    }
}

/// Whether the items of lists are maps. They all have to be of one type, which is no list.
fn of_maps(lists: &[&[Json]]) -> Result<bool, Wrong> {
    let mut items = lists.iter().copied().flatten();
    let Some(first) = items.next() else {
        return Err(Wrong::Other("no elements in any of the given slices".to_owned()));
    };
    if first.is_array() {
        return Err(Wrong::ListOfLists);
    }
    if items.any(|item| values::go_type(item) != values::go_type(first)) {
        let lists: Vec<Json> = lists.iter().map(|list| Json::from(list.to_vec())).collect();
        let lists = values::plain(&Json::from(lists));
        return Err(Wrong::Other(format!(
            "list element types are not identical: {lists}"
        )));
    }
    Ok(first.is_object())
}

fn without_duplicates<'a>(items: impl Iterator<Item = &'a Json>) -> Vec<Json> {
    let mut out = Vec::new();
    for item in items {
        if !out.contains(item) {
            out.push(item.clone());
        }
    }
    out
}

/// Obeys the directives in the items of a patch: the old list without what they delete, and the patch without them.
fn special_items(
    mut old: Vec<Json>,
    patch: Vec<Json>,
    merge_key: &str,
) -> Result<(Vec<Json>, Vec<Json>), Wrong> {
    let mut plain = Vec::new();
    let mut replace = false;
    for item in patch {
        let map = as_map(&item)?;
        let Some(directive) = map.get(DIRECTIVE) else {
            plain.push(item);
            continue;
        };
        match directive.as_str() {
            Some("delete") => {
                let key = map
                    .get(merge_key)
                    .ok_or_else(|| Wrong::no_merge_key(map, merge_key))?;
                while let Some(at) = order::find(&old, merge_key, key)? {
                    old.remove(at);
                }
            }
            Some("replace") => replace = true,
            Some("merge") => {
                return Err(Wrong::Other(
                    "merging lists cannot yet be specified in the patch".to_owned(),
                ));
            }
            _ => return Err(Wrong::directive(directive, map)),
        }
    }
    Ok(if replace {
        (plain, Vec::new())
    } else {
        (old, plain)
    })
}
