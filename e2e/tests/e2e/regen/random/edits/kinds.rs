//! Edits of kinds: their fields, their rights, their API group and version; and added and removed kinds.

use super::{Dice, fields, fresh};
use serde_json::{Value as Json, json};

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

pub(super) fn add_field(document: &mut Json, dice: &mut Dice) -> Option<String> {
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

pub(super) fn remove_field(document: &mut Json, dice: &mut Dice) -> Option<String> {
    let name = dice.pick(&fields(document, "spec"))?.clone();
    document["spec"].as_object_mut()?.shift_remove(&name);
    Some(name)
}

pub(super) fn retype_field(document: &mut Json, dice: &mut Dice) -> Option<String> {
    let name = dice.pick(&fields(document, "spec"))?.clone();
    document["spec"][&name] = some_type(dice);
    Some(name)
}

pub(super) fn switch_owns(document: &mut Json, _dice: &mut Dice) -> Option<String> {
    switch(document, "owns", &json!("core/v1.ConfigMap"))
}

pub(super) fn switch_access(document: &mut Json, _dice: &mut Dice) -> Option<String> {
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

pub(super) fn change_version(document: &mut Json, dice: &mut Dice) -> Option<String> {
    let version = format!("v{}", 1 + dice.below(9));
    document["resource"]["version"] = json!(version);
    Some(version)
}

pub(super) fn change_group(document: &mut Json, dice: &mut Dice) -> Option<String> {
    let group = format!("{}.example.com", fresh(dice, "group"));
    document["resource"]["group"] = json!(group);
    Some(group)
}

pub(super) fn add_kind(documents: &mut Vec<Json>, dice: &mut Dice) -> Option<String> {
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

pub(super) fn remove_kind(documents: &mut Vec<Json>, dice: &mut Dice) -> Option<String> {
    // The first document has the name of the operator.
    let at = 1 + dice.below(documents.len().saturating_sub(1));
    (at < documents.len()).then(|| documents.remove(at)["resource"]["kind"].to_string())
}
