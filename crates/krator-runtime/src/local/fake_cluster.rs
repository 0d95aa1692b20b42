//! Objects of other kinds, in memory: those that handlers apply, and those that a test creates.
use super::{Fixture, Handle, Outcome, controllers};
use crate::{
    error::Result,
    machine::Machine,
    resource::{Child, ChildDeletion, Owner, may_apply, owner_uid, release},
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::ResourceExt as _;
use serde::Deserialize as _;
use serde_json::{Value, json};
use std::{
    any::TypeId,
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// A kind, a namespace and a name.
type Key = (TypeId, String, String);

/// Stands in for the API server. Applying an object sets the applied fields, removes those that were applied before
/// and are left out now, and keeps all others.
#[derive(Debug, Default)]
pub(crate) struct FakeCluster {
    objects: Mutex<BTreeMap<Key, Value>>,
    /// What was applied last.
    applied: Mutex<BTreeMap<Key, Value>>,
    /// The children that their owner does not take along when it goes.
    outliving: Mutex<BTreeMap<Key, ChildDeletion>>,
}

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
        let key = key(object);
        locked(&self.applied).remove(&key);
        self.locked().remove(&key);
    }
    /// Server-side apply, simplified: there is only one field manager.
    pub fn apply<K: Child>(&self, body: Value, owner: &Owner, deletion: ChildDeletion) -> Result<Arc<K>> {
        let applied: K = serde_json::from_value(body.clone())?;
        let key = key(&applied);
        let mut objects = self.locked();
        let former = objects.get(&key).cloned();
        if let Some(former) = &former {
            let former: K = serde_json::from_value(former.clone())?;
            may_apply::<K>(&key.2, owner.of(former.meta()).as_ref(), &owner.reference)?;
        }
        if deletion != ChildDeletion::Owner {
            locked(&self.outliving).insert(key.clone(), deletion);
        }
        let mut stored = former.clone().unwrap_or_else(|| json!({}));
        if let Some(before) = locked(&self.applied).insert(key.clone(), body.clone()) {
            remove_left_out(&mut stored, &before, &body);
        }
        merge(&mut stored, body);
        if former.as_ref() != Some(&stored) {
            let version = former.as_ref().map_or(0, version_of) + 1;
            stored["metadata"]["resourceVersion"] = json!(version.to_string());
            objects.insert(key, stored.clone());
        }
        Ok(Arc::new(serde_json::from_value(stored)?))
    }
    /// Ends what belongs to an object whose deletion path has ended. Returns the names of the children that are kept.
    pub fn end_children(&self, label: &str, owner: (&str, &str)) -> Vec<String> {
        let (name, uid) = owner;
        let (mut objects, mut kept) = (self.locked(), Vec::new());
        locked(&self.outliving).retain(|key, deletion| {
            let meta = |object: &Value| ObjectMeta::deserialize(&object["metadata"]).ok();
            let Some(object) = objects.get_mut(key) else {
                return false;
            };
            if meta(object).is_none_or(|meta| owner_uid(&meta, label) != Some(uid)) {
                return true;
            }
            if *deletion == ChildDeletion::Last {
                objects.remove(key);
            } else {
                merge_patch(&mut object["metadata"], release(label, name, uid));
                kept.push(key.2.clone());
            }
            false
        });
        kept
    }
    /// The objects of a kind that handlers applied, as each was applied last, sorted by namespace and name.
    pub fn applied<K: Child>(&self) -> Vec<K> {
        let applied = locked(&self.applied);
        let of_kind = applied.iter().filter(|(key, _)| key.0 == TypeId::of::<K>());
        of_kind
            .filter_map(|(_, body)| serde_json::from_value(body.clone()).ok())
            .collect()
    }
    /// Gives all objects of a kind the status that their controller would write, and returns them.
    ///
    /// # Panics
    ///
    /// If there are none, or if the status is not of their type: a mistake in a test.
    pub fn report<K: Child>(&self, outcome: Outcome) -> Vec<K> {
        let (group, kind) = (K::group(&()), K::kind(&()));
        let mut reported = Vec::new();
        for (_, object) in self
            .locked()
            .iter_mut()
            .filter(|(key, _)| key.0 == TypeId::of::<K>())
        {
            controllers::report((&group, &kind), outcome, object);
            object["metadata"]["resourceVersion"] = json!((version_of(object) + 1).to_string());
            match serde_json::from_value(object.clone()) {
                Ok(object) => reported.push(object),
                Err(error) => panic!("a {kind} has another status than krator knows, so use `put`: {error}"),
            }
        }
        assert!(
            !reported.is_empty(),
            "there is no {kind}: no handler has applied one yet, and the test has put none"
        );
        reported
    }
    fn locked(&self) -> MutexGuard<'_, BTreeMap<Key, Value>> {
        locked(&self.objects)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<M: Machine> Handle<M> {
    /// All objects of another kind: those that handlers applied, and those that the test created.
    pub fn all<K: Child>(&self) -> Vec<Arc<K>> {
        self.others.all()
    }
    /// The objects of another kind that handlers applied, as each was applied last.
    pub fn applied<K: Child>(&self) -> Vec<K> {
        self.others.applied()
    }
}

impl<M: Machine> Fixture<M> {
    /// All objects of another kind: those that handlers applied, and those that the test created.
    pub fn all<K: Child>(&self) -> Vec<Arc<K>> {
        self.others.all()
    }
    /// The objects of another kind that the handler applied, as each was applied last: what it sent, with the metadata
    /// that the runtime adds.
    pub fn applied<K: Child>(&self) -> Vec<K> {
        self.others.applied()
    }
    /// Gives all objects of this kind the status that their controller writes when it has succeeded, for the next call
    /// of a handler.
    ///
    /// # Panics
    ///
    /// If there are none.
    pub fn make_ready<K: Child>(&self) {
        self.others.report::<K>(Outcome::Ready);
    }
    /// Gives all objects of this kind the status that their controller writes when it has failed for good.
    ///
    /// # Panics
    ///
    /// If there are none.
    pub fn fail<K: Child>(&self) {
        self.others.report::<K>(Outcome::Failed);
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

/// Removes from `stored` what was applied `before` and is not applied `now`, map by map.
fn remove_left_out(stored: &mut Value, before: &Value, now: &Value) {
    let (Value::Object(stored), Value::Object(before)) = (stored, before) else {
        return;
    };
    for (key, before) in before {
        match now.get(key) {
            None => drop(stored.remove(key)),
            Some(now) => {
                if let Some(stored) = stored.get_mut(key) {
                    remove_left_out(stored, before, now);
                }
            }
        }
    }
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

/// Applies a JSON merge patch: `null` removes a key.
fn merge_patch(target: &mut Value, patch: Value) {
    let Value::Object(patch) = patch else {
        *target = patch;
        return;
    };
    for (key, value) in patch {
        match (value, target.as_object_mut()) {
            (Value::Null, Some(target)) => drop(target.remove(&key)),
            (value, _) => merge_patch(&mut target[key], value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Class;
    use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::OwnerReference};

    const LABEL: &str = "example.com/owners";

    fn owner(name: &str, uid: &str) -> Owner {
        let reference = OwnerReference {
            api_version: "example.com/v1".to_owned(),
            kind: "Owner".to_owned(),
            name: name.to_owned(),
            uid: uid.to_owned(),
            controller: Some(true),
            block_owner_deletion: None,
        };
        Owner {
            reference,
            label: LABEL,
        }
    }

    fn apply_as(
        others: &FakeCluster,
        data: &Value,
        owner: &Owner,
        deletion: ChildDeletion,
    ) -> Result<Arc<ConfigMap>> {
        let mut metadata = json!({"name": "one"});
        owner.mark(&mut metadata, deletion);
        others.apply(json!({"metadata": metadata, "data": data}), owner, deletion)
    }

    fn apply(others: &FakeCluster, data: &Value, owner: &Owner) -> Result<Arc<ConfigMap>> {
        apply_as(others, data, owner, ChildDeletion::Owner)
    }

    #[test]
    fn applying_sets_its_fields_and_keeps_those_of_others() {
        let (others, first) = (FakeCluster::default(), owner("first", "1"));
        let made = apply(&others, &json!({"applied": "a", "left-out": "a"}), &first).expect("new");
        let mut seen = ConfigMap::clone(&made);
        seen.data
            .get_or_insert_default()
            .insert("others".to_owned(), "b".to_owned());
        others.put(&seen).expect("an object");
        let again = apply(&others, &json!({"applied": "c"}), &first).expect("ours");
        assert_eq!(json!(again.data), json!({"applied": "c", "others": "b"}));
        assert_eq!(again.resource_version().as_deref(), Some("3"));
        let same = apply(&others, &json!({"applied": "c"}), &first).expect("ours");
        assert_eq!(same, again, "nothing is written if nothing differs");

        let refused = |by: &Owner| {
            let error = apply(&others, &json!({}), by).expect_err("it has another owner");
            (error.class(), error.to_string())
        };
        let (class, text) = refused(&owner("second", "2"));
        assert!(text.contains("is not a child of this object"), "{text}");
        assert_eq!(class, Class::Permanent);
        let (class, text) = refused(&owner("first", "3"));
        assert!(text.contains("belongs to a former Owner `first`"), "{text}");
        assert_eq!(class, Class::Blocked, "it will be collected");
        others.remove(&*same);
        assert!(others.all::<ConfigMap>().is_empty());
    }

    #[test]
    fn children_that_outlive_the_deletion_path_end_with_it_as_their_kind_says() {
        let (mine, data) = (owner("main", "1"), json!({}));
        for (deletion, left) in [
            (ChildDeletion::Owner, Some(json!({}))),
            (ChildDeletion::Last, None),
            (
                ChildDeletion::Keep,
                Some(json!({"example.com/released-from": "owners"})),
            ),
        ] {
            let others = FakeCluster::default();
            let made = apply_as(&others, &data, &mine, deletion).expect("new");
            assert!(mine.owns(&*made), "{deletion:?}");
            let refused = apply_as(&others, &data, &owner("other", "2"), deletion);
            assert_eq!(refused.expect_err("not its own").class(), Class::Permanent);
            let former = apply_as(&others, &data, &owner("main", "2"), deletion);
            assert_eq!(former.expect_err("not its own").class(), Class::Blocked);
            assert_eq!(others.end_children(LABEL, ("other", "2")), [""; 0]);
            let kept = others.end_children(LABEL, ("main", "1"));
            assert_eq!(kept.len(), usize::from(deletion == ChildDeletion::Keep));
            let all = others.all::<ConfigMap>();
            let labels = all.first().map(|child| json!(child.labels()));
            assert_eq!(labels, left, "{deletion:?}");
        }
    }
}
