//! Edits that rename states and kinds.

use super::graph::remove;
use super::{Dice, NOTES, fresh, state, states};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

pub(super) fn rename_state(document: &mut Json, dice: &mut Dice) -> Option<String> {
    let name = dice.pick(&states(document))?.clone();
    let now = fresh(dice, "Renamed");
    rename_states(document, &[(name, now)])
}

pub(super) fn rename_several(document: &mut Json, dice: &mut Dice) -> Option<String> {
    let names = some_states(document, dice, 2)?;
    let renames: Vec<(String, String)> = names
        .into_iter()
        .map(|name| (name, fresh(dice, "Renamed")))
        .collect();
    rename_states(document, &renames)
}

pub(super) fn rename_in_chain(document: &mut Json, dice: &mut Dice) -> Option<String> {
    let names = some_states(document, dice, 2)?;
    let last = fresh(dice, "Renamed");
    let to = names.iter().skip(1).cloned().chain([last]);
    let renames: Vec<(String, String)> = names.iter().cloned().zip(to).collect();
    rename_states(document, &renames)
}

pub(super) fn swap_states(document: &mut Json, dice: &mut Dice) -> Option<String> {
    rotate(document, dice, 2)
}

pub(super) fn rotate_states(document: &mut Json, dice: &mut Dice) -> Option<String> {
    rotate(document, dice, 3)
}

fn rotate(document: &mut Json, dice: &mut Dice, count: usize) -> Option<String> {
    let names = some_states(document, dice, count)?;
    let to = names.iter().cycle().skip(1).cloned();
    let renames: Vec<(String, String)> = names.iter().cloned().zip(to).collect();
    rename_states(document, &renames)
}

pub(super) fn rename_onto_removed(document: &mut Json, dice: &mut Dice) -> Option<String> {
    let names = some_states(document, dice, 2)?;
    if is_said_already(document, &names[0], &names[1]) {
        return None;
    }
    remove(document, &names[1]);
    rename_states(document, &[(names[0].clone(), names[1].clone())])
}

pub(super) fn rename_kind_and_states(document: &mut Json, dice: &mut Dice) -> Option<String> {
    let kind = rename_kind(document, dice)?;
    let states = match dice.below(2) {
        0 => rename_in_chain(document, dice)?,
        _ => swap_states(document, dice)?,
    };
    Some(format!("{kind}, {states}"))
}

pub(super) fn rename_kinds(documents: &mut [Json], dice: &mut Dice) -> Option<String> {
    if documents.len() < 2 {
        return None;
    }
    let kinds = documents.iter_mut().map(|document| rename_kind(document, dice));
    Some(kinds.collect::<Option<Vec<String>>>()?.join(", "))
}

/// Different random states.
fn some_states(document: &Json, dice: &mut Dice, count: usize) -> Option<Vec<String>> {
    let mut left = states(document);
    let some = (0..count).map(|_| (!left.is_empty()).then(|| left.remove(dice.below(left.len()))));
    some.collect()
}

/// Whether `renamedFrom` has this value before the edit, for example after a swap: then it does not show the purpose of
/// the edit.
fn is_said_already(document: &Json, from: &str, to: &str) -> bool {
    document["states"][to]["renamedFrom"] == json!(from)
}

/// Renames states, all at once, and sets `renamedFrom`, whose former values are lost.
fn rename_states(document: &mut Json, renames: &[(String, String)]) -> Option<String> {
    if renames
        .iter()
        .all(|(from, to)| is_said_already(document, from, to))
    {
        return None;
    }
    let map: BTreeMap<&str, &str> = renames
        .iter()
        .map(|(from, to)| (from.as_str(), to.as_str()))
        .collect();
    if let Some(entries) = document.as_object_mut() {
        entries.shift_remove("properties");
    }
    for name in states(document) {
        state(document, &name).shift_remove("renamedFrom");
    }
    for part in ["machine", "states"] {
        if let Some(part) = document.get_mut(part) {
            rename(part, &map);
        }
    }
    for (from, to) in renames {
        state(document, to).insert("renamedFrom".to_owned(), json!(from));
        document[NOTES[1]][to] = json!(from);
    }
    let said: Vec<String> = renames
        .iter()
        .map(|(from, to)| format!("{from} to {to}"))
        .collect();
    Some(said.join(", "))
}

/// Renames in keys and texts.
fn rename(value: &mut Json, names: &BTreeMap<&str, &str>) {
    match value {
        Json::String(text) => {
            if let Some(to) = names.get(text.as_str()) {
                (*to).clone_into(text);
            }
        }
        Json::Array(items) => items.iter_mut().for_each(|item| rename(item, names)),
        Json::Object(entries) => {
            *entries = std::mem::take(entries)
                .into_iter()
                .map(|(key, mut value)| {
                    // These texts may contain the name by chance.
                    if !["phase", "message", "doc", "renamedFrom"].contains(&key.as_str()) {
                        rename(&mut value, names);
                    }
                    let key = names.get(key.as_str()).map_or(key.clone(), |to| (*to).to_owned());
                    (key, value)
                })
                .collect();
        }
        _ => {}
    }
}

pub(super) fn rename_kind(document: &mut Json, dice: &mut Dice) -> Option<String> {
    let kind = fresh(dice, "Kind");
    document[NOTES[0]] = document["resource"]["kind"].take();
    document["resource"]["kind"] = json!(kind);
    Some(kind)
}
