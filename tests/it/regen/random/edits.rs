//! Edits of descriptions, as people make them: each leads to a description without errors.

use super::Dice;
use serde_json::{Map, Value as Json, json};

/// What can be done; each may fail for want of what it needs.
enum Edit {
    /// Of one kind.
    OfKind(fn(&mut Json, &mut Dice) -> Option<String>),
    /// Of all of it.
    OfAll(fn(&mut Vec<Json>, &mut Dice) -> Option<String>),
}
use Edit::{OfAll, OfKind};

const EDITS: &[(&str, Edit)] = &[
    ("state added", OfKind(add_state)),
    ("state removed", OfKind(remove_state)),
    ("state renamed", OfKind(rename_state)),
    ("edge added", OfKind(add_edge)),
    ("edge removed", OfKind(remove_edge)),
    ("edge retargeted", OfKind(retarget_edge)),
    ("wait changed", OfKind(change_wait)),
    ("retry changed", OfKind(change_retry)),
    ("kind of state changed", OfKind(change_kind_of_state)),
    ("field added", OfKind(add_field)),
    ("field removed", OfKind(remove_field)),
    ("field retyped", OfKind(retype_field)),
    ("owns switched", OfKind(switch_owns)),
    ("access switched", OfKind(switch_access)),
    ("version changed", OfKind(change_version)),
    ("group changed", OfKind(change_group)),
    ("kind renamed", OfKind(rename_kind)),
    ("kind added", OfAll(add_kind)),
    ("kind removed", OfAll(remove_kind)),
];

/// A random edit that leaves no error: its sort, what it does, and the description.
pub fn random(documents: &[Json], dice: &mut Dice) -> (&'static str, String, Vec<Json>) {
    for _ in 0..1000 {
        let (sort, edit) = &EDITS[dice.below(EDITS.len())];
        let mut edited = documents.to_vec();
        let what = match edit {
            OfKind(edit) => {
                let at = dice.below(edited.len());
                edit(&mut edited[at], dice)
            }
            OfAll(edit) => edit(&mut edited, dice),
        };
        let Some(what) = what else { continue };
        let checked = krator::check("krator.yaml", text(&edited).as_bytes());
        let is_sound = checked.description.is_some() && !krator::finding::has_errors(&checked.findings);
        if is_sound && edited != documents {
            return (sort, format!("{sort}: {what}"), edited);
        }
    }
    panic!("no edit of a thousand is right:\n{}", text(documents));
}

/// The description as YAML.
pub fn text(documents: &[Json]) -> String {
    let texts: Vec<String> = documents
        .iter()
        .map(|document| serde_yaml::to_string(document).expect("JSON is YAML"))
        .collect();
    texts.join("---\n")
}

/// The names of fields, where they stand in the description itself.
pub fn fields(document: &Json, part: &str) -> Vec<String> {
    let fields = document[part].as_object().into_iter().flatten();
    fields
        .map(|(name, _)| name.clone())
        .filter(|name| name != "validations")
        .collect()
}

/// Where a state leads by its handler's choice.
pub fn next(state: &Json) -> Vec<String> {
    let next = state["next"].as_array().into_iter().flatten();
    next.filter_map(|next| Some(next.as_str().or(next["to"].as_str())?.to_owned()))
        .collect()
}

fn states(document: &Json) -> Vec<String> {
    document["states"]
        .as_object()
        .expect("states")
        .keys()
        .cloned()
        .collect()
}

fn state<'a>(document: &'a mut Json, name: &str) -> &'a mut Map<String, Json> {
    let state = &mut document["states"][name];
    if state.is_null() {
        *state = json!({});
    }
    state.as_object_mut().expect("a state")
}

fn push_next(state: &mut Map<String, Json>, to: &str) {
    let next = state.entry("next").or_insert(json!([]));
    next.as_array_mut().expect("a list").push(json!(to));
}

/// A name that nothing has.
fn fresh(dice: &mut Dice, begin: &str) -> String {
    format!("{begin}{}", dice.below(100_000))
}

