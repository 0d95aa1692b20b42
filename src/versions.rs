//! The conversions between the versions of a kind, as the runtime, the API server of `krator dev` and the tests make them.

use krator_runtime::versions::{Functions, Older, Outline, Shape as Form, Versions};
use serde_json::Value as Json;

use crate::model::{Description, Kind, Schema, Shape};

/// The versions of all kinds whose objects are not the same in all of them.
pub fn all(description: &Description) -> Vec<Versions> {
    let kinds = description.kinds.iter();
    kinds.filter_map(|kind| of(description, kind)).collect()
}

/// Makes of an object of one of these kinds the same object in another version, as the webhook of an operator does.
///
/// # Errors
///
/// If the object is of none of these kinds or versions.
pub fn convert(
    kinds: &[Versions],
    object: &Json,
    to: &str,
    functions: &Functions<'_>,
) -> Result<Json, String> {
    let kind = object.get("kind").and_then(Json::as_str).unwrap_or_default();
    let versions = kinds.iter().find(|versions| versions.are_of(object, to));
    let versions = versions.ok_or_else(|| format!("no conversion of {kind:?} to {to} is known"))?;
    versions.convert(object.clone(), to, functions)
}

/// The versions of a kind; `None` if objects are the same in all of them.
pub fn of(description: &Description, kind: &Kind) -> Option<Versions> {
    let older = kind.versions.iter().map(|version| Older {
        shape: form(description, version.name.as_str(), &version.spec),
        changes: version
            .changes
            .iter()
            .map(|change| change.value.clone())
            .collect(),
    });
    kind.converts().then(|| Versions {
        group: kind.resource.group.as_str().to_owned(),
        kind: kind.resource.kind.as_str().to_owned(),
        stored: kind.stored_version().as_str().to_owned(),
        newest: form(description, kind.resource.version.as_str(), &kind.spec),
        older: older.collect(),
    })
}

fn form(description: &Description, name: &str, spec: &Schema) -> Form {
    Form {
        name: name.to_owned(),
        spec: outline(description, spec).unwrap_or_default(),
    }
}

/// What has to be known of the values of a schema; `None` if nothing has to be.
fn outline(description: &Description, schema: &Schema) -> Option<Outline> {
    let said = |name: &str| {
        description
            .chain(schema)
            .find_map(|schema| schema.extension(name))
    };
    let default = description
        .chain(schema)
        .find_map(|schema| schema.default.as_ref());
    let mut outline = Outline {
        default: default.map(|default| default.value.clone()),
        ..Outline::default()
    };
    if said("x-kubernetes-list-type").is_some_and(|list| list == "map")
        && let Some(names) = said("x-kubernetes-list-map-keys").and_then(|names| names.as_array())
    {
        let names = names.iter().filter_map(|name| name.as_str().map(str::to_owned));
        outline.keys = names.collect();
    }
    match &description.resolve(schema).shape {
        Shape::Object(fields) => {
            let fields = fields.iter();
            let known = fields.filter_map(|field| {
                Some((field.name.to_string(), self::outline(description, &field.schema)?))
            });
            outline.fields = known.collect();
        }
        Shape::List(inner) | Shape::Map(inner) => {
            outline.each = self::outline(description, inner).map(Box::new);
        }
        _ => {}
    }
    (!outline.is_empty()).then_some(outline)
}
