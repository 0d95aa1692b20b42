//! Edits of descriptions, as people make them: each leads to a description without errors. An edit that renames says what
//! became what, so that the tests know the right handler of each state without asking krator.

use super::Dice;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

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
    ("states renamed at once", OfKind(rename_several)),
    ("states renamed in a chain", OfKind(rename_in_chain)),
    ("states swapped", OfKind(swap_states)),
    ("states rotated", OfKind(rotate_states)),
    ("state renamed onto a removed one", OfKind(rename_onto_removed)),
    ("kind and states renamed", OfKind(rename_kind_and_states)),
    (
        "kinds renamed at once",
        OfAll(|documents, dice| rename_kinds(documents, dice)),
    ),
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

/// What a random edit did.
pub struct Edited {
    /// Its entry in [`EDITS`].
    pub sort: &'static str,
    /// What it changed, for people.
    pub what: String,
    /// The new description.
    pub documents: Vec<Json>,
    /// What became of the states: `None` for those that are gone.
    pub became: BTreeMap<StateOf, Option<StateOf>>,
}

/// A state, by the names of its kind and its own.
pub type StateOf = (String, String);

/// Notes of an edit in its own documents: the former name of the kind, and the states under their former names.
const NOTES: [&str; 2] = ["former kind", "former states"];

/// A random edit that leaves no error; `is_wanted` chooses among the names of [`EDITS`].
pub fn random(documents: &[Json], dice: &mut Dice, is_wanted: impl Fn(&str) -> bool) -> Edited {
    let wanted: Vec<_> = EDITS.iter().filter(|(sort, _)| is_wanted(sort)).collect();
    for _ in 0..1000 {
        let (sort, edit) = wanted[dice.below(wanted.len())];
        let mut edited = documents.to_vec();
        let what = match edit {
            OfKind(edit) => {
                let at = dice.below(edited.len());
                edit(&mut edited[at], dice)
            }
            OfAll(edit) => edit(&mut edited, dice),
        };
        let Some(what) = what else { continue };
        let became = became(documents, &mut edited);
        let checked = krator::check("krator.yaml", text(&edited).as_bytes());
        let is_sound = checked.description.is_some() && !krator::finding::has_errors(&checked.findings);
        if is_sound && edited != documents {
            return Edited {
                sort,
                what: format!("{sort}: {what}"),
                documents: edited,
                became,
            };
        }
    }
    panic!("no edit of a thousand is right:\n{}", text(documents));
}

/// Takes the notes out of the edited documents.
fn became(before: &[Json], edited: &mut [Json]) -> BTreeMap<StateOf, Option<StateOf>> {
    let kind = |document: &Json| document["resource"]["kind"].as_str().expect("a kind").to_owned();
    let mut became = BTreeMap::new();
    for document in before {
        for name in states(document) {
            became.insert((kind(document), name), None);
        }
    }
    for document in edited {
        let now = kind(document);
        let notes = NOTES.map(|note| {
            document
                .as_object_mut()
                .and_then(|entries| entries.shift_remove(note))
        });
        let [former_kind, former_states] = notes.map(Option::unwrap_or_default);
        let then = former_kind.as_str().unwrap_or(&now).to_owned();
        for name in states(document) {
            let former = former_states.get(&name).map_or(Some(name.as_str()), Json::as_str);
            if let Some(former) = former.map(|former| (then.clone(), former.to_owned()))
                && let Some(state) = became.get_mut(&former)
            {
                *state = Some((now.clone(), name));
            }
        }
    }
    became
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
    remove(document, &name);
    Some(name)
}

/// Removes a state and the edges to it that handlers may choose.
fn remove(document: &mut Json, name: &str) {
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

fn rename_state(document: &mut Json, dice: &mut Dice) -> Option<String> {
    let name = dice.pick(&states(document))?.clone();
    let now = fresh(dice, "Renamed");
    rename_states(document, &[(name, now)])
}

fn rename_several(document: &mut Json, dice: &mut Dice) -> Option<String> {
    let names = some_states(document, dice, 2)?;
    let renames: Vec<(String, String)> = names
        .into_iter()
        .map(|name| (name, fresh(dice, "Renamed")))
        .collect();
    rename_states(document, &renames)
}

fn rename_in_chain(document: &mut Json, dice: &mut Dice) -> Option<String> {
    let names = some_states(document, dice, 2)?;
    let last = fresh(dice, "Renamed");
    let to = names.iter().skip(1).cloned().chain([last]);
    let renames: Vec<(String, String)> = names.iter().cloned().zip(to).collect();
    rename_states(document, &renames)
}

fn swap_states(document: &mut Json, dice: &mut Dice) -> Option<String> {
    rotate(document, dice, 2)
}

fn rotate_states(document: &mut Json, dice: &mut Dice) -> Option<String> {
    rotate(document, dice, 3)
}

fn rotate(document: &mut Json, dice: &mut Dice, count: usize) -> Option<String> {
    let names = some_states(document, dice, count)?;
    let to = names.iter().cycle().skip(1).cloned();
    let renames: Vec<(String, String)> = names.iter().cloned().zip(to).collect();
    rename_states(document, &renames)
}

fn rename_onto_removed(document: &mut Json, dice: &mut Dice) -> Option<String> {
    let names = some_states(document, dice, 2)?;
    if is_said_already(document, &names[0], &names[1]) {
        return None;
    }
    remove(document, &names[1]);
    rename_states(document, &[(names[0].clone(), names[1].clone())])
}

fn rename_kind_and_states(document: &mut Json, dice: &mut Dice) -> Option<String> {
    let kind = rename_kind(document, dice)?;
    let states = match dice.below(2) {
        0 => rename_in_chain(document, dice)?,
        _ => swap_states(document, dice)?,
    };
    Some(format!("{kind}, {states}"))
}

fn rename_kinds(documents: &mut [Json], dice: &mut Dice) -> Option<String> {
    if documents.len() < 2 {
        return None;
    }
    let kinds = documents.iter_mut().map(|document| rename_kind(document, dice));
    Some(kinds.collect::<Option<Vec<String>>>()?.join(", "))
}

/// Several states, each once.
fn some_states(document: &Json, dice: &mut Dice, count: usize) -> Option<Vec<String>> {
    let mut left = states(document);
    let some = (0..count).map(|_| (!left.is_empty()).then(|| left.remove(dice.below(left.len()))));
    some.collect()
}

/// Whether `renamedFrom` says so before the edit, as a swap leaves it: then it does not show what the edit means.
fn is_said_already(document: &Json, from: &str, to: &str) -> bool {
    document["states"][to]["renamedFrom"] == json!(from)
}

/// Gives states other names, all at once, and says so in `renamedFrom`, where what it said before goes.
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
    for part in ["machine", "states", "simulate"] {
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
                    // Texts for people, which may be called so too.
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
    document[NOTES[0]] = document["resource"]["kind"].take();
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