fn add_state(document: &mut Json, dice: &mut Dice) -> Option<String> {
    let names = states(document);
    let (from, to) = (dice.pick(&names)?.clone(), dice.pick(&names)?.clone());
    let name = fresh(dice, "Added");
    document["states"][&name] = json!({"next": [to], "wait": {"poll": "1m"}});
    push_next(state(document, &from), &name);
    Some(format!("{from} -> {name} -> {to}"))
}

fn remove_state(document: &mut Json, dice: &mut Dice) -> Option<String> {
    let name = dice.pick(&states(document))?.clone();
    document["states"].as_object_mut()?.shift_remove(&name);
    for other in states(document) {
        if let Some(next) = state(document, &other)
            .get_mut("next")
            .and_then(Json::as_array_mut)
        {
            next.retain(|to| to.as_str().or(to["to"].as_str()) != Some(&name));
        }
        let is_empty = document["states"][&other]["next"]
            .as_array()
            .is_some_and(Vec::is_empty);
        if is_empty {
            state(document, &other).shift_remove("next");
        }
    }
    document.as_object_mut()?.shift_remove("properties");
    Some(name)
}

fn rename_state(document: &mut Json, dice: &mut Dice) -> Option<String> {
    let name = dice.pick(&states(document))?.clone();
    let now = fresh(dice, "Renamed");
    document.as_object_mut()?.shift_remove("properties");
    for part in ["machine", "states", "simulate"] {
        if let Some(part) = document.get_mut(part) {
            rename(part, &name, &now);
        }
    }
    state(document, &now).insert("renamedFrom".to_owned(), json!(name));
    Some(format!("{name} to {now}"))
}

/// Renames in keys and texts.
fn rename(value: &mut Json, from: &str, to: &str) {
    match value {
        Json::String(text) if text == from => to.clone_into(text),
        Json::Array(items) => items.iter_mut().for_each(|item| rename(item, from, to)),
        Json::Object(entries) => {
            *entries = std::mem::take(entries)
                .into_iter()
                .map(|(key, mut value)| {
                    // Texts for people, which may be called so too.
                    if !["phase", "message", "doc", "renamedFrom"].contains(&key.as_str()) {
                        rename(&mut value, from, to);
                    }
                    (if key == from { to.to_owned() } else { key }, value)
                })
                .collect();
        }
        _ => {}
    }
}

fn add_edge(document: &mut Json, dice: &mut Dice) -> Option<String> {
    let names = states(document);
    let (from, to) = (dice.pick(&names)?.clone(), dice.pick(&names)?.clone());
    push_next(state(document, &from), &to);
    Some(format!("{from} -> {to}"))
}

fn remove_edge(document: &mut Json, dice: &mut Dice) -> Option<String> {
    let from = dice.pick(&states(document))?.clone();
    let next = state(document, &from).get_mut("next")?.as_array_mut()?;
    let at = dice.below(next.len());
    let gone = (!next.is_empty()).then(|| next.remove(at))?;
    if next.is_empty() {
        state(document, &from).shift_remove("next");
    }
    Some(format!("{from} -> {gone}"))
}

fn retarget_edge(document: &mut Json, dice: &mut Dice) -> Option<String> {
    let names = states(document);
    let (from, to) = (dice.pick(&names)?.clone(), dice.pick(&names)?.clone());
    let next = state(document, &from).get_mut("next")?.as_array_mut()?;
    let at = dice.below(next.len());
    let was = next.get_mut(at)?;
    let what = format!("{from} -> {was} to {to}");
    *was = json!(to);
    Some(what)
}

