//! What people read first and edit later: README, CI, and what git has to know.

mod markdown;

use serde_json::{Value as Json, json};

use super::deploy::FIRST_VERSION;
use super::mermaid::flowchart;
use super::templates::Template;
use crate::model::{Description, Kind};
use markdown::paragraph;

/// `README.md`.
pub fn readme(description: &Description) -> String {
    Template::Readme.render(&json!({
        "operator": description.operator.as_str(),
        "doc": description.doc.as_ref().map(|doc| paragraph(&doc.value)).unwrap_or_default(),
        "version": FIRST_VERSION,
        "kinds": description.kinds.iter().map(|kind| kind_values(description, kind)).collect::<Vec<_>>(),
    }))
}

/// `.github/workflows/ci.yml`. Nothing of the description is in it.
pub fn ci_workflow(_description: &Description) -> String {
    Template::Workflow.render(&json!({}))
}

/// `.gitignore`.
pub fn gitignore() -> String {
    Template::Gitignore.render(&json!({}))
}

/// `.gitattributes`.
pub fn gitattributes() -> String {
    Template::Gitattributes.render(&json!({}))
}

fn kind_values(description: &Description, kind: &Kind) -> Json {
    let resource = &kind.resource;
    // The first document's is that of the operator, and is said above.
    let own_doc = kind
        .doc
        .as_ref()
        .filter(|doc| description.doc.as_ref() != Some(doc));
    let states = kind.states.iter().map(|state| {
        json!({
            "name": state.name.as_str(),
            "kind": state.kind.as_str(),
            "doc": state.doc.as_ref().map(|doc| paragraph(&doc.value)).unwrap_or_default(),
        })
    });
    json!({
        "kind": resource.kind.as_str(),
        "module": resource.kind.module(),
        "resource": format!("{}.{}", resource.plural.value, resource.group.value),
        "doc": own_doc.map(|doc| paragraph(&doc.value)).unwrap_or_default(),
        "states": states.collect::<Vec<_>>(),
        "diagram": flowchart(kind),
    })
}
