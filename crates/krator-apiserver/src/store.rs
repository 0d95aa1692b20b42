//! Objects in memory, their versions and their latest changes. The store reads only the metadata of objects.

pub(crate) mod versions;

use crate::object::{is_deleting, meta, owners};
use bytes::Bytes;
use serde_json::Value as Json;
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::{Arc, OnceLock},
};
use versions::{Version, Versions};

/// The number of changes that are kept for each resource. A watch from an earlier version has to list again.
const HISTORY: usize = 16_384;
/// The largest total size of the objects in these changes, in bytes of JSON. In memory they take several times as much.
const HISTORY_BYTES: usize = 16 << 20;

/// A group and the plural name of a resource.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ResourceId {
    pub group: String,
    pub resource: String,
}

/// The key of an object. The namespace of a cluster-scoped object is empty.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key {
    pub namespace: String,
    pub name: String,
}

impl Key {
    pub fn new(namespace: &str, name: &str) -> Self {
        Self {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        }
    }

    pub fn of(object: &Json) -> Self {
        Self::new(meta(object, "namespace"), meta(object, "name"))
    }
}

/// A change of one object.
#[derive(Debug)]
pub(crate) struct Change {
    /// The version of the change.
    pub version: u64,
    /// The object before; `None` if it is new.
    pub before: Option<Arc<Json>>,
    /// The object after; for a deletion its last state, with the version of the deletion.
    pub after: Arc<Json>,
    /// The size of the object after, in bytes of JSON.
    size: usize,
    /// Whether the object was removed.
    pub deleted: bool,
    /// The encoded watch event, once it was needed.
    pub written: OnceLock<Written>,
}

/// An encoded watch event.
#[derive(Debug)]
pub(crate) struct Written {
    /// The type of the event.
    pub what: &'static str,
    /// The API version of the object.
    pub version: String,
    pub line: Bytes,
}

#[derive(Default)]
struct Table {
    objects: BTreeMap<Key, Arc<Json>>,
    changes: VecDeque<Arc<Change>>,
    /// The total size of the objects in the changes.
    bytes: usize,
    /// The version of the last dropped change.
    forgotten: u64,
}

/// All objects of a server.
pub(crate) struct Store {
    version: Version,
    tables: BTreeMap<ResourceId, Table>,
    /// The keys of objects by the uids of their owners.
    dependents: BTreeMap<String, BTreeSet<(ResourceId, Key)>>,
    /// The keys of the objects that are being deleted.
    deleting: BTreeSet<(ResourceId, Key)>,
    /// The keys of the objects by uid.
    uids: BTreeMap<String, (ResourceId, Key)>,
}

impl Default for Store {
    fn default() -> Self {
        Self {
            version: Version::new(1),
            tables: BTreeMap::new(),
            dependents: BTreeMap::new(),
            deleting: BTreeSet::new(),
            uids: BTreeMap::new(),
        }
    }
}

/// The requested changes were dropped.
pub(crate) struct Forgotten;

/// The changes since a version, for a watch.
pub(crate) struct WatchUpdate {
    pub changes: Result<Vec<Arc<Change>>, Forgotten>,
    pub version: u64,
}

/// Whether the indexes have the same entries for both states of an object.
fn is_found_alike(before: &Json, after: &Json) -> bool {
    meta(before, "uid") == meta(after, "uid")
        && is_deleting(before) == is_deleting(after)
        && owners(before).eq(owners(after))
}

impl Store {
    /// The version of the last change.
    pub fn version(&self) -> u64 {
        self.version.last()
    }

    /// Continues after this version.
    pub fn advance(&mut self, version: u64) {
        self.version.advance(version);
    }

    /// Notifies of each new version.
    pub fn versions(&self) -> Versions {
        self.version.subscribe()
    }

    pub fn get(&self, id: &ResourceId, key: &Key) -> Option<&Arc<Json>> {
        self.tables.get(id)?.objects.get(key)
    }

