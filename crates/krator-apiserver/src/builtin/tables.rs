//! Tables, as `kubectl get` prints them, after `pkg/printers/internalversion` of Kubernetes. `tools/openapi/draw`
//! extracts the columns from a real server. They include those of `-o wide`, which kubectl hides.

mod pods;
mod services;
mod workloads;

pub(super) use pods::{event, pod};
pub(super) use services::{ingress, service};
pub(super) use workloads::{cron_job, daemon_set, deployment, job, replicas, stateful_set};

use super::documents::ServedKind;
use super::json::{entry, get, int, list, text};
use super::rules::Rules;
use super::times::{human_duration, read_time};
use serde::Deserialize;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::sync::LazyLock;

const COLUMNS: &str = include_str!("../../data/columns.txt");

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Column {
    /// The heading, such as `Age`.
    pub name: String,
    /// The type of OpenAPI, such as `string`.
    #[serde(rename = "type")]
    pub type_: String,
    /// The format of OpenAPI, such as `name`.
    pub format: String,
    /// The description for users.
    pub description: String,
    /// Above zero for columns that are printed only with `-o wide`.
    pub priority: i32,
}

/// The columns that are the same in all tables.
const COMMON: [&str; 3] = ["Name", "Age", "Created At"];

/// The columns of the tables of a resource. Resources without a list request have none.
pub(super) fn columns(kind: &ServedKind, rules: &Rules) -> Vec<&'static Column> {
    static TABLE: LazyLock<BTreeMap<(&'static str, &'static str), Vec<Column>>> = LazyLock::new(|| {
        let mut table = BTreeMap::<_, Vec<Column>>::new();
        for line in COLUMNS.lines() {
            let mut words = line.splitn(3, ' ');
            let (version, resource) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            let column = serde_json::from_str(words.next().unwrap_or_default());
            let columns = table.entry((version, resource)).or_default();
            columns.push(column.expect("the tests read all columns"));
        }
        table
    });
    let version = match kind.group.as_str() {
        "" => kind.version.clone(),
        group => format!("{group}/{}", kind.version),
    };
    let found = TABLE
        .iter()
        .find(|((of, resource), _)| *of == version && *resource == kind.resource);
    let columns = found.into_iter().flat_map(|(_, columns)| columns);
    let is_shown = |column: &&Column| rules.cells.is_some() || COMMON.contains(&column.name.as_str());
    columns.filter(is_shown).collect()
}

/// The cells of an object, one for each column.
pub(super) fn cells(columns: &[&Column], rules: &Rules, object: &Json, now: i64) -> Vec<Json> {
    let created = get(object, "metadata.creationTimestamp");
    let own = rules.cells.map(|cells| cells(object, now));
    let mut own = own.into_iter().flatten();
    let cell = |column: &&Column| match column.name.as_str() {
        "Name" => json!(text(object, "metadata.name")),
        "Age" => json!(age(created, now)),
        "Created At" => created.cloned().unwrap_or_default(),
        _ => own.next().unwrap_or_default(),
    };
    columns.iter().map(cell).collect()
}

/// The texts at some paths.
pub(super) fn texts(object: &Json, paths: &[&str]) -> Vec<Json> {
    paths.iter().map(|path| json!(text(object, path))).collect()
}

pub(super) fn config_map(object: &Json, _now: i64) -> Vec<Json> {
    vec![json!(count(object, "data") + count(object, "binaryData"))]
}

pub(super) fn secret(object: &Json, _now: i64) -> Vec<Json> {
    vec![json!(text(object, "type")), json!(count(object, "data"))]
}

pub(super) fn definition(definition: &Json, _now: i64) -> Vec<Json> {
    let is = |version: &&Json, flag: &str| get(version, flag) == Some(&json!(true));
    let served = list(definition, "spec.versions")
        .iter()
        .filter(|version| is(version, "served"));
    let mut versions: Vec<String> = served
        .map(|version| {
            let stored = if is(&version, "storage") { "(storage)" } else { "" };
            format!("{}{stored}", text(version, "name"))
        })
        .collect();
    versions.sort();
    vec![
        json!(text(definition, "spec.scope")),
        json!(versions.join(",")),
        json!(text(definition, "spec.group")),
        json!(text(definition, "spec.names.kind")),
        json!(super::json::texts(definition, "spec.names.shortNames").join(",")),
        json!(has_condition(
            list(definition, "status.conditions"),
            "Established"
        )),
    ]
}

fn modes(modes: &[&str]) -> String {
    const SHORT: [(&str, &str); 4] = [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ];
    let found = SHORT
        .iter()
        .filter(|(mode, _)| modes.contains(mode))
        .map(|(_, short)| *short);
    found.collect::<Vec<_>>().join(",")
}

