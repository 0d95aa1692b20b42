//! A sample object of each kind, which its schema accepts.

mod edges;
mod pattern;
mod value;

use krator_schema::{Pattern, names};
use serde_json::{Value as Json, json};

use crate::crd::{as_read, schema_of};
use crate::model::{Description, Kind, Resource, Schema, Scope};

/// An object with only the required fields, each with the simplest value that its schema allows.
pub fn object(description: &Description, kind: &Kind) -> Json {
    let resource = &kind.resource;
    let mut metadata = json!({"name": sample_name(resource)});
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

/// The simplest value of a schema in a CRD.
pub(crate) fn value(schema: &Json) -> Json {
    value::of(&as_read(schema.clone()))
}

/// The sample of a kind as the API server stores it, with defaults.
pub fn stored(description: &Description, kind: &Kind) -> Json {
    let mut object = object(description, kind);
    krator_schema::default(&as_read(schema_of(description, &kind.spec)), &mut object["spec"]);
    object
}

/// Specs with the edge cases of a schema, as the API server stores them. Rules in CEL may refuse some.
pub(crate) fn edge_cases(description: &Description, spec: &Schema) -> Vec<Json> {
    let schema = as_read(schema_of(description, spec));
    let mut specs = edges::of(&schema, 0);
    specs
        .iter_mut()
        .for_each(|spec| krator_schema::default(&schema, spec));
    specs
}

/// Whether an object may have the name, as far as the pattern can be evaluated.
pub(crate) fn is_allowed_name(resource: &Resource, name: &str) -> bool {
    let pattern = resource
        .name
        .as_ref()
        .and_then(|rule| Pattern::new(&rule.pattern).ok());
    let is_match = pattern.and_then(|pattern| pattern.is_match(name));
    names::dns_1123_subdomain(name).is_empty() && is_match != Some(false)
}

/// A name that the kind allows: the default one, if necessary with a text for its pattern before or after it. If none
/// of these is allowed, the rule refused-sample reports it.
fn sample_name(resource: &Resource) -> String {
    let usual = format!("{}-sample", resource.kind.as_str().to_ascii_lowercase());
    let Some(name) = &resource.name else {
        return usual;
    };
    // The candidates are created lazily, because a generated crate needs the name several times.
    let asked = |least| pattern::string_matching(&name.pattern, least).to_ascii_lowercase();
    let around = ["-", ""].into_iter().flat_map(|join| {
        let asked = asked(0);
        [format!("{asked}{join}{usual}"), format!("{usual}{join}{asked}")]
    });
    let mut candidates = [usual.clone()]
        .into_iter()
        .chain(around)
        .chain((0..64).map(asked));
    candidates
        .find(|name| is_allowed_name(resource, name))
        .unwrap_or_else(|| usual.clone())
}
