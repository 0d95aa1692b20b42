//! Realistic edits of descriptions: each results in a description without errors. An edit that renames records the new
//! names, so that the tests can find the right handler of each state without krator.

mod graph;
mod kinds;
mod renames;

use super::Dice;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

/// An edit, which fails if the description lacks the needed parts.
enum Edit {
    /// An edit of one kind.
    OfKind(fn(&mut Json, &mut Dice) -> Option<String>),
    /// An edit of the whole description.
    OfAll(fn(&mut Vec<Json>, &mut Dice) -> Option<String>),
}
use Edit::{OfAll, OfKind};

const EDITS: &[(&str, Edit)] = &[
    ("state added", OfKind(graph::add_state)),
    ("state removed", OfKind(graph::remove_state)),
    ("state renamed", OfKind(renames::rename_state)),
    ("states renamed at once", OfKind(renames::rename_several)),
    ("states renamed in a chain", OfKind(renames::rename_in_chain)),
    ("states swapped", OfKind(renames::swap_states)),
    ("states rotated", OfKind(renames::rotate_states)),
    (
        "state renamed onto a removed one",
        OfKind(renames::rename_onto_removed),
    ),
    ("kind and states renamed", OfKind(renames::rename_kind_and_states)),
    (
        "kinds renamed at once",
        OfAll(|documents, dice| renames::rename_kinds(documents, dice)),
    ),
    ("edge added", OfKind(graph::add_edge)),
    ("edge removed", OfKind(graph::remove_edge)),
    ("edge retargeted", OfKind(graph::retarget_edge)),
    ("wait changed", OfKind(graph::change_wait)),
    ("retry changed", OfKind(graph::change_retry)),
    ("kind of state changed", OfKind(graph::change_kind_of_state)),
    ("field added", OfKind(kinds::add_field)),
    ("field removed", OfKind(kinds::remove_field)),
    ("field retyped", OfKind(kinds::retype_field)),
    ("owns switched", OfKind(kinds::switch_owns)),
    ("access switched", OfKind(kinds::switch_access)),
    ("version changed", OfKind(kinds::change_version)),
    ("group changed", OfKind(kinds::change_group)),
    ("kind renamed", OfKind(renames::rename_kind)),
    ("kind added", OfAll(kinds::add_kind)),
    ("kind removed", OfAll(kinds::remove_kind)),
];

/// The result of a random edit.
pub struct Edited {
    /// Its entry in [`EDITS`].
    pub sort: &'static str,
    /// A description of the change.
    pub what: String,
    /// The new description.
    pub documents: Vec<Json>,
    /// The new states by the former ones: `None` for removed ones.
    pub became: BTreeMap<StateOf, Option<StateOf>>,
}

/// A state, by the names of its kind and of the state.
pub type StateOf = (String, String);

/// Notes that an edit leaves in the documents: the former name of the kind, and the states under their former names.
const NOTES: [&str; 2] = ["former kind", "former states"];

/// A random edit that results in no error; `is_wanted` chooses among the names of [`EDITS`].
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

/// Removes the notes from the edited documents, and returns the new states.
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

/// The names of fields that are defined in the description itself.
pub fn fields(document: &Json, part: &str) -> Vec<String> {
    let fields = document[part].as_object().into_iter().flatten();
    fields
        .map(|(name, _)| name.clone())
        .filter(|name| name != "validations")
        .collect()
}

/// The states that the handler of a state may choose.
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

/// An unused name.
fn fresh(dice: &mut Dice, begin: &str) -> String {
    format!("{begin}{}", dice.below(100_000))
}
