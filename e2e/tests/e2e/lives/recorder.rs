//! Records all writes to the objects of several kinds, in order, and makes the requests of the test itself.

use super::NAMESPACE;
use crate::cluster::{Cluster, client};
use futures::StreamExt as _;
use krator::model::{Kind, ObjectKind, Scope};
use kube::Client;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, WatchEvent, WatchParams};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::runtime::Runtime;

/// The path of the objects of a kind in the API.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Collection(String);

impl Collection {
    fn new(group: &str, version: &str, plural: &str, scope: Scope) -> Collection {
        let root = if group.is_empty() {
            format!("/api/{version}")
        } else {
            format!("/apis/{group}/{version}")
        };
        Collection(match scope {
            Scope::Namespaced => format!("{root}/namespaces/{NAMESPACE}/{plural}"),
            Scope::Cluster => format!("{root}/{plural}"),
        })
    }

    /// The objects of a kind of the description.
    pub fn of(kind: &Kind) -> Collection {
        let resource = &kind.resource;
        let (group, version) = (resource.group.as_str(), resource.version.as_str());
        Collection::new(group, version, resource.plural.as_str(), resource.scope.value)
    }

    /// The objects of a kind that another kind owns.
    pub fn of_owned(kind: &ObjectKind) -> Collection {
        let scope = kind.scope.unwrap_or(Scope::Namespaced);
        Collection::new(&kind.group, &kind.version, kind.plural.as_str(), scope)
    }

    /// The events about all objects.
    pub fn of_events() -> Collection {
        Collection("/apis/events.k8s.io/v1/events".to_owned())
    }
}

/// A write to an object.
#[derive(Clone)]
pub struct Write {
    pub deleted: bool,
    /// The object after the write.
    pub object: Value,
}

impl Write {
    /// The string at a JSON pointer, empty when there is none.
    pub fn text(&self, pointer: &str) -> &str {
        self.object
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }
}

/// Watches of several kinds, which end with this value.
pub struct Recorder {
    writes: Arc<Mutex<Vec<Write>>>,
    client: Client,
    runtime: Runtime,
}

impl Recorder {
    /// Watches the objects of these collections, as the administrator of a cluster.
    pub fn start(cluster: &Cluster, collections: impl IntoIterator<Item = Collection>) -> Recorder {
        let runtime = Runtime::new().expect("threads");
        let client = runtime.block_on(client(&cluster.kubeconfig("admin")));
        let writes = Arc::<Mutex<Vec<Write>>>::default();
        for collection in collections {
            let version = runtime.block_on(version(&client, &collection));
            runtime.spawn(follow(client.clone(), collection, version, Arc::clone(&writes)));
        }
        Recorder {
            writes,
            client,
            runtime,
        }
    }

    /// The writes from this index on, in the order in which they were seen. For a single object, that is the order of
    /// the server.
    pub fn since(&self, first: usize) -> Vec<Write> {
        self.writes.lock().unwrap_or_else(PoisonError::into_inner)[first..].to_vec()
    }

    /// The present objects of a collection.
    pub fn list(&self, collection: &Collection) -> Vec<Value> {
        let list = self.runtime.block_on(list(&self.client, collection));
        list["items"].as_array().cloned().unwrap_or_default()
    }

    /// Changes an object by a merge patch.
    pub fn merge(&self, collection: &Collection, name: &str, patch: &str) {
        let patch: Value = serde_json::from_str(patch).expect("JSON");
        let request = kube::core::Request::new(&collection.0);
        let request = request.patch(name, &PatchParams::default(), &Patch::Merge(patch));
        let answer = self.client.request::<Value>(request.expect("a path"));
        self.runtime.block_on(answer).expect("the object is there");
    }

    /// Deletes an object, without waiting for its end.
    pub fn delete(&self, collection: &Collection, name: &str) {
        let request = kube::core::Request::new(&collection.0);
        let request = request.delete(name, &DeleteParams::default());
        let answer = self.client.request::<Value>(request.expect("a path"));
        self.runtime.block_on(answer).expect("the object is there");
    }

    /// The number of existing objects, according to the recorded writes.
    pub fn present(&self) -> usize {
        let mut there = BTreeMap::new();
        for write in self.since(0) {
            let uid = write.text("/metadata/uid").to_owned();
            there.insert(uid, !write.deleted);
        }
        there.values().filter(|there| **there).count()
    }
}

async fn list(client: &Client, collection: &Collection) -> Value {
    let request = kube::core::Request::new(&collection.0).list(&ListParams::default());
    let list = client.request(request.expect("a path")).await;
    list.unwrap_or_else(|error| panic!("{}: {error}", collection.0))
}

async fn version(client: &Client, collection: &Collection) -> String {
    let list = list(client, collection).await;
    list["metadata"]["resourceVersion"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

/// Records the writes after a version. A server may end a watch at any time; the next one continues from the last
/// version.
async fn follow(client: Client, collection: Collection, mut version: String, writes: Arc<Mutex<Vec<Write>>>) {
    loop {
        let request = kube::core::Request::new(&collection.0).watch(&WatchParams::default(), &version);
        let watch = client.request_events::<Value>(request.expect("a path")).await;
        // A failed watch is repeated. If events stay out, the waits of the test report it.
        let Ok(watch) = watch else { continue };
        let mut watch = watch.boxed();
        while let Some(Ok(event)) = watch.next().await {
            let (deleted, object) = match event {
                WatchEvent::Added(object) | WatchEvent::Modified(object) => (false, object),
                WatchEvent::Deleted(object) => (true, object),
                WatchEvent::Bookmark(_) => continue,
                WatchEvent::Error(error) => panic!("the watch of {} cannot go on: {error:?}", collection.0),
            };
            version = object["metadata"]["resourceVersion"]
                .as_str()
                .unwrap_or_default()
                .to_owned();
            writes
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(Write { deleted, object });
        }
    }
}
