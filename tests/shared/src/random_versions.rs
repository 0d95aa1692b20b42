//! Random older versions of the kind of a description: chains of changes that krator accepts.

use super::dice::Dice;
use super::random_description::Documents;
use krator::model::{Description, Field, Kind, Schema, Shape};
use serde_json::{Value, json};

/// A place in the spec of a kind: its path, and its type.
struct Place<'d> {
    path: String,
    schema: &'d Schema,
    /// Whether it is in a list or a map; then it refers to every item.
    is_repeated: bool,
}

/// A description of one kind with older versions, and the number of refused changes.
pub struct Versioned {
    pub documents: Documents,
    pub refused: usize,
}

/// Adds up to `most` older versions to a sound description of one kind.
pub fn with_versions(mut documents: Documents, most: usize, dice: &mut Dice) -> Versioned {
    let mut refused = 0;
    let mut names = vec!["v1beta2", "v1beta1", "v1alpha1"];
    let document = documents.0[0].clone();
    names.retain(|name| document["resource"]["version"] != **name);
    documents.0[0]["versions"] = json!({});
    for name in names.into_iter().take(1 + dice.below(most)) {
        let mut version = json!({"changes": []});
        if dice.one_in(2) {
            version["deprecated"] = json!("use the newest");
        }
        if dice.one_in(4) {
            version["served"] = json!(false);
        }
        if dice.one_in(4) {
            version["columns"] =
                json!([{"name": "Born", "path": ".metadata.creationTimestamp", "type": "date"}]);
        }
        if dice.one_in(4)
            && documents.0[0]["versions"]
                .as_object()
                .is_some_and(serde_json::Map::is_empty)
        {
            version["storage"] = json!(true);
        }
        documents.0[0]["versions"][name] = version;
        let count = dice.below(6);
        for number in 0..count {
            let checked = krator::check("krator.yaml", documents.text().as_bytes());
            let description = checked.sound().unwrap_or_else(|| {
                let findings: Vec<&str> = checked.findings.iter().map(|finding| &*finding.message).collect();
                panic!("{findings:#?}\n{}", documents.text())
            });
            let kind = &description.kinds[0];
            let Some(change) = change(description, kind, number, dice) else {
                continue;
            };
            let mut changed = documents.clone();
            let changes = changed.0[0]["versions"][name]["changes"]
                .as_array_mut()
                .expect("a list");
            // Changes are undone from the last to the first.
            changes.insert(0, change.clone());
            let checked = krator::check("krator.yaml", changed.text().as_bytes());
            if checked.sound().is_some() {
                documents = changed;
                continue;
            }
            let is_error = |finding: &&krator::finding::Finding| finding.rule.severity.as_str() == "error";
            for finding in checked.findings.iter().filter(is_error) {
                assert!(
                    ["conversion-invalid", "lossy-conversion"].contains(&finding.rule.name),
                    "{change} makes a version that is refused: {}\n{}",
                    finding.message,
                    changed.text()
                );
            }
            refused += 1;
        }
    }
    Versioned { documents, refused }
}

/// A change to the oldest version so far.
fn change(description: &Description, kind: &Kind, number: usize, dice: &mut Dice) -> Option<Value> {
    let oldest = kind
        .versions
        .last()
        .map_or(kind.clone(), |version| kind.in_version(version));
    let mut places = Vec::new();
    let is_status = dice.one_in(8);
    if is_status {
        fields(description, &oldest.status, ".status", false, 0, &mut places);
    } else {
        walk(description, &oldest.spec, ".spec", false, 0, &mut places);
    }
    let others = kind.versions.len() * 10 + number;
    if dice.one_in(5) {
        let parents = places
            .iter()
            .filter(|place| matches!(description.resolve(place.schema).shape, Shape::Object(_)));
        let parents: Vec<&str> = parents
            .map(|place| place.path.as_str())
            .chain([".spec"])
            .collect();
        let types = [
            json!("optional string"),
            json!({"type": "integer", "default": 3}),
            json!({"type": "list of string", "optional": true}),
            json!({"optional": true, "properties": {"a": "string", "b": {"type": "boolean", "default": true}}}),
        ];
        let path = format!("{}.legacy{others}", dice.among(&parents));
        return Some(json!({"removed": path, "type": dice.among(&types)}));
    }
    let place = dice.pick(&places)?;
    let (above, _) = place.path.rsplit_once('.')?;
    let is_field = !place.path.ends_with("[*]");
    let schema = description.resolve(place.schema);
    let renamed = || json!({"renamed": format!("{above}.former{others}"), "to": place.path});
    let elsewhere = format!(".{}.elsewhere{others}", if is_status { "status" } else { "spec" });
    Some(match (dice.below(6), &schema.shape) {
        (0..=2, Shape::Enum(values)) => {
            let mut map = serde_json::Map::new();
            for (at, value) in values.iter().enumerate() {
                let older = format!("was-{}", if dice.one_in(4) { 0 } else { at });
                match map.get_mut(&older) {
                    Some(Value::Array(newer)) => newer.push(json!(value.value)),
                    _ => drop(map.insert(older, json!([value.value]))),
                }
            }
            json!({"values": place.path, "map": map})
        }
        (0..=3, Shape::Duration) => {
            let unit = dice.among(&["milliseconds", "seconds", "minutes", "hours"]);
            json!({"retyped": place.path, "from": "integer", "unit": unit})
        }
        (0..=2, Shape::List(_)) if !place.is_repeated && is_field => {
            json!({"moved": elsewhere, "to": format!("{}[0]", place.path)})
        }
        (3, _) if is_field && !place.is_repeated => json!({"moved": elsewhere, "to": place.path}),
        (4, _) if is_field && dice.one_in(2) => {
            let from = [
                json!("optional string"),
                json!({"type": "string", "default": "none", "example": "some"}),
            ];
            json!({"custom": place.path, "from": dice.among(&from)})
        }
        (4 | 5, Shape::Boolean) if is_field => json!({"added": place.path, "default": dice.one_in(2)}),
        (4 | 5, Shape::String) if is_field => json!({"added": place.path, "default": "text"}),
        (4 | 5, _) if is_field => json!({"added": place.path}),
        _ if is_field => renamed(),
        _ => return None,
    })
}

fn walk<'d>(
    description: &'d Description,
    schema: &'d Schema,
    path: &str,
    is_repeated: bool,
    depth: usize,
    places: &mut Vec<Place<'d>>,
) {
    match &description.resolve(schema).shape {
        Shape::Object(of) => fields(description, of, path, is_repeated, depth, places),
        Shape::List(inner) | Shape::Map(inner) => {
            let path = format!("{path}[*]");
            places.push(Place {
                path: path.clone(),
                schema: inner,
                is_repeated: true,
            });
            walk(description, inner, &path, true, depth, places);
        }
        _ => {}
    }
}

fn fields<'d>(
    description: &'d Description,
    of: &'d [Field],
    path: &str,
    is_repeated: bool,
    depth: usize,
    places: &mut Vec<Place<'d>>,
) {
    // Paths in changes do not support other characters.
    let is_written = |name: &str| {
        name.chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c))
    };
    let written = of.iter().filter(|field| is_written(field.name.as_str()));
    for field in written.filter(|_| depth < 4) {
        let name = field.name.as_str().replace('.', "\\.");
        let path = format!("{path}.{name}");
        places.push(Place {
            path: path.clone(),
            schema: &field.schema,
            is_repeated,
        });
        walk(description, &field.schema, &path, is_repeated, depth + 1, places);
    }
}
