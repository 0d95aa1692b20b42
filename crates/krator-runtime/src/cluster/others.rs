//! Objects of other kinds, in memory: what handlers apply, and what a test puts there.
use super::{Child, caches::controller, children::not_ours};
use crate::{Fixture, Handle, Linked, Machine, Result, world::Change};
use kube::ResourceExt as _;
use serde_json::{Value, json};
use std::{
    any::TypeId,
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// A kind, a namespace and a name.
type Key = (TypeId, String, String);

/// Stands in for the API server: an applied field is set, and all others stay.
#[derive(Debug, Default)]
pub(crate) struct Others(Mutex<BTreeMap<Key, Value>>);

fn key<K: Child>(object: &K) -> Key {
    (
        TypeId::of::<K>(),
        object.namespace().unwrap_or_default(),
        object.name_any(),
    )
}

impl Others {
    /// All of a kind, by namespace and name.
    pub fn all<K: Child>(&self) -> Vec<Arc<K>> {
        let of_kind = |(key, object): (&Key, &Value)| {
            let is_one = key.0 == TypeId::of::<K>();
            is_one.then(|| serde_json::from_value(object.clone()).ok().map(Arc::new))?
        };
        self.locked().iter().filter_map(of_kind).collect()
    }
    /// Stores an object as it is.
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
    /// What server-side apply comes to for the one manager that there is.
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
    /// All objects of another kind: what handlers applied, and what the test has put there.
    pub fn all<K: Child>(&self) -> Vec<Arc<K>> {
        self.others.all()
    }
}

impl<M: Linked> Handle<M> {
    /// Stores an object of a kind that the operator owns or watches, as somebody else would: a child that got on, or
    /// what the spec names. A state that waits for it hears of it. In a test, every object of a watched kind concerns
    /// the one that is tested. An error says that it is no JSON.
    pub fn put<K: Child>(&self, object: &K) -> Result<()> {
        self.others.put(object)?;
        self.tell::<K>();
        Ok(())
    }
    /// Takes it away again.
    pub fn remove<K: Child>(&self, object: &K) {
        self.others.remove(object);
        self.tell::<K>();
    }
    fn tell<K: Child>(&self) {
        let links = M::links();
        let of_kind = links.iter().filter(|link| link.of == TypeId::of::<K>());
        let changes = of_kind.map(|link| Change {
            names: link.names(),
            child: None,
        });
        self.mailbox.post(|mail| mail.changes.extend(changes));
    }
}

impl<M: Machine> Fixture<M> {
    /// All objects of another kind: what handlers applied, and what the test has put there.
    pub fn all<K: Child>(&self) -> Vec<Arc<K>> {
        self.others.all()
    }
    /// Stores an object of another kind, for the handler to find. An error says that it is no JSON.
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

/// Sets in `target` what `patch` says.
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
    fn what_is_applied_is_set_and_what_others_set_stays() {
        let others = Others::default();
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
        assert_eq!(same, again, "nothing differs: nothing is written");

        let foreign = others
            .apply::<ConfigMap>(applied("d", "2"), "2")
            .expect_err("somebody else's");
        assert!(
            foreign.to_string().contains("is not a child of this object"),
            "{foreign}"
        );
        others.remove(&*same);
        assert!(others.all::<ConfigMap>().is_empty());
    }
}
