//! A sample object of each kind, which its schema accepts: to try the operator, and to edit.

mod pattern;
mod value;

use serde_json::{Value as Json, json};

use super::crd::schema_of;
use super::yaml;
use crate::model::{Description, Kind, Scope};

/// `deploy/sample.yaml`: only required fields, each with the simplest value that its schema allows.
pub fn sample(description: &Description) -> String {
    let mut objects: Vec<_> = description
        .kinds
        .iter()
        .map(|kind| object(description, kind))
        .collect();
    objects.iter_mut().for_each(yaml::make_whole);
    format!(
        "# The simplest valid objects. Apply with: kubectl apply -f deploy/sample.yaml\n{}",
        yaml::documents(&objects)
    )
}

fn object(description: &Description, kind: &Kind) -> Json {
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
}

/// The sample of a kind as the API server stores it, with defaults.
pub fn stored(description: &Description, kind: &Kind) -> Json {
    let mut object = object(description, kind);
    value::fill_in(&schema_of(description, &kind.spec), &mut object["spec"]);
    object
}

fn sample_name(kind: &str) -> String {
    format!("{}-sample", kind.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::testing::{described, documents};

    #[test]
    fn a_sample_has_the_kind_and_the_required_fields() {
        let documents = documents(&sample(&described("")));
        let expected = json!({
            "apiVersion": "example.com/v1",
            "kind": "Thing",
            "metadata": {"name": "thing-sample", "namespace": "default"},
            "spec": {"size": 1},
        });
        assert_eq!(documents, [expected]);
    }
}