/// The storage class, which was an annotation in former versions of Kubernetes.
fn class(object: &Json) -> String {
    const ANNOTATION: &str = "volume.beta.kubernetes.io/storage-class";
    let old = entry(object, "metadata.annotations", ANNOTATION).and_then(Json::as_str);
    old.unwrap_or_else(|| text(object, "spec.storageClassName"))
        .to_owned()
}

pub(super) fn claim(claim: &Json, _now: i64) -> Vec<Json> {
    let volume = text(claim, "spec.volumeName");
    let (capacity, access) = match volume {
        "" => (String::new(), String::new()),
        _ => (
            entry(claim, "status.capacity", "storage")
                .and_then(Json::as_str)
                .unwrap_or("0")
                .to_owned(),
            modes(&super::json::texts(claim, "status.accessModes")),
        ),
    };
    vec![
        // The phase, or `Terminating` if the claim is being deleted.
        match get(claim, "metadata.deletionTimestamp") {
            Some(_) => json!("Terminating"),
            None => json!(text(claim, "status.phase")),
        },
        json!(volume),
        json!(capacity),
        json!(access),
        json!(class(claim)),
        json!(text_or(claim, "spec.volumeAttributesClassName", "<unset>")),
        json!(text_or(claim, "spec.volumeMode", "<unset>")),
    ]
}

fn count(object: &Json, map: &str) -> usize {
    get(object, map)
        .and_then(Json::as_object)
        .map_or(0, serde_json::Map::len)
}

/// The age of a time.
fn age(time: Option<&Json>, now: i64) -> String {
    let then = time.and_then(Json::as_str).and_then(read_time);
    then.map_or("<unknown>".to_owned(), |then| {
        human_duration(now - then.as_second())
    })
}

/// The names and the images of containers, separated by commas.
fn containers(object: &Json, path: &str) -> [Json; 2] {
    ["name", "image"].map(|field| {
        let texts = list(object, path).iter().map(|container| text(container, field));
        json!(texts.collect::<Vec<_>>().join(","))
    })
}

/// Labels as `a=b,c=d`.
fn labels(labels: &Json) -> String {
    selector_or_none(&json!({"matchLabels": labels}))
}

/// A label selector, such as `app=web,tier in (a,b)`.
fn selector(selector: &Json) -> String {
    let equal = super::json::entries(selector, "matchLabels");
    let equal = equal.map(|(key, value)| {
        (
            key.as_str(),
            format!("{key}={}", value.as_str().unwrap_or_default()),
        )
    });
    let expressions = list(selector, "matchExpressions").iter().map(|requirement| {
        let key = text(requirement, "key");
        let mut values = super::json::texts(requirement, "values");
        values.sort_unstable();
        let values = values.join(",");
        let part = match text(requirement, "operator") {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "Exists" => key.to_owned(),
            _ => format!("!{key}"),
        };
        (key, part)
    });
    let mut parts: Vec<(&str, String)> = equal.chain(expressions).collect();
    parts.sort_by_key(|(key, _)| *key);
    let parts: Vec<String> = parts.into_iter().map(|(_, part)| part).collect();
    parts.join(",")
}

/// The text of a label selector, or of a plain map of labels as in ReplicationControllers.
pub(super) fn selector_of(value: &Json) -> String {
    if value.get("matchLabels").is_some() || value.get("matchExpressions").is_some() {
        return selector(value);
    }
    selector(&json!({"matchLabels": value}))
}

fn selector_or_none(value: &Json) -> String {
    match selector(value) {
        text if text.is_empty() => "<none>".to_owned(),
        text => text,
    }
}

/// The text at a path, or `other` if it is empty.
fn text_or<'a>(object: &'a Json, path: &str, other: &'a str) -> &'a str {
    match text(object, path) {
        "" => other,
        text => text,
    }
}

/// The integer at a path, or zero.
fn number(object: &Json, path: &str) -> i64 {
    int(object, path).unwrap_or_default()
}

/// Whether a list of conditions has a true one of a type.
fn has_condition(conditions: &[Json], type_: &str) -> bool {
    let found = conditions
        .iter()
        .find(|condition| text(condition, "type") == type_);
    found.is_some_and(|condition| text(condition, "status") == "True")
}

#[cfg(test)]
mod tests {
    use crate::builtin::{kinds, of};
    use serde_json::json;

    #[test]
    fn each_kind_that_is_listed_has_a_cell_for_each_column() {
        for kind in kinds()
            .iter()
            .filter(|kind| kind.verbs.iter().any(|verb| verb == "list"))
        {
            let builtin = of(&kind.group, &kind.resource).expect("a builtin kind");
            let columns = builtin.columns();
            assert!(!columns.is_empty(), "{} has no columns", kind.resource);
            assert_eq!(
                builtin.cells(&json!({}), 0).len(),
                columns.len(),
                "{}",
                kind.resource
            );
        }
    }
}
