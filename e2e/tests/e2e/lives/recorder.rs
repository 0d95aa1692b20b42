//! Everything that is written to the objects of several kinds, in order; and what a test itself does to them.

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

/// Where the objects of a kind are, as a path of the API.
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

    /// The objects of a kind that another one owns.
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

/// Watches of several kinds, which end with it.
pub struct Recorder {
    writes: Arc<Mutex<Vec<Write>>>,
    client: Client,
    runtime: Runtime,
}

impl Recorder {
    /// Watches the objects of these collections, as administrator of a cluster.
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

    /// The writes from a certain one on, in the order in which they were seen. That is the order of the server among those
    /// to one object.
    pub fn since(&self, first: usize) -> Vec<Write> {
        self.writes.lock().unwrap_or_else(PoisonError::into_inner)[first..].to_vec()
    }

    /// The objects of a collection as they are now.
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

    /// Deletes an object, and does not wait until it is gone.
    pub fn delete(&self, collection: &Collection, name: &str) {
        let request = kube::core::Request::new(&collection.0);
        let request = request.delete(name, &DeleteParams::default());
        let answer = self.client.request::<Value>(request.expect("a path"));
        self.runtime.block_on(answer).expect("the object is there");
    }

    /// How many objects are there, by what was seen.
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

/// Records what is written after a version. A server may end a watch at any time; the next one begins where it ended.
async fn follow(client: Client, collection: Collection, mut version: String, writes: Arc<Mutex<Vec<Write>>>) {
    loop {
        let request = kube::core::Request::new(&collection.0).watch(&WatchParams::default(), &version);
        let watch = client.request_events::<Value>(request.expect("a path")).await;
        // Whoever waits for what does not come says so.
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
