//! Differences between the specification of a CustomResourceDefinition in a cluster and the one that a description
//! generates.

use serde_json::{Map, Value as Json};

/// The maximum number of paths in a fault.
const MOST: usize = 5;

/// A path at which the specifications differ.
#[derive(Debug, PartialEq)]
pub(super) struct Difference {
    pub path: String,
    pub side: Side,
}

/// The kind of difference.
#[derive(Debug, PartialEq)]
pub(super) enum Side {
    /// Only the generated specification has a value there.
    Generated,
    /// Only the specification in the cluster has a value there.
    Stored,
    /// Both have a value there: the generated one and the stored one.
    Both(Json, Json),
}

/// All differences, except for values that the API server and the operator add.
pub(super) fn differences(generated: &Json, stored: &Json) -> Vec<Difference> {
    let mut found = Vec::new();
    let (mut generated, mut stored) = (generated.clone(), stored.clone());
    if generated.get("conversion").is_none() && stored["conversion"]["strategy"] == "None" {
        remove(&mut stored, "", "conversion");
    }
    // For `krator dev`, the address of its operator was copied from the stored specification.
    for specification in [&mut generated, &mut stored] {
        remove(specification, "/conversion/webhook/clientConfig", "caBundle");
    }
    compare(".spec", &generated, &stored, &mut found);
    found
}

fn remove(value: &mut Json, pointer: &str, key: &str) {
    if let Some(Json::Object(map)) = value.pointer_mut(pointer) {
        map.shift_remove(key);
    }
}

/// Whether an API server omits a value when it stores a definition. A default is kept unless it is null.
fn is_nothing(key: &str, value: &Json) -> bool {
    match value {
        Json::Null => true,
        _ if key == "default" => false,
        Json::Bool(false) => true,
        Json::Array(items) => items.is_empty(),
        Json::String(text) => text.is_empty(),
        Json::Object(fields) => key == "properties" && fields.is_empty(),
        Json::Number(_) | Json::Bool(true) => false,
    }
}

fn compare(path: &str, generated: &Json, stored: &Json, found: &mut Vec<Difference>) {
    match (generated, stored) {
        (Json::Object(generated), Json::Object(stored)) => {
            let below = |key: &str| format!("{path}.{key}");
            compare_all(generated, stored, below, found);
        }
        // Versions are compared by their names, because their order has no meaning.
        (Json::Array(generated), Json::Array(stored)) if is_named(generated) && is_named(stored) => {
            let below = |name: &str| format!("{path}[{name}]");
            compare_all(&by_name(generated), &by_name(stored), below, found);
        }
        _ if is_equal(generated, stored) => {}
        _ => found.push(Difference {
            path: path.to_owned(),
            side: Side::Both(generated.clone(), stored.clone()),
        }),
    }
}

fn compare_all(
    generated: &Map<String, Json>,
    stored: &Map<String, Json>,
    below: impl Fn(&str) -> String,
    found: &mut Vec<Difference>,
) {
    for (key, value) in generated {
        match stored.get(key) {
            Some(stored) => compare(&below(key), value, stored, found),
            None if is_nothing(key, value) => {}
            None => found.push(Difference {
                path: below(key),
                side: Side::Generated,
            }),
        }
    }
    for (key, value) in stored {
        if !generated.contains_key(key) && !is_nothing(key, value) {
            found.push(Difference {
                path: below(key),
                side: Side::Stored,
            });
        }
    }
}

fn is_named(items: &[Json]) -> bool {
    !items.is_empty() && items.iter().all(|item| item["name"].is_string())
}

fn by_name(items: &[Json]) -> Map<String, Json> {
    let named = items
        .iter()
        .map(|item| (item["name"].as_str().unwrap_or_default().to_owned(), item.clone()));
    named.collect()
}

