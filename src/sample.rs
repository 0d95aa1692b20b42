//! A sample object of each kind, which its schema accepts.

mod pattern;
mod value;

use serde_json::{Value as Json, json};

use crate::crd::{as_read, schema_of};
use crate::model::{Description, Kind, Scope};

/// An object with only the required fields, each with the simplest value that its schema allows.
pub(crate) fn object(description: &Description, kind: &Kind) -> Json {
    let resource = &kind.resource;
    let mut metadata = json!({"name": sample_name(resource.kind.as_str())});
    if resource.scope.value == Scope::Namespaced {
        metadata["namespace"] = "default".into();
    }
    json!({
        "apiVersion": format!("{}/{}", resource.group.value, resource.version.value),
        "kind": resource.kind.as_str(),
        "metadata": metadata,
        "spec": value::of(&as_read(schema_of(description, &kind.spec))),
    })
}

/// The sample of a kind as the API server stores it, with defaults.
pub(crate) fn stored(description: &Description, kind: &Kind) -> Json {
    let mut object = object(description, kind);
    krator_schema::default(&as_read(schema_of(description, &kind.spec)), &mut object["spec"]);
    object
}

fn sample_name(kind: &str) -> String {
    format!("{}-sample", kind.to_ascii_lowercase())
}
