//! The conversions between the versions of a kind, for the runtime, the API server of `krator dev` and the tests.

use krator_machine::versions::{
    Change, Defaults, Direction, Functions, Older, Shape as View, Step, Versions,
};
use serde_json::Value as Json;

use crate::crd::schema_of;
use crate::model::{Description, Kind, Schema, Shape, Version};
use crate::sample;

/// The versions of all kinds whose objects are not the same in all of them.
pub fn all(description: &Description) -> Vec<Versions> {
    let kinds = description.kinds.iter();
    kinds.filter_map(|kind| of(description, kind)).collect()
}

/// Converts an object of one of these kinds to another version, as the webhook of an operator does.
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
    let versions = versions.ok_or_else(|| format!("cannot convert {kind:?} to {to}"))?;
    versions.convert(object.clone(), to, functions)
}

/// The versions of a kind; `None` if objects are the same in all of them.
pub fn of(description: &Description, kind: &Kind) -> Option<Versions> {
    let older = kind.versions.iter().enumerate().map(|(at, version)| Older {
        shape: shape(description, version.name.as_str(), &version.spec),
        changes: changes(description, kind, at),
    });
    kind.converts().then(|| Versions {
        group: kind.resource.group.as_str().to_owned(),
        kind: kind.resource.kind.as_str().to_owned(),
        stored: kind.stored_version().as_str().to_owned(),
        newest: shape(description, kind.resource.version.as_str(), &kind.spec),
        older: older.collect(),
    })
}

/// Specs of each version with the edge cases of its fields, as JSON with a line for each.
pub fn specs(description: &Description, kind: &Kind) -> String {
    let older = kind
        .versions
        .iter()
        .map(|version| (&version.name.value, &version.spec));
    let versions = [(&kind.resource.version.value, &kind.spec)]
        .into_iter()
        .chain(older);
    let versions = versions.map(|(name, spec)| {
        let specs = sample::edge_cases(description, spec);
        let lines: Vec<String> = specs.iter().map(|spec| format!("    {spec}")).collect();
        format!("  \"{name}\": [\n{}\n  ]", lines.join(",\n"))
    });
    format!("{{\n{}\n}}\n", versions.collect::<Vec<_>>().join(",\n"))
}

/// The changes of a version, with the fallbacks for values that a function of the author fails to convert.
fn changes(description: &Description, kind: &Kind, at: usize) -> Vec<Change> {
    let changes = kind.versions[at].changes.iter();
    let mut changes: Vec<Change> = changes.map(|change| change.value.clone()).collect();
    for custom in customs_of(description, kind, at) {
        if let Change::Custom { newer, older, .. } = &mut changes[custom.index] {
            let last_is_field = matches!(custom.at.last(), Some(Step::Field(_)));
            let fallback = |schema: Option<&Schema>| {
                let schema = schema?;
                let may_be_absent = last_is_field && (schema.optional || description.is_filled_in(schema));
                (!may_be_absent).then(|| sample::value(&schema_of(description, schema)))
            };
            *newer = fallback(custom.newer);
            *older = fallback(custom.older);
        }
    }
    changes
}

/// A value that functions of the author convert.
pub struct Custom<'a> {
    /// The older version.
    pub version: &'a Version,
    /// The next newer one; `None` for the newest of all.
    pub next: Option<&'a Version>,
    /// The index of the change.
    pub index: usize,
    /// The name by which the runtime calls the functions.
    pub function: &'a str,
    /// The place of the value, as the change names it.
    pub at: &'a [Step],
    /// The schema of the value in the next newer version.
    pub newer: Option<&'a Schema>,
    /// The schema of the value in the older version.
    pub older: Option<&'a Schema>,
}

/// The values of a kind that functions of the author convert, the newest version first.
pub fn customs<'a>(description: &'a Description, kind: &'a Kind) -> impl Iterator<Item = Custom<'a>> {
    (0..kind.versions.len()).flat_map(move |at| customs_of(description, kind, at))
}

/// The changes between a version and the next newer one.
fn customs_of<'a>(
    description: &'a Description,
    kind: &'a Kind,
    at: usize,
) -> impl Iterator<Item = Custom<'a>> {
    let version = &kind.versions[at];
    let next = at.checked_sub(1).map(|next| &kind.versions[next]);
    let newer = next.map_or(&kind.spec, |next| &next.spec);
    let changes = version.changes.iter().enumerate();
    changes.filter_map(move |(index, change)| {
        let Change::Custom { at, function, .. } = &change.value else {
            return None;
        };
        // The path of a custom change refers to the schema after the changes before it and before the changes after it.
        let (before, after) = (&version.changes[..index], &version.changes[index + 1..]);
        let (mut in_older, mut in_newer) = (at.clone(), at.clone());
        for change in before.iter().rev() {
            change.value.follow(Direction::Down, &mut in_older);
        }
        for change in after {
            change.value.follow(Direction::Up, &mut in_newer);
        }
        Some(Custom {
            version,
            next,
            index,
            function,
            at,
            newer: at_path(description, newer, in_newer.get(1..)?),
            older: at_path(description, &version.spec, in_older.get(1..)?),
        })
    })
}

/// The schema at a path in a schema.
fn at_path<'a>(description: &'a Description, schema: &'a Schema, path: &[Step]) -> Option<&'a Schema> {
    path.iter().try_fold(schema, |schema, step| {
        match (step, &description.resolve(schema).shape) {
            (Step::Field(name), Shape::Object(fields)) => {
                let field = fields.iter().find(|field| field.name.value.as_str() == name);
                Some(&field?.schema)
            }
            (Step::Each | Step::Index(_), Shape::List(items)) => Some(&**items),
            (Step::Each, Shape::Map(values)) => Some(&**values),
            _ => None,
        }
    })
}

fn shape(description: &Description, name: &str, spec: &Schema) -> View {
    View {
        name: name.to_owned(),
        spec: defaults(description, spec).unwrap_or_default(),
    }
}

/// The defaults and list keys that conversions need for values of a schema; `None` if they need none.
fn defaults(description: &Description, schema: &Schema) -> Option<Defaults> {
    let said = |name: &str| {
        description
            .chain(schema)
            .find_map(|schema| schema.extension(name))
    };
    let default = description
        .chain(schema)
        .find_map(|schema| schema.default.as_ref());
    // The API server ignores a default of null.
    let default = default.filter(|default| !default.value.is_null());
    let mut known = Defaults {
        default: default.map(|default| default.value.clone()),
        ..Defaults::default()
    };
    if said("x-kubernetes-list-type").is_some_and(|list| list == "map")
        && let Some(names) = said("x-kubernetes-list-map-keys").and_then(|names| names.as_array())
    {
        let names = names.iter().filter_map(|name| name.as_str().map(str::to_owned));
        known.keys = names.collect();
    }
    match &description.resolve(schema).shape {
        Shape::Object(fields) => {
            let fields = fields.iter();
            let below = fields
                .filter_map(|field| Some((field.name.to_string(), defaults(description, &field.schema)?)));
            known.fields = below.collect();
        }
        Shape::List(inner) | Shape::Map(inner) => {
            known.each = defaults(description, inner).map(Box::new);
        }
        _ => {}
    }
    (!known.is_empty()).then_some(known)
}
