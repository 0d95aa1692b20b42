//! Tables, as `kubectl get` prints them, after `pkg/printers/internalversion` of Kubernetes. The columns are drawn from a
//! real server by `tools/openapi/draw`; it always makes those of `-o wide`, too, and kubectl leaves them out.

mod access;
mod pods;
mod services;
mod storage;
mod workloads;

use super::json::{entry, get, int, list, text};
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
    /// For people.
    pub description: String,
    /// Above zero for columns that only `-o wide` prints.
    pub priority: i32,
}

/// The columns of the tables of a resource. Those that are never listed have none.
pub(super) fn columns(group: &str, resource: &str) -> &'static [Column] {
    static TABLE: LazyLock<BTreeMap<(&'static str, &'static str), Vec<Column>>> = LazyLock::new(|| {
        let mut table = BTreeMap::<_, Vec<Column>>::new();
        for line in COLUMNS.lines() {
            let mut words = line.splitn(3, ' ');
            let (version, resource) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            let group = version.split_once('/').map_or("", |(group, _)| group);
            let column = serde_json::from_str(words.next().unwrap_or_default());
            table
                .entry((group, resource))
                .or_default()
                .push(column.expect("the tests read all columns"));
        }
        table
    });
    let found = TABLE.iter().find(|(key, _)| **key == (group, resource));
    found.map(|(_, columns)| columns.as_slice()).unwrap_or_default()
}

/// The cells of an object, one for each column. `now` is in seconds since 1970.
pub(super) fn cells(type_name: &str, object: &Json, now: i64) -> Vec<Json> {
    let name = text(object, "metadata.name");
    let age = age(get(object, "metadata.creationTimestamp"), now);
    match type_name {
        "core/v1.Pod" => pods::pod(object, now),
        "core/v1.PodTemplate" => pods::template(object),
        "core/v1.Event" => pods::event(object, now),
        "events/v1.Event" => pods::event(&super::event_to_core(object), now),
        "core/v1.Node" => pods::node(object, age),
        "core/v1.ReplicationController" | "apps/v1.ReplicaSet" => workloads::replicas(object, age),
        "apps/v1.Deployment" => workloads::deployment(object, age),
        "apps/v1.StatefulSet" => workloads::stateful_set(object, age),
        "apps/v1.DaemonSet" => workloads::daemon_set(object, age),
        "apps/v1.ControllerRevision" => workloads::controller_revision(object, age),
        "batch/v1.Job" => workloads::job(object, age, now),
        "batch/v1.CronJob" => workloads::cron_job(object, age, now),
        "policy/v1.PodDisruptionBudget" => workloads::disruption_budget(object, age),
        "core/v1.Service" => services::service(object, age),
        "core/v1.Endpoints" => services::endpoints(object, age),
        "networking/v1.Ingress" => services::ingress(object, age),
        "networking/v1.IngressClass" => services::ingress_class(object, age),
        "networking/v1.NetworkPolicy" => {
            vec![
                json!(name),
                json!(selector_or_none(&object["spec"]["podSelector"])),
                json!(age),
            ]
        }
        "core/v1.PersistentVolumeClaim" => storage::claim(object, age),
        "core/v1.PersistentVolume" => storage::volume(object, age),
        "core/v1.ResourceQuota" => storage::quota(object, age),
        "core/v1.ConfigMap" => {
            let count = count(object, "data") + count(object, "binaryData");
            vec![json!(name), json!(count), json!(age)]
        }
        "core/v1.Secret" => vec![
            json!(name),
            json!(text(object, "type")),
            json!(count(object, "data")),
            json!(age),
        ],
        "core/v1.Namespace" => vec![json!(name), json!(text(object, "status.phase")), json!(age)],
        "coordination/v1.Lease" => vec![
            json!(name),
            json!(text(object, "spec.holderIdentity")),
            json!(age),
        ],
        "rbac/v1.RoleBinding" | "rbac/v1.ClusterRoleBinding" => access::binding(object, age),
        "core/v1.ServiceAccount" => vec![json!(name), json!(age)],
        // Kinds without a printer of their own show when they were created.
        _ => vec![json!(name), object["metadata"]["creationTimestamp"].clone()],
    }
}

fn count(object: &Json, map: &str) -> usize {
    get(object, map)
        .and_then(Json::as_object)
        .map_or(0, serde_json::Map::len)
}

/// How long ago a time was.
fn age(time: Option<&Json>, now: i64) -> String {
    let then = time.and_then(Json::as_str).and_then(read_time);
    then.map_or("<unknown>".to_owned(), |then| {
        human_duration(now - then.as_second())
    })
}

/// The names and the images of containers.
fn containers(list_of: &[Json]) -> [Json; 2] {
    let join = |field: &str| {
        json!(
            list_of
                .iter()
                .map(|container| text(container, field))
                .collect::<Vec<_>>()
                .join(",")
        )
    };
    [join("name"), join("image")]
}

/// Labels as `a=b,c=d`.
fn labels(labels: &Json) -> String {
    let mut pairs: Vec<String> = labels
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()))
        .collect();
    pairs.sort();
    if pairs.is_empty() {
        "<none>".to_owned()
    } else {
        pairs.join(",")
    }
}

/// A label selector, such as `app=web,tier in (a,b)`.
fn selector(selector: &Json) -> String {
    let mut parts: Vec<(String, String)> = super::json::entries(selector, "matchLabels")
        .map(|(key, value)| {
            (
                key.clone(),
                format!("{key}={}", value.as_str().unwrap_or_default()),
            )
        })
        .collect();
    for requirement in list(selector, "matchExpressions") {
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
        parts.push((key.to_owned(), part));
    }
    parts.sort_by(|(a, _), (b, _)| a.cmp(b));
    parts
        .into_iter()
        .map(|(_, part)| part)
        .collect::<Vec<_>>()
        .join(",")
}

/// A label selector, or a map of labels as ReplicationControllers have it.
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

/// The text at a path, or another one.
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

/// Whether a condition of a list is true.
fn has_condition(conditions: &[Json], type_: &str) -> bool {
    let found = conditions
        .iter()
        .find(|condition| text(condition, "type") == type_);
    found.is_some_and(|condition| text(condition, "status") == "True")
}

/// The storage in a map of quantities.
fn storage_of<'a>(object: &'a Json, path: &str) -> &'a str {
    entry(object, path, "storage")
        .and_then(Json::as_str)
        .unwrap_or("0")
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
            let builtin = of(kind.group, &kind.resource).expect("a builtin kind");
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