    /// The objects of a resource in the order of their keys, in one namespace or, if `namespace` is empty, in all.
    pub fn list<'a>(
        &'a self,
        id: &ResourceId,
        namespace: &'a str,
    ) -> impl Iterator<Item = (&'a Key, &'a Arc<Json>)> {
        let objects = self
            .tables
            .get(id)
            .map(|table| table.objects.range(Key::new(namespace, "")..));
        objects
            .into_iter()
            .flatten()
            .take_while(move |(key, _)| namespace.is_empty() || key.namespace == namespace)
    }

    /// A store with copies of the present objects of some resources.
    pub fn copy_of(&self, resources: &[ResourceId]) -> Self {
        let mut copy = Self::default();
        for id in resources {
            let objects = self.tables.get(id).map(|table| table.objects.clone());
            copy.tables.entry(id.clone()).or_default().objects = objects.unwrap_or_default();
        }
        copy
    }

    /// The resources that have or had objects.
    pub fn resources(&self) -> impl Iterator<Item = &ResourceId> {
        self.tables.keys()
    }

    /// The key of the object with a uid.
    pub fn find(&self, uid: &str) -> Option<&(ResourceId, Key)> {
        self.uids.get(uid)
    }

    /// The objects that have an owner reference with a uid.
    pub fn dependents(&self, uid: &str) -> Vec<(ResourceId, Key)> {
        self.dependents.get(uid).into_iter().flatten().cloned().collect()
    }

    /// The keys of the objects that are being deleted.
    pub fn deleting(&self) -> impl Iterator<Item = &(ResourceId, Key)> {
        self.deleting.iter()
    }

    /// The uids in owner references.
    pub fn owners(&self) -> impl Iterator<Item = &str> {
        self.dependents.keys().map(String::as_str)
    }

    /// Stores an object, and returns it with its new version.
    pub fn put(&mut self, id: &ResourceId, mut object: Json) -> Arc<Json> {
        let version = self.version() + 1;
        crate::object::set_meta(&mut object, "resourceVersion", version.to_string().into());
        let (key, after) = (Key::of(&object), Arc::new(object));
        let before = self
            .tables
            .entry(id.clone())
            .or_default()
            .objects
            .insert(key.clone(), Arc::clone(&after));
        if !before
            .as_deref()
            .is_some_and(|before| is_found_alike(before, &after))
        {
            if let Some(before) = &before {
                self.forget(id, &key, before);
            }
            self.remember(id, &key, &after);
        }
        self.tell(id, version, before, Arc::clone(&after), false);
        after
    }

    /// Rereads the objects of a resource after a change of their definition. They keep their versions, and watches get
    /// no event.
    pub fn read_again(&mut self, id: &ResourceId, read: impl Fn(&Json) -> Json) {
        let objects = self.tables.get_mut(id).map(|table| table.objects.values_mut());
        for object in objects.into_iter().flatten() {
            *object = Arc::new(read(object));
        }
    }

    /// Removes an object, and returns its last state with the version of the deletion.
    pub fn remove(&mut self, id: &ResourceId, key: &Key) -> Option<Arc<Json>> {
        let before = self.tables.get_mut(id)?.objects.remove(key)?;
        self.forget(id, key, &before);
        let version = self.version() + 1;
        let mut last = Json::clone(&before);
        crate::object::set_meta(&mut last, "resourceVersion", version.to_string().into());
        let last = Arc::new(last);
        self.tell(id, version, Some(before), Arc::clone(&last), true);
        Some(last)
    }

    /// The changes of a resource since a version, and the current version.
    pub fn changes_since(&self, id: &ResourceId, since: u64) -> WatchUpdate {
        WatchUpdate {
            changes: self.changes(id, since),
            version: self.version(),
        }
    }

    /// The changes of a resource since a version.
    pub fn changes(&self, id: &ResourceId, since: u64) -> Result<Vec<Arc<Change>>, Forgotten> {
        let Some(table) = self.tables.get(id) else {
            return Ok(Vec::new());
        };
        if since < table.forgotten {
            return Err(Forgotten);
        }
        let first = table.changes.partition_point(|change| change.version <= since);
        Ok(table.changes.range(first..).map(Arc::clone).collect())
    }

    fn remember(&mut self, id: &ResourceId, key: &Key, object: &Json) {
        let place = (id.clone(), key.clone());
        for uid in owners(object).filter_map(|owner| owner.get("uid")?.as_str()) {
            self.dependents
                .entry(uid.to_owned())
                .or_default()
                .insert(place.clone());
        }
        if is_deleting(object) {
            self.deleting.insert(place.clone());
        }
        self.uids.insert(meta(object, "uid").to_owned(), place);
    }

    fn forget(&mut self, id: &ResourceId, key: &Key, object: &Json) {
        let place = (id.clone(), key.clone());
        for uid in owners(object).filter_map(|owner| owner.get("uid")?.as_str()) {
            if let Some(places) = self.dependents.get_mut(uid) {
                places.remove(&place);
                if places.is_empty() {
                    self.dependents.remove(uid);
                }
            }
        }
        self.deleting.remove(&place);
        self.uids.remove(meta(object, "uid"));
    }

    fn tell(
        &mut self,
        id: &ResourceId,
        version: u64,
        before: Option<Arc<Json>>,
        after: Arc<Json>,
        deleted: bool,
    ) {
        let table = self.tables.entry(id.clone()).or_default();
        let size = crate::object::size(&after);
        table.bytes += size;
        while table.changes.len() == HISTORY || table.bytes > HISTORY_BYTES {
            let Some(oldest) = table.changes.pop_front() else {
                break;
            };
            table.forgotten = oldest.version;
            table.bytes -= oldest.size;
        }
        table.changes.push_back(Arc::new(Change {
            version,
            before,
            after,
            size,
            deleted,
            written: OnceLock::new(),
        }));
        self.version.tell(version);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn large_changes_are_forgotten_sooner() {
        let id = ResourceId {
            group: String::new(),
            resource: "configmaps".to_owned(),
        };
        let mut store = Store::default();
        let mebibyte = "x".repeat(1 << 20);
        for _ in 0..100 {
            store.put(&id, json!({"metadata": {"name": "a"}, "data": {"a": mebibyte}}));
        }
        let kept = store.changes(&id, 90).map(|changes| changes.len());
        assert!(kept.is_ok_and(|kept| kept == 11), "the last ones are remembered");
        assert!(store.changes(&id, 80).is_err(), "the first ones are not");
        assert!(store.tables[&id].bytes <= HISTORY_BYTES);
    }
}
