//! The digests of the spec that an operator stores, for objects as the API server has them.

use krator_machine::spec_digest::{SpecDigest, WHOLE, digests_of};
use krator_schema::{Items, Properties, Schema};
use serde_json::Value as Json;

use crate::crd::{as_read, schema_of};
use crate::model::{Description, Kind, Segment};

/// Computes the digests of the specs of a kind.
#[derive(Debug)]
pub struct Digests<'a> {
    schema: &'a Schema,
    /// The fields that have a digest, with their paths as names.
    paths: Vec<(String, Vec<&'a str>)>,
    /// The paths of the fields that have defaults, by the number of fields above them that have one.
    defaults: Vec<Vec<Vec<&'a str>>>,
}

/// The fields of the spec of a kind that have a digest, with their paths as names: the fields whose changes states
/// distinguish, and the whole spec if a conversion may change it.
pub fn digested_fields(kind: &Kind) -> Vec<(String, Vec<&str>)> {
    let whole = kind.converts().then(|| (WHOLE.to_owned(), Vec::new()));
    let watched_fields = kind.watched_fields().into_iter().map(|path| {
        let names = path.segments.iter().filter_map(|segment| match segment {
            Segment::Field(name) => Some(name.as_str()),
            // Descriptions with such a path are refused.
            Segment::Each | Segment::Where { .. } => None,
        });
        (path.to_string(), names.collect())
    });
    whole.into_iter().chain(watched_fields).collect()
}

/// The schema of the specs of a kind.
pub fn spec_schema(description: &Description, kind: &Kind) -> Schema {
    as_read(schema_of(description, &kind.spec))
}

impl<'a> Digests<'a> {
    /// The digests of the fields whose changes the states of a kind with this schema distinguish, and of the whole spec
    /// if a conversion may change it. `None` if the operator stores none.
    pub fn of(kind: &'a Kind, schema: &'a Schema) -> Option<Self> {
        if !kind.keeps_digests() {
            return None;
        }
        let mut defaults = Vec::new();
        find_defaults(schema, (&[], 0), &mut defaults);
        Some(Digests {
            schema,
            paths: digested_fields(kind),
            defaults,
        })
    }

    /// The digests of a spec. Fields that have defaults may be absent.
    pub fn of_spec(&self, spec: &Json) -> Vec<SpecDigest> {
        let fill = |mut spec: Json| {
            krator_schema::default(self.schema, &mut spec);
            Some(spec)
        };
        let all = fill(spec.clone()).unwrap_or_default();
        digests_of(&all, &self.paths, &self.defaults, fill)
    }
}

fn find_defaults<'a>(schema: &'a Schema, above: (&[&'a str], usize), found: &mut Vec<Vec<Vec<&'a str>>>) {
    let (names, level) = above;
    for (name, field) in schema.properties.iter().flatten() {
        let names = [names, &[name.as_str()]].concat();
        let has_default = field.default.is_some();
        if has_default {
            found.resize_with(found.len().max(level + 1), Vec::new);
            found[level].push(names.clone());
        }
        find_defaults(field, (&names, level + usize::from(has_default)), found);
    }
    if let Some(Items::All(items)) = &schema.items {
        find_defaults(items, above, found);
    }
    if let Some(Properties::Schema(values)) = &schema.additional_properties {
        find_defaults(values, (&[names, &[""]].concat(), level), found);
    }
}
