//! Gathers the facts of `krator why`.

use anyhow::Context as _;
use serde_json::Value as Json;

use super::{Cluster, Named, look_at_lease, resource_path};
use crate::machine::values_at;
use crate::model::{Description, Kind, LookIn, ObjectKind, Scope, WatchBy};
use crate::observed::development::Development;
use crate::observed::{Lookup, text};
use crate::why::Facts;

/// The facts of a cluster about an object, whose operator runs in the namespace `home`.
///
/// # Errors
///
/// If there is no such object, or if it cannot be read.
pub fn examine(named: &Named<'_>, description: &Description, home: &str) -> anyhow::Result<Facts> {
    let (cluster, kind, namespace) = (&named.cluster, named.kind, named.namespace.as_deref());
    let answer = named.read()?;
    let now = answer
        .time
        .context("the API server sent no valid `Date` header")?;
    let object = answer.json();
    // Events about objects without a namespace are in `default`.
    let events = resource_path("", "v1", "events", Some(namespace.unwrap_or("default")));
    let uid = text(&object, "/metadata/uid");
    let events = cluster.find_all(&format!("{events}?fieldSelector=involvedObject.uid%3D{uid}"));
    let owned = kind
        .owns
        .iter()
        .map(|owned| cluster.find_all(&path_of(&owned.kind, namespace)));
    let owned = owned.collect();
    let watched = watched(cluster, kind, namespace, &object);
    // Only an ask that a limit may grant has a leader.
    let counted = match object["status"]["ask"]["leader"].is_string() {
        true => cluster.find_all(&named.path_of_all(None)),
        false => Lookup::Absent,
    };
    let development = Development::of(&cluster.find(Development::path()));
    let has_lease = development.is_none() && description.deploy.leader_election.value;
    let (lease, lease_later) = match has_lease {
        true => look_at_lease(cluster, home, description.operator.as_str()),
        false => (Lookup::Absent, None),
    };
    Ok(Facts {
        now,
        object,
        events,
        owned,
        watched,
        counted,
        development,
        lease,
        lease_later,
    })
}

/// The path of the objects of another kind: in the namespace of an object, unless the kind is cluster-scoped.
fn path_of(kind: &ObjectKind, namespace: Option<&str>) -> String {
    let namespace = namespace.filter(|_| kind.scope != Some(Scope::Cluster));
    resource_path(&kind.group, &kind.version, kind.plural.as_str(), namespace)
}

/// The objects of other kinds that an object refers to, or that refer to it.
fn watched(
    cluster: &Cluster,
    kind: &Kind,
    namespace: Option<&str>,
    object: &Json,
) -> Vec<(ObjectKind, String, Lookup)> {
    let mut watched = Vec::new();
    for watch in &kind.watches {
        let named: Option<String> = match watch.namespace.as_ref().map(|look_in| &look_in.value) {
            Some(LookIn::Name(name)) => Some(name.to_string()),
            Some(LookIn::Path(path)) => {
                let value = values_at(object, path).into_iter().next();
                value.and_then(Json::as_str).map(str::to_owned)
            }
            None => namespace.map(str::to_owned),
        };
        let path = path_of(&watch.kind, named.as_deref());
        match &watch.by {
            WatchBy::Path(by) => {
                for name in values_at(object, by).into_iter().filter_map(Json::as_str) {
                    let found = cluster.find(format!("{path}/{name}"));
                    watched.push((watch.kind.value.clone(), name.to_owned(), found));
                }
            }
            WatchBy::Label(key) => {
                let key = key.as_str().replace('/', "%2F");
                let label = format!("{path}?labelSelector={key}%3D{}", text(object, "/metadata/name"));
                for found in cluster.find_all(&label).objects() {
                    let name = text(found, "/metadata/name").to_owned();
                    watched.push((watch.kind.value.clone(), name, Lookup::There(found.clone())));
                }
            }
            // Such a watch affects all objects of the kind alike.
            WatchBy::All => {}
        }
    }
    watched
}
