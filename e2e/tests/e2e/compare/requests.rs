//! Requests for many objects at once; the server may refuse some of them.

use crate::cluster::Cluster;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Group and name of an object.
pub type Key = (String, String);

pub fn key(object: &Value) -> Key {
    let text = |value: &Value| {
        value
            .as_str()
            .unwrap_or_else(|| panic!("no name: {object}"))
            .to_owned()
    };
    let version = text(&object["apiVersion"]);
    let group = version.split('/').next().unwrap_or_default().to_owned();
    (group, text(&object["metadata"]["name"]))
}

/// Several objects as one, as kubectl reads them.
pub fn list(objects: &[Value]) -> String {
    json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string()
}

/// Runs kubectl for these objects, and returns the server's answers for those without an error.
pub fn accepted(cluster: &Cluster, args: &[&str], objects: &[Value]) -> BTreeMap<Key, Value> {
    let args = [args, &["--output=json", "-f", "-"]].concat();
    let output = cluster.kubectl_output("admin", &args, &list(objects));
    // Shown if the test fails.
    println!("{}", String::from_utf8_lossy(&output.stderr));
    let answers = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>();
    answers
        .map(|value| value.expect("kubectl writes JSON"))
        .flat_map(|value| match value["kind"].as_str() {
            Some("List") => value["items"].as_array().cloned().unwrap_or_default(),
            _ => vec![value],
        })
        .map(|object| (key(&object), object))
        .collect()
}

/// Applies statuses as an operator does, and returns the keys of the accepted objects. kubectl prints no JSON if one
/// object is refused, so the keys are parsed from the names, which it prints as `kind.group/name`.
pub fn applied(cluster: &Cluster, args: &[&str], statuses: &[Value]) -> BTreeSet<Key> {
    let apply = [
        "apply",
        "--server-side",
        "--subresource=status",
        "--field-manager=operator",
        "--force-conflicts",
        "--validate=ignore",
        "--output=name",
        "-f",
        "-",
    ];
    let output = cluster.kubectl_output("admin", &[&apply[..], args].concat(), &list(statuses));
    println!("{}", String::from_utf8_lossy(&output.stderr));
    let names = String::from_utf8(output.stdout).expect("kubectl writes UTF-8");
    names
        .lines()
        .filter_map(|line| {
            let (resource, name) = line.split_once('/')?;
            let (_, group) = resource.split_once('.')?;
            Some((group.to_owned(), name.to_owned()))
        })
        .collect()
}

/// The value without the fields that are null, which the API server does not store.
pub fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name.clone(), without_nulls(value)))
            .collect(),
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        other => other.clone(),
    }
}
