//! The names of stored objects for users.

use serde_json::Value as Json;

use crate::text::printable;

/// The name of an object, with its namespace.
pub(super) fn name(object: &Json) -> String {
    let metadata = &object["metadata"];
    let name = metadata["name"].as_str().unwrap_or_default();
    match metadata["namespace"].as_str() {
        Some(namespace) => format!("{namespace}/{name}"),
        None => name.to_owned(),
    }
}

/// At most `most` names, and the number of the others.
pub(super) fn named(names: &[String], most: usize) -> String {
    let mut shown: Vec<String> = names.iter().take(most).map(|name| printable(name)).collect();
    if names.len() > most {
        shown.push(format!("{} more", names.len() - most));
    }
    shown.join(", ")
}
