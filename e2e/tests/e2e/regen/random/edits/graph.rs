//! Edits of the state graph without renames.

use super::{Dice, fresh, push_next, state, states};
use serde_json::{Value as Json, json};

pub(super) fn add_state(document: &mut Json, dice: &mut Dice) -> Option<String> {
    let names = states(document);
    let (from, to) = (dice.pick(&names)?.clone(), dice.pick(&names)?.clone());
    let name = fresh(dice, "Added");
    document["states"][&name] = json!({"next": [to], "wait": {"poll": "1m"}});
    push_next(state(document, &from), &name);
    Some(format!("{from} -> {name} -> {to}"))
}

pub(super) fn remove_state(document: &mut Json, dice: &mut Dice) -> Option<String> {
    let name = dice.pick(&states(document))?.clone();
    remove(document, &name);
    Some(name)
}

/// Removes a state and the edges to it that handlers may choose.
pub(super) fn remove(document: &mut Json, name: &str) {
    if let Some(states) = document["states"].as_object_mut() {
        states.shift_remove(name);
    }
    for other in states(document) {
        if let Some(next) = state(document, &other)
            .get_mut("next")
            .and_then(Json::as_array_mut)
        {
            next.retain(|to| to.as_str().or(to["to"].as_str()) != Some(name));
        }
        let is_empty = document["states"][&other]["next"]
            .as_array()
            .is_some_and(Vec::is_empty);
        if is_empty {
            state(document, &other).shift_remove("next");
        }
    }
    if let Some(entries) = document.as_object_mut() {
        entries.shift_remove("properties");
    }
}

pub(super) fn add_edge(document: &mut Json, dice: &mut Dice) -> Option<String> {
    let names = states(document);
    let (from, to) = (dice.pick(&names)?.clone(), dice.pick(&names)?.clone());
    push_next(state(document, &from), &to);
    Some(format!("{from} -> {to}"))
}

pub(super) fn remove_edge(document: &mut Json, dice: &mut Dice) -> Option<String> {
    let from = dice.pick(&states(document))?.clone();
    let next = state(document, &from).get_mut("next")?.as_array_mut()?;
    let at = dice.below(next.len());
    let gone = (!next.is_empty()).then(|| next.remove(at))?;
    if next.is_empty() {
        state(document, &from).shift_remove("next");
    }
    Some(format!("{from} -> {gone}"))
}

pub(super) fn retarget_edge(document: &mut Json, dice: &mut Dice) -> Option<String> {
    let names = states(document);
    let (from, to) = (dice.pick(&names)?.clone(), dice.pick(&names)?.clone());
    let next = state(document, &from).get_mut("next")?.as_array_mut()?;
    let at = dice.below(next.len());
    let was = next.get_mut(at)?;
    let what = format!("{from} -> {was} to {to}");
    *was = json!(to);
    Some(what)
}

pub(super) fn change_wait(document: &mut Json, dice: &mut Dice) -> Option<String> {
    let name = dice.pick(&states(document))?.clone();
    let state = state(document, &name);
    match dice.below(2) {
        0 => drop(state.shift_remove("wait")?),
        _ => drop(state.insert(
            "wait".to_owned(),
            json!({"poll": format!("{}s", 2 + dice.below(50))}),
        )),
    }
    Some(name)
}

pub(super) fn change_retry(document: &mut Json, dice: &mut Dice) -> Option<String> {
    let names = states(document);
    let (name, then) = (dice.pick(&names)?.clone(), dice.pick(&names)?.clone());
    let retry = json!({"limit": 1 + dice.below(9), "then": then});
    state(document, &name).insert("retry".to_owned(), retry);
    Some(format!("{name}, then {then}"))
}

pub(super) fn change_kind_of_state(document: &mut Json, dice: &mut Dice) -> Option<String> {
    let name = dice.pick(&states(document))?.clone();
    let state = state(document, &name);
    if state.get("kind").is_some_and(|kind| kind == "final") {
        return None;
    }
    let kind = *dice.pick(&["working", "ready", "failed"])?;
    state.insert("kind".to_owned(), json!(kind));
    Some(format!("{name}: {kind}"))
}
