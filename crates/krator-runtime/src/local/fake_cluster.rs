//! Objects of other kinds, in memory: those that handlers apply, and those that a test creates.
use super::{Fixture, Handle};
use crate::{
    error::Result,
    machine::Machine,
    resource::{Child, controller, not_ours},
};
use kube::ResourceExt as _;
use serde_json::{Value, json};
use std::{
    any::TypeId,
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// A kind, a namespace and a name.
type Key = (TypeId, String, String);

/// Stands in for the API server. Applying an object sets the applied fields and keeps all others.
#[derive(Debug, Default)]
pub(crate) struct FakeCluster(Mutex<BTreeMap<Key, Value>>);

fn key<K: Child>(object: &K) -> Key {
    (
        TypeId::of::<K>(),
        object.namespace().unwrap_or_default(),
        object.name_any(),
    )
}

impl FakeCluster {
    /// All objects of a kind, sorted by namespace and name.
    pub fn all<K: Child>(&self) -> Vec<Arc<K>> {
        let of_kind = |(key, object): (&Key, &Value)| {
            let is_one = key.0 == TypeId::of::<K>();
            is_one.then(|| serde_json::from_value(object.clone()).ok().map(Arc::new))?
        };
        self.locked().iter().filter_map(of_kind).collect()
    }
    /// Stores an object as it is, with the next resource version.
    pub fn put<K: Child>(&self, object: &K) -> Result<()> {
        let (key, mut body) = (key(object), serde_json::to_value(object)?);
        let mut objects = self.locked();
        let former = objects.get(&key).map_or(0, version_of);
        body["metadata"]["resourceVersion"] = json!((former + 1).to_string());
        objects.insert(key, body);
        Ok(())
    }
    pub fn remove<K: Child>(&self, object: &K) {
        self.locked().remove(&key(object));
    }
    /// Server-side apply, simplified: there is only one field manager.
    pub fn apply<K: Child>(&self, body: Value, owner: &str) -> Result<Arc<K>> {
        let applied: K = serde_json::from_value(body.clone())?;
        let key = key(&applied);
        let mut objects = self.locked();
        let former = objects.get(&key).cloned();
        if let Some(former) = &former
            && controller(&serde_json::from_value::<K>(former.clone())?) != Some(owner)
        {
            return Err(not_ours::<K>(&key.2));
        }
        let mut stored = former.clone().unwrap_or_else(|| json!({}));
        merge(&mut stored, body);
        if former.as_ref() != Some(&stored) {
            let version = former.as_ref().map_or(0, version_of) + 1;
            stored["metadata"]["resourceVersion"] = json!(version.to_string());
            objects.insert(key, stored.clone());
        }
        Ok(Arc::new(serde_json::from_value(stored)?))
    }
    fn locked(&self) -> MutexGuard<'_, BTreeMap<Key, Value>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<M: Machine> Handle<M> {
    /// All objects of another kind: those that handlers applied, and those that the test created.
    pub fn all<K: Child>(&self) -> Vec<Arc<K>> {
        self.others.all()
    }
}

impl<M: Machine> Fixture<M> {
    /// All objects of another kind: those that handlers applied, and those that the test created.
    pub fn all<K: Child>(&self) -> Vec<Arc<K>> {
        self.others.all()
    }
    /// Creates or replaces an object of another kind, for the handler to find.
    ///
    /// # Errors
    ///
    /// If the object cannot be written as JSON.
    pub fn put<K: Child>(&self, object: &K) -> Result<()> {
        self.others.put(object)
    }
}

fn version_of(object: &Value) -> u64 {
    let version = object["metadata"]["resourceVersion"].as_str();
    version
        .and_then(|version| version.parse().ok())
        .unwrap_or_default()
}

/// Merges `patch` into `target`, map by map.
fn merge(target: &mut Value, patch: Value) {
    match (target, patch) {
        (Value::Object(target), Value::Object(patch)) => {
            for (key, value) in patch {
                merge(target.entry(key).or_insert(Value::Null), value);
            }
        }
        (target, patch) => *target = patch,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::ConfigMap;

    fn applied(data: &str, owner: &str) -> Value {
        let owner =
            json!({"apiVersion": "v1", "kind": "Owner", "name": "o", "uid": owner, "controller": true});
        json!({"metadata": {"name": "one", "ownerReferences": [owner]}, "data": {"applied": data}})
    }

    #[test]
    fn applying_sets_its_fields_and_keeps_those_of_others() {
        let others = FakeCluster::default();
        let first: Arc<ConfigMap> = others.apply(applied("a", "1"), "1").expect("new");
        let mut seen = ConfigMap::clone(&first);
        seen.data
            .get_or_insert_default()
            .insert("others".to_owned(), "b".to_owned());
        others.put(&seen).expect("an object");
        let again: Arc<ConfigMap> = others.apply(applied("c", "1"), "1").expect("ours");
        let data = again.data.as_ref().expect("applied");
        assert_eq!((data["applied"].as_str(), data["others"].as_str()), ("c", "b"));
        assert_eq!(again.resource_version().as_deref(), Some("3"));
        let same: Arc<ConfigMap> = others.apply(applied("c", "1"), "1").expect("ours");
        assert_eq!(same, again, "nothing is written if nothing differs");

        let foreign = others
            .apply::<ConfigMap>(applied("d", "2"), "2")
            .expect_err("it has another owner");
        assert!(
            foreign.to_string().contains("is not a child of this object"),
            "{foreign}"
        );
        others.remove(&*same);
        assert!(others.all::<ConfigMap>().is_empty());
    }
}
