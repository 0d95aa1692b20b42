//! The API server of a test: objects of other kinds, in memory, behind kube's client. Handlers send the same requests
//! as in a cluster.
mod objects;
mod request;
mod tried;

pub(crate) use objects::Key;

use super::Trial;
use crate::{
    error::Result,
    lock::Lock as _,
    resource::{Child, ChildDeletion},
};
use http::Response;
use jiff::Timestamp;
use krator_machine::reported::{Progress, report};
use kube::{Client, Resource, ResourceExt as _, client::Body};
use objects::Objects;
use std::{
    convert::Infallible,
    fmt,
    sync::{Arc, Mutex, OnceLock},
};
use tokio::time::Instant;

/// An API server in memory. It gets, lists, creates, replaces, patches and deletes objects. It has no watches and no
/// controllers, so no object is collected, scheduled or made ready unless the test does it.
pub(crate) struct InMemoryApi {
    objects: Mutex<Objects>,
    client: OnceLock<Client>,
    began: (Timestamp, Instant),
    /// Injects faults into requests.
    trial: Option<Arc<Trial>>,
}

impl Default for InMemoryApi {
    fn default() -> Self {
        Self {
            objects: Mutex::default(),
            client: OnceLock::new(),
            began: (Timestamp::now(), Instant::now()),
            trial: None,
        }
    }
}

impl fmt::Debug for InMemoryApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.objects.locked().fmt(f)
    }
}

/// The path of the objects of a kind.
pub(crate) fn collection<K: Resource<DynamicType = ()>>() -> String {
    K::url_path(&(), None)
}

fn key<K: Child>(object: &K) -> Key {
    Key {
        collection: collection::<K>(),
        namespace: object.namespace().unwrap_or_default(),
        name: object.name_any(),
    }
}

impl InMemoryApi {
    /// A client whose requests are answered by this API server. It needs tokio.
    pub fn client(self: &Arc<Self>) -> Client {
        let client = self.client.get_or_init(|| {
            // A strong reference to the API server would be a cycle, because it owns the client.
            let api = Arc::downgrade(self);
            let service = tower::service_fn(move |request| {
                let api = api.upgrade();
                async move {
                    let answer = match api {
                        Some(api) => api.answer(request).await,
                        None => Err(objects::refusal(503, "ServiceUnavailable", "the test is over")),
                    };
                    let (code, body) = match answer {
                        Ok((code, body)) => (code, body.to_string()),
                        Err(status) => (status.code, serde_json::to_string(&status).unwrap_or_default()),
                    };
                    let mut response = Response::new(Body::from(body.into_bytes()));
                    *response.status_mut() = http::StatusCode::from_u16(code).unwrap_or_default();
                    Ok::<_, Infallible>(response)
                }
            });
            Client::new(service, "default")
        });
        client.clone()
    }

    /// Sets the status of new objects of a kind, as JSON; they have none if it is empty.
    pub fn serves(&self, collection: String, status: &str) {
        let status = serde_json::from_str(status).unwrap_or_default();
        self.objects.locked().kind(collection).status = status;
    }

    /// Sets the fate of the children of a kind when their owner is deleted.
    pub fn owns(&self, collection: String, deletion: ChildDeletion) {
        self.objects.locked().kind(collection).deletion = deletion;
    }

    /// All objects of a kind, sorted by namespace and name.
    pub fn all<K: Child>(&self) -> Vec<Arc<K>> {
        let (collection, objects) = (collection::<K>(), self.objects.locked());
        let of_kind = objects.list(&collection, "");
        of_kind
            .filter_map(|object| serde_json::from_value(object.clone()).ok().map(Arc::new))
            .collect()
    }

    /// Stores an object as it is, with the next resource version.
    pub fn put<K: Child>(&self, object: &K) -> Result<()> {
        let mut body = serde_json::to_value(object)?;
        body["apiVersion"] = K::api_version(&()).into();
        body["kind"] = K::kind(&()).into();
        self.objects.locked().put(key(object), body);
        Ok(())
    }

    pub fn remove<K: Child>(&self, object: &K) {
        self.objects.locked().remove(&key(object));
    }

    /// Deletes or releases the children of an object whose deletion path has ended. Returns the names of kept children.
    pub fn end_children(&self, label: &str, owner: (&str, &str)) -> Vec<String> {
        self.objects.locked().end_children(label, owner)
    }

    /// The last apply of each object of a kind that handlers applied, sorted by namespace and name.
    pub fn applied<K: Child>(&self) -> Vec<K> {
        let (collection, objects) = (collection::<K>(), self.objects.locked());
        let applied = objects.applied(&collection);
        applied
            .filter_map(|body| serde_json::from_value(body.clone()).ok())
            .collect()
    }

    /// Gives all objects of a kind the status that their controller would write after success or permanent failure, and
    /// returns them.
    ///
    /// # Panics
    ///
    /// If there are none, or if their type cannot hold the status: a mistake in a test.
    pub fn report<K: Child>(&self, ready: bool) -> Vec<K> {
        let (group, kind) = (K::group(&()), K::kind(&()));
        let progress = if ready { Progress::Ready } else { Progress::Failed };
        let now = self.now().to_string();
        let reported = self.objects.locked().report(&collection::<K>(), |object| {
            report((&group, &kind), progress, &now, object);
        });
        let decoded = reported.into_iter().map(serde_json::from_value::<K>);
        let decoded: Vec<K> = match decoded.collect() {
            Ok(decoded) => decoded,
            Err(error) => {
                panic!("krator does not have the type of the status of a {kind}, so use `put`: {error}")
            }
        };
        assert!(
            !decoded.is_empty(),
            "there is no {kind}: no handler has applied one, and the test has not put one"
        );
        decoded
    }

    /// The time on the clock of the test.
    fn now(&self) -> Timestamp {
        let (began, origin) = self.began;
        began + origin.elapsed()
    }
}

#[cfg(test)]
mod tests;
