//! Rows of role bindings.

use crate::builtin::json::{list, text};
use serde_json::{Value as Json, json};

pub(super) fn binding(object: &Json, age: String) -> Vec<Json> {
    let subjects = |kind: &str| {
        let of_kind = list(object, "subjects")
            .iter()
            .filter(|subject| text(subject, "kind") == kind);
        let names: Vec<String> = of_kind
            .map(|subject| match kind {
                "ServiceAccount" => format!("{}/{}", text(subject, "namespace"), text(subject, "name")),
                _ => text(subject, "name").to_owned(),
            })
            .collect();
        names.join(", ")
    };
    let role = format!(
        "{}/{}",
        text(object, "roleRef.kind"),
        text(object, "roleRef.name")
    );
    vec![
        json!(text(object, "metadata.name")),
        json!(role),
        json!(age),
        json!(subjects("User")),
        json!(subjects("Group")),
        json!(subjects("ServiceAccount")),
    ]
}
