//! The manifest of the sample objects: to try the operator, and to edit.

use crate::model::Description;
use crate::sample::object;
use crate::yaml;

/// `deploy/sample.yaml`: only required fields, each with the simplest value that its schema allows.
pub fn sample(description: &Description) -> String {
    let mut objects: Vec<_> = description
        .kinds
        .iter()
        .map(|kind| object(description, kind))
        .collect();
    for object in &mut objects {
        yaml::make_whole(object);
        // kubectl uses the namespace of its context, or of `-n`.
        if let Some(metadata) = object["metadata"].as_object_mut() {
            metadata.remove("namespace");
        }
    }
    format!(
        "# The simplest valid objects. Apply with: kubectl apply -f deploy/sample.yaml\n{}",
        yaml::documents(&objects)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::testing::{described, documents};
    use serde_json::json;

    #[test]
    fn a_sample_has_the_kind_and_the_required_fields() {
        let documents = documents(&sample(&described("")));
        let expected = json!({
            "apiVersion": "example.com/v1",
            "kind": "Thing",
            "metadata": {"name": "thing-sample"},
            "spec": {"size": 1},
        });
        assert_eq!(documents, [expected]);
    }
}
