//! The order of merged lists: `$setElementOrder` comes before the order in the patch, and that before the order in the
//! live object.

use super::{DIRECTIVE, Wrong};
use crate::values;
use serde_json::{Map, Value as Json};
use std::cmp::Ordering;

/// How the items of a list are told apart.
pub(super) enum Items<'a> {
    /// By their value.
    Scalars,
    /// By the value of a key.
    Maps {
        /// The name of the key.
        merge_key: &'a str,
    },
}

impl<'a> Items<'a> {
    /// Lists without a merge key are lists of scalars.
    pub(super) fn by(merge_key: &'a str) -> Self {
        match merge_key {
            "" => Self::Scalars,
            merge_key => Self::Maps { merge_key },
        }
    }

    fn index(&self, items: &[Json], item: &Json) -> Option<usize> {
        items.iter().position(|other| match self {
            Self::Scalars => item == other,
            Self::Maps { merge_key } => item.get(merge_key) == other.get(merge_key),
        })
    }
}

fn is_deleted(item: &Json) -> bool {
    item.get(DIRECTIVE).is_some_and(|directive| directive == "delete")
}

/// The value of the key of an item.
fn key_of<'a>(item: &'a Json, merge_key: &str) -> Result<&'a Json, Wrong> {
    let map: &Map<String, Json> = item
        .as_object()
        .ok_or_else(|| Wrong::argument("map[string]interface {}", item))?;
    map.get(merge_key)
        .ok_or_else(|| Wrong::no_merge_key(map, merge_key))
}

/// Where the item with a key is in a list.
pub(super) fn find(items: &[Json], merge_key: &str, key: &Json) -> Result<Option<usize>, Wrong> {
    for (at, item) in items.iter().enumerate() {
        let map = item
            .as_object()
            .ok_or_else(|| Wrong::Other(format!("value for key {at} is not a map")))?;
        if map.get(merge_key) == Some(key) {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

/// Divides a list into the items that another list has, and the rest.
pub(super) fn partition(
    items: Vec<Json>,
    by: &[Json],
    how: &Items<'_>,
) -> Result<(Vec<Json>, Vec<Json>), Wrong> {
    // Go panics here, and the API server answers 500.
    if matches!(how, Items::Scalars) && items.iter().chain(by).any(Json::is_object) {
        return Err(Wrong::Other(
            "a list of objects without a merge key cannot be ordered".to_owned(),
        ));
    }
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    for item in items {
        let found = match how {
            Items::Scalars => by.contains(&item),
            Items::Maps { merge_key } => find(by, merge_key, key_of(&item, merge_key)?)?.is_some(),
        };
        if found {
            inside.push(item)
        } else {
            outside.push(item)
        }
    }
    Ok((inside, outside))
}

/// Checks that a patch has its items in the wanted order, and no others than those.
pub(super) fn check(patch: &[Json], wanted: &[Json], merge_key: &str) -> Result<(), Wrong> {
    if patch.is_empty() || wanted.is_empty() {
        return Ok(());
    }
    let mut items = patch.iter().filter(|item| !is_deleted(item)).peekable();
    let mut expected = wanted.iter().peekable();
    while let (Some(item), Some(next)) = (items.peek(), expected.peek()) {
        if item.get(DIRECTIVE).is_some() {
            items.next();
            continue;
        }
        let same = match merge_key {
            "" => item == next,
            key => key_of(item, key)? == key_of(next, key)?,
        };
        if same {
            items.next();
        }
        expected.next();
    }
    if items.peek().is_none() {
        return Ok(());
    }
    let text = |items: &[Json]| values::plain(&Json::from(items.to_vec()));
    Err(Wrong::Other(format!(
        "The order in patch list:\n{}\n doesn't match $setElementOrder list:\n{}\n",
        text(patch),
        text(wanted)
    )))
}

/// Puts a list together from the items of the patch, in the order of the patch, and those of the server, in its order.
pub(super) fn normalize(
    of_patch: Vec<Json>,
    of_server: Vec<Json>,
    patch_order: &[Json],
    server_order: &[Json],
    how: &Items<'_>,
) -> Result<Vec<Json>, Wrong> {
    let mut theirs = sorted(of_patch, patch_order, how)?.into_iter().peekable();
    let mut ours = sorted(of_server, server_order, how)?.into_iter().peekable();
    let mut out = Vec::new();
    while let (Some(our), Some(their)) = (ours.peek(), theirs.peek()) {
        let next = match (how.index(server_order, our), how.index(server_order, their)) {
            (Some(our), Some(their)) if our < their => ours.next(),
            _ => theirs.next(),
        };
        out.extend(next);
    }
    out.extend(ours);
    out.extend(theirs);
    Ok(out)
}

fn sorted(mut items: Vec<Json>, order: &[Json], how: &Items<'_>) -> Result<Vec<Json>, Wrong> {
    let mut deleted = Vec::new();
    if let Items::Maps { merge_key } = how {
        for item in items.iter().chain(order) {
            key_of(item, merge_key)?;
        }
        (deleted, items) = items.into_iter().partition(is_deleted);
    }
    items.sort_by(|a, b| match (how.index(order, a), how.index(order, b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => Ordering::Equal,
    });
    items.extend(deleted);
    Ok(items)
}
