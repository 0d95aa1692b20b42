//! An object of each kind that its schema accepts: to try the operator with, and to be edited.

mod pattern;
mod value;

use serde_json::json;

use super::crd::schema_of;
use super::yaml;
use crate::model::{Description, Scope};

/// `deploy/sample.yaml`: required fields only, each with the simplest value that its schema allows.
pub fn sample(description: &Description) -> String {
    let objects = description.kinds.iter().map(|kind| {
        let resource = &kind.resource;
        let mut metadata = json!({"name": sample_name(resource.kind.as_str())});
        if resource.scope.value == Scope::Namespaced {
            metadata["namespace"] = "default".into();
        }
        json!({
            "apiVersion": format!("{}/{}", resource.group.value, resource.version.value),
            "kind": resource.kind.as_str(),
            "metadata": metadata,
            "spec": value::of(&schema_of(description, &kind.spec)),
        })
    });
    let mut objects: Vec<_> = objects.collect();
    objects.iter_mut().for_each(yaml::make_whole);
    format!(
        "# kubectl apply -f deploy/sample.yaml\n{}",
        yaml::documents(&objects)
    )
}

fn sample_name(kind: &str) -> String {
    format!("{}-sample", kind.to_ascii_lowercase())
}
