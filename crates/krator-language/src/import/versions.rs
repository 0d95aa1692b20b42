//! The versions other than the storage version.

use std::collections::BTreeSet;

use krator_schema::Path;
use serde_json::{Map, Value as Json, json};

use super::resource::{self, Fields};
use super::{Findings, Rest, clean, mapping};
use crate::names::VersionName;
use crate::text::shown;

/// The maximum number of differences between two schemas in a message.
const NAMED: usize = 5;

/// `versions` of a description: those with the same schema as the storage version. For the others, findings list the
/// differences.
pub(super) fn others(
    definition: &Json,
    stored: &Json,
    fields: &Fields<'_>,
    findings: &mut Findings,
) -> Map<String, Json> {
    let path = Path::root().field("spec").field("versions");
    let all = definition["spec"]["versions"].as_array().into_iter().flatten();
    let mut written = mapping();
    for (at, version) in all.enumerate().filter(|(_, version)| version["storage"] != true) {
        let path = path.index(at);
        let name = version["name"].as_str().unwrap_or_default();
        let is_served = version["served"] == true;
        if let Err(why) = fits(name, stored, version) {
            let version = shown(name);
            match is_served {
                true => findings.add_loss(
                    &path,
                    format!(
                        "`{version}` is left out, so its clients get 404 as soon as the API server has this CRD: \
                         {why}; add it to `versions`, with the `changes` from it to the newer version"
                    ),
                ),
                false => findings.add(&path, format!("`{version}`, which is not served, is left out: {why}")),
            }
            continue;
        }
        let entry = entry(version, &path, fields, columns(stored), findings);
        written.insert(name.to_owned(), Json::Object(entry));
    }
    // The newest of the older versions comes first.
    let mut written: Vec<(String, Json)> = written.into_iter().collect();
    written.sort_by_key(|(name, _)| std::cmp::Reverse(age(name)));
    written.into_iter().collect()
}

fn columns(version: &Json) -> &[Json] {
    version["additionalPrinterColumns"]
        .as_array()
        .map_or(&[], Vec::as_slice)
}

/// A version with the same schema as the storage version.
fn entry(
    version: &Json,
    path: &Path,
    fields: &Fields<'_>,
    columns: &[Json],
    findings: &mut Findings,
) -> Map<String, Json> {
    let mut rest = Rest::of(version);
    for key in ["name", "storage", "schema", "subresources", "selectableFields"] {
        rest.take(key);
    }
    let mut keys = mapping();
    if !rest.is_true("served") {
        keys.insert("served".to_owned(), false.into());
    }
    let warning = rest.text("deprecationWarning");
    if rest.is_true("deprecated") {
        let why = warning.map_or_else(|| "use a newer version".to_owned(), clean);
        keys.insert("deprecated".to_owned(), why.trim().into());
    }
    let own = rest.list("additionalPrinterColumns");
    if own != columns {
        let path = path.field("additionalPrinterColumns");
        keys.insert(
            "columns".to_owned(),
            resource::columns(own, &path, fields, findings).into(),
        );
    }
    findings.unread(path, rest);
    keys.insert("changes".to_owned(), json!([]));
    keys
}

/// The reason why a version cannot be imported without `changes`.
fn fits(name: &str, stored: &Json, version: &Json) -> Result<(), String> {
    if let Err(why) = VersionName::parse(name) {
        return Err(format!("a description needs {}", why.expected));
    }
    let mut differences = BTreeSet::new();
    let root = Path::root();
    let schema = |version: &Json| version["schema"]["openAPIV3Schema"].clone();
    differ(&schema(stored), &schema(version), &root, &mut differences);
    for key in ["subresources", "selectableFields"] {
        if stored[key] != version[key] {
            differences.insert(format!("`{key}`"));
        }
    }
    if differences.is_empty() {
        return Ok(());
    }
    let count = differences.len();
    let mut named: Vec<String> = differences.into_iter().take(NAMED).collect();
    if count > NAMED {
        named.push(format!("{} more", count - NAMED));
    }
    Err(format!(
        "it differs from the stored version in {}",
        named.join(", ")
    ))
}

/// Adds the fields at which two schemas differ in more than descriptions.
fn differ(stored: &Json, other: &Json, path: &Path, differences: &mut BTreeSet<String>) {
    let without = |schema: &Json| {
        let mut keys = schema.as_object().cloned().unwrap_or_default();
        for key in ["description", "properties", "items", "additionalProperties"] {
            keys.shift_remove(key);
        }
        keys
    };
    if without(stored) != without(other) {
        differences.insert(place(path));
    }
    let properties = |schema: &Json| schema["properties"].as_object().cloned().unwrap_or_default();
    let (ours, theirs) = (properties(stored), properties(other));
    let names: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
    for name in names {
        let path = path.field(name);
        match (ours.get(name), theirs.get(name)) {
            (Some(stored), Some(other)) => differ(stored, other, &path, differences),
            _ => _ = differences.insert(place(&path)),
        }
    }
    for key in ["items", "additionalProperties"] {
        match (&stored[key], &other[key]) {
            (Json::Object(_), Json::Object(_)) => {
                differ(&stored[key], &other[key], &path.field("*"), differences)
            }
            (stored, other) if stored != other => _ = differences.insert(place(path)),
            _ => {}
        }
    }
}

fn place(path: &Path) -> String {
    match path.segments() {
        [] => "the object as a whole".to_owned(),
        _ => format!("`.{}`", shown(&path.to_string())),
    }
}

/// The order of versions in Kubernetes: by stability, and then by number.
fn age(name: &str) -> (u8, u32, u32) {
    let rest = name.strip_prefix('v').unwrap_or_default();
    let number = |text: &str| text.parse().unwrap_or(0);
    let split = |word: &str| {
        rest.split_once(word)
            .map(|(major, minor)| (number(major), number(minor)))
    };
    match (split("alpha"), split("beta")) {
        (Some((major, minor)), _) => (0, major, minor),
        (_, Some((major, minor))) => (1, major, minor),
        _ => (2, number(rest), 0),
    }
}