fn change_wait(document: &mut Json, dice: &mut Dice) -> Option<String> {
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

fn change_retry(document: &mut Json, dice: &mut Dice) -> Option<String> {
    let names = states(document);
    let (name, then) = (dice.pick(&names)?.clone(), dice.pick(&names)?.clone());
    let retry = json!({"limit": 1 + dice.below(9), "then": then});
    state(document, &name).insert("retry".to_owned(), retry);
    Some(format!("{name}, then {then}"))
}

fn change_kind_of_state(document: &mut Json, dice: &mut Dice) -> Option<String> {
    let name = dice.pick(&states(document))?.clone();
    let state = state(document, &name);
    if state.get("kind").is_some_and(|kind| kind == "final") {
        return None;
    }
    let kind = *dice.pick(&["working", "ready", "failed"])?;
    state.insert("kind".to_owned(), json!(kind));
    Some(format!("{name}: {kind}"))
}

fn some_type(dice: &mut Dice) -> Json {
    let types = [
        "string",
        "boolean",
        "integer",
        "optional string",
        "list of integer",
        "map of string",
        "quantity",
    ];
    json!(types[dice.below(types.len())])
}

fn add_field(document: &mut Json, dice: &mut Dice) -> Option<String> {
    let part = *dice.pick(&["spec", "status"])?;
    let name = fresh(dice, "field");
    if document[part].is_null() {
        document[part] = json!({});
    }
    document[part]
        .as_object_mut()?
        .insert(name.clone(), some_type(dice));
    Some(format!("{part}.{name}"))
}

fn remove_field(document: &mut Json, dice: &mut Dice) -> Option<String> {
    let name = dice.pick(&fields(document, "spec"))?.clone();
    document["spec"].as_object_mut()?.shift_remove(&name);
    Some(name)
}

fn retype_field(document: &mut Json, dice: &mut Dice) -> Option<String> {
    let name = dice.pick(&fields(document, "spec"))?.clone();
    document["spec"][&name] = some_type(dice);
    Some(name)
}

fn switch_owns(document: &mut Json, _dice: &mut Dice) -> Option<String> {
    switch(document, "owns", &json!("core/v1.ConfigMap"))
}

fn switch_access(document: &mut Json, _dice: &mut Dice) -> Option<String> {
    let pods = json!({"kind": "core/v1.Pod", "verbs": ["get"]});
    switch(document, "access", &pods)
}

fn switch(document: &mut Json, key: &str, entry: &Json) -> Option<String> {
    let list = document
        .as_object_mut()?
        .entry(key)
        .or_insert(json!([]))
        .as_array_mut()?;
    match list.iter().position(|there| there == entry) {
        Some(at) => drop(list.remove(at)),
        None => list.push(entry.clone()),
    }
    Some(entry.to_string())
}

fn change_version(document: &mut Json, dice: &mut Dice) -> Option<String> {
    let version = format!("v{}", 1 + dice.below(9));
    document["resource"]["version"] = json!(version);
    Some(version)
}

fn change_group(document: &mut Json, dice: &mut Dice) -> Option<String> {
    let group = format!("{}.example.com", fresh(dice, "group"));
    document["resource"]["group"] = json!(group);
    Some(group)
}

fn rename_kind(document: &mut Json, dice: &mut Dice) -> Option<String> {
    let kind = fresh(dice, "Kind");
    document["resource"]["kind"] = json!(kind);
    Some(kind)
}

fn add_kind(documents: &mut Vec<Json>, dice: &mut Dice) -> Option<String> {
    if documents.len() > 2 {
        return None;
    }
    let kind = fresh(dice, "Beside");
    let resource = json!({"group": "beside.example.com", "version": "v1", "kind": kind});
    documents.push(json!({
        "krator": 1,
        "resource": resource,
        "spec": {"size": "integer"},
        "machine": {"initial": "Begun"},
        "states": {"Begun": {"next": ["Rests"], "wait": {"poll": "2s"}}, "Rests": {"kind": "ready", "next": ["Begun"]}},
    }));
    Some(kind)
}

fn remove_kind(documents: &mut Vec<Json>, dice: &mut Dice) -> Option<String> {
    // The first document names the operator.
    let at = 1 + dice.below(documents.len().saturating_sub(1));
    (at < documents.len()).then(|| documents.remove(at)["resource"]["kind"].to_string())
}