/// Whether two values are equal; 1 equals 1.0.
fn is_equal(one: &Json, other: &Json) -> bool {
    match (one, other) {
        (Json::Number(one), Json::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        (Json::Array(one), Json::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_equal(one, other))
        }
        (Json::Object(one), Json::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(key, one)| other.get(key).is_some_and(|other| is_equal(one, other)))
        }
        _ => one == other,
    }
}

/// The differences in words: whether the definition in the cluster is older or newer, and the paths. `is_former` means
/// that it was generated before krator.yaml was edited.
pub(super) fn in_words(differences: &[Difference], is_former: bool) -> String {
    let all = |side: &Side| differences.iter().all(|difference| difference.side == *side);
    let (is_older, is_newer) = (all(&Side::Generated), all(&Side::Stored));
    let sentence = match (is_older, is_newer) {
        (true, _) => "the one in the cluster is older than krator.yaml: it lacks",
        (_, true) => "the one in the cluster is newer than krator.yaml, which lacks",
        _ if is_former => "the one in the cluster is older than krator.yaml: they differ in",
        _ => "the one in the cluster is of another krator.yaml: they differ in",
    };
    let line = |Difference { path, side }: &Difference| match side {
        Side::Both(generated, stored) => {
            let (generated, stored) = (short(generated), short(stored));
            format!("  {path}: {generated} in krator.yaml, {stored} in the cluster")
        }
        _ if is_older || is_newer => format!("  {path}"),
        Side::Generated => format!("  {path}, missing in the cluster"),
        Side::Stored => format!("  {path}, missing in krator.yaml"),
    };
    let mut lines: Vec<String> = differences.iter().take(MOST).map(line).collect();
    if differences.len() > MOST {
        lines.push(format!("  and {} more", differences.len() - MOST));
    }
    format!("{sentence}\n{}", lines.join("\n"))
}

/// A value, shortened to 60 characters.
fn short(value: &Json) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn differences_have_paths_and_a_side() {
        let version = |schema: Json| json!({"versions": [{"name": "v1", "schema": schema}]});
        let words = |generated: &Json, stored: &Json| in_words(&differences(generated, stored), false);
        let (small, large) = (
            version(json!({"a": 1})),
            version(json!({"a": 1.0, "b": {"c": true}})),
        );
        assert_eq!(
            words(&large, &small),
            "the one in the cluster is older than krator.yaml: it lacks\n  .spec.versions[v1].schema.b"
        );
        assert_eq!(
            words(&small, &large),
            "the one in the cluster is newer than krator.yaml, which lacks\n  .spec.versions[v1].schema.b"
        );
        assert_eq!(
            words(&version(json!({"a": "x"})), &small),
            "the one in the cluster is of another krator.yaml: they differ in\n  .spec.versions[v1].schema.a: \"x\" in krator.yaml, 1 in the cluster"
        );
    }

    #[test]
    fn what_the_api_server_adds_or_leaves_out_is_no_difference() {
        let stored = json!({"group": "a", "conversion": {"strategy": "None"}});
        let generated = json!({"group": "a", "preserveUnknownFields": false, "names": [], "properties": {}});
        assert_eq!(differences(&generated, &stored), []);
        assert_eq!(differences(&json!({"default": false}), &json!({})).len(), 1);
        let webhook = |bundle: Option<&str>| {
            let mut config = json!({"service": {"name": "a"}});
            if let Some(bundle) = bundle {
                config["caBundle"] = bundle.into();
            }
            json!({"conversion": {"strategy": "Webhook", "webhook": {"clientConfig": config}}})
        };
        assert_eq!(differences(&webhook(None), &webhook(Some("abc"))), []);
        assert_eq!(
            differences(&webhook(None), &json!({"conversion": {"strategy": "None"}})).len(),
            2
        );
    }

    #[test]
    fn certificates_differ_on_either_side() {
        let with = |certificate: &str| json!({"conversion": {"webhook": {"clientConfig": {"caBundle": certificate}}}});
        assert_eq!(differences(&with("a"), &with("b")), []);
    }
}
