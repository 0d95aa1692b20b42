//! Small changes of a description, each of which may break it: about half of the results are not valid.

mod types;
mod values;

use serde_json::{Map, Value, json};

use super::Documents;
use crate::dice::Dice;
use types::MUTATIONS;

/// Changes the description in one place, and returns the kind of change. `None` if the drawn change is not possible.
pub fn mutate(documents: &mut Documents, dice: &mut Dice) -> Option<&'static str> {
    let at = dice.below(documents.0.len());
    if dice.one_in(6) {
        return paths(&mut documents.0[at], dice);
    }
    let mut places = Vec::new();
    for (document, value) in documents.0.iter().enumerate() {
        for section in ["spec", "status", "types"] {
            let fields = value.get(section).and_then(Value::as_object);
            for (name, field) in fields.into_iter().flatten() {
                if (section, name.as_str()) != ("spec", "validations") {
                    let mut path = vec![section.to_owned(), name.clone()];
                    collect(field, &mut path, document, &mut places);
                }
            }
        }
    }
    for _ in 0..8 {
        let (document, path) = dice.pick(&places)?;
        let mutation = dice.among(MUTATIONS);
        let mut node = &mut documents.0[*document];
        for step in path {
            node = &mut node[step.as_str()];
        }
        let mut mapping = mapping_of(node);
        if (mutation.change)(&mut mapping, dice) {
            *node = Value::Object(mapping);
            return Some(mutation.name);
        }
    }
    None
}

/// The places of all types at and below one, as the keys that lead to them.
fn collect(node: &Value, path: &mut Vec<String>, document: usize, places: &mut Vec<(usize, Vec<String>)>) {
    places.push((document, path.clone()));
    let mut inner = |keys: &[&str], below: &Value| {
        let length = path.len();
        path.extend(keys.iter().map(|key| (*key).to_owned()));
        collect(below, path, document, places);
        path.truncate(length);
    };
    if let Some(items) = node.get("items") {
        inner(&["items"], items);
    }
    if let Some(values) = node
        .get("additionalProperties")
        .filter(|values| !values.is_boolean())
    {
        inner(&["additionalProperties"], values);
    }
    for (name, field) in node
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        inner(&["properties", name], field);
    }
}

/// A type as a mapping, even if it is written as a phrase.
fn mapping_of(node: &Value) -> Map<String, Value> {
    match node {
        Value::Object(mapping) => mapping.clone(),
        phrase => Map::from_iter([("type".to_owned(), phrase.clone())]),
    }
}

/// Changes a path of the resource or of its columns.
fn paths(document: &mut Value, dice: &mut Dice) -> Option<&'static str> {
    let path = *dice.among(&[
        ".spec.missing",
        ".status.observedGeneration",
        ".metadata.name",
        ".spec",
        ".status.conditions",
        ".spec.weight",
        ".status.weight",
        ".status.state",
        ".status.conditions[*].type",
        ".metadata.labels.a",
        ".spec.with-dash",
        ".spec.a\\.b",
        "spec.weight",
        ".status.message",
    ]);
    let resource = document.get_mut("resource")?;
    match dice.below(4) {
        0 => {
            let key = *dice.among(&["spec", "status", "selector"]);
            match resource.get_mut("scale") {
                Some(scale) => scale[key] = json!(path),
                None => resource["scale"] = json!({"spec": path, "status": ".status.observedGeneration"}),
            }
            Some("a path of the scale")
        }
        1 | 2 => {
            match resource.get_mut("selectableFields").and_then(Value::as_array_mut) {
                Some(paths) if dice.one_in(2) => paths.push(paths[0].clone()),
                Some(paths) => paths.push(json!(path)),
                None => resource["selectableFields"] = json!([path]),
            }
            Some("a path of the selectable fields")
        }
        _ => {
            document["columns"] =
                json!([{"name": "Drawn", "path": path, "type": *dice.among(&["string", "integer", "date"])}]);
            Some("a path of the columns")
        }
    }
}
