//! The objects of a test, and the effects of requests on them.
use crate::resource::{ChildDeletion, owner_uid, release};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::core::Status;
use serde::Deserialize as _;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// An error response in the format of the API server.
pub(super) fn refusal(code: u16, reason: &str, message: &str) -> Box<Status> {
    Status::failure(message, reason).with_code(code).boxed()
}

/// The key of an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    /// The path of the objects of its kind.
    pub collection: String,
    pub namespace: String,
    pub name: String,
}

/// The settings of a kind.
#[derive(Debug, Default)]
pub(super) struct Served {
    /// The status of new objects; `null` if they have none.
    pub status: Value,
    pub deletion: ChildDeletion,
}

/// All objects.
#[derive(Debug)]
pub(super) struct Objects {
    stored: BTreeMap<Key, Value>,
    /// The last apply of each field manager.
    applied: BTreeMap<(Key, String), Value>,
    kinds: BTreeMap<String, Served>,
    /// The latest resource version. As in a cluster, no object has the first one.
    version: u64,
    /// Each version of each object, in a trial.
    history: Option<Vec<(Key, Value)>>,
}

impl Default for Objects {
    fn default() -> Self {
        Self {
            stored: BTreeMap::new(),
            applied: BTreeMap::new(),
            kinds: BTreeMap::new(),
            version: 1,
            history: None,
        }
    }
}

/// The part of an object that a write changes: the status, or everything else.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Main,
    Status,
}

/// Metadata that only the API server sets.
const SET_BY_SERVER: [&str; 5] = [
    "uid",
    "creationTimestamp",
    "generation",
    "resourceVersion",
    "deletionTimestamp",
];

impl Objects {
    /// No objects. All versions of later objects are recorded, and their numbers begin after this one.
    pub fn remembering(version: u64) -> Self {
        Self {
            version: version + 1,
            history: Some(Vec::new()),
            ..Self::default()
        }
    }

    /// All objects.
    pub fn left(&self) -> Vec<(Key, Value)> {
        let each = self.stored.iter();
        each.map(|(key, object)| (key.clone(), object.clone())).collect()
    }

    /// All recorded versions of all objects.
    pub fn history(&self) -> Vec<(Key, Value)> {
        self.history.clone().unwrap_or_default()
    }

    fn insert(&mut self, key: Key, object: Value) {
        if let Some(history) = &mut self.history {
            history.push((key.clone(), object.clone()));
        }
        self.stored.insert(key, object);
    }

    /// The latest resource version.
    pub fn version(&self) -> String {
        self.version.to_string()
    }

    /// The settings of a kind.
    pub fn kind(&mut self, collection: String) -> &mut Served {
        self.kinds.entry(collection).or_default()
    }

    /// The objects of a kind in a namespace, or in all namespaces if it is empty, sorted by namespace and name. An
    /// object that a test has stored without a namespace is in each namespace.
    pub fn list<'a>(&'a self, collection: &'a str, namespace: &'a str) -> impl Iterator<Item = &'a Value> {
        let of_kind = self
            .stored
            .iter()
            .filter(move |(key, _)| key.collection == collection);
        let here = of_kind.filter(move |(key, _)| {
            namespace.is_empty() || key.namespace.is_empty() || key.namespace == namespace
        });
        here.map(|(_, object)| object)
    }

    /// The key of an object that exists.
    fn find(&self, key: &Key) -> Result<Key, Box<Status>> {
        let anywhere = Key {
            namespace: String::new(),
            ..key.clone()
        };
        let mut found = [key, &anywhere]
            .into_iter()
            .filter(|key| self.stored.contains_key(key));
        let missing = || refusal(404, "NotFound", &format!("`{}` does not exist", key.name));
        found.next().cloned().ok_or_else(missing)
    }

    pub fn get(&self, key: &Key) -> Result<&Value, Box<Status>> {
        let key = self.find(key)?;
        Ok(&self.stored[&key])
    }

    fn next_version(&mut self) -> Value {
        self.version += 1;
        self.version.to_string().into()
    }

    /// Stores an object as it is, with the next resource version.
    pub fn put(&mut self, key: Key, mut object: Value) {
        object["metadata"]["resourceVersion"] = self.next_version();
        self.insert(key, object);
    }

    pub fn remove(&mut self, key: &Key) {
        self.applied.retain(|(applied, _), _| applied != key);
        self.stored.remove(key);
    }

    /// Stores a new object. An object without a name gets a name that begins with its `generateName`.
    pub fn create(&mut self, mut key: Key, mut object: Value, now: Timestamp) -> Result<Value, Box<Status>> {
        let version = self.next_version();
        if key.name.is_empty() {
            let prefix = object["metadata"]["generateName"].as_str().unwrap_or_default();
            if prefix.is_empty() {
                return Err(refusal(
                    422,
                    "Invalid",
                    "an object needs a name or a `generateName`",
                ));
            }
            key.name = format!("{prefix}{}", self.version);
        }
        if self.find(&key).is_ok() {
            return Err(refusal(409, "AlreadyExists", &format!("`{}` exists", key.name)));
        }
        let metadata = &mut object["metadata"];
        metadata["name"] = json!(key.name);
        if !key.namespace.is_empty() {
            metadata["namespace"] = json!(key.namespace);
        }
        metadata["uid"] = json!(format!("uid-{}", self.version));
        metadata["creationTimestamp"] = json!(now);
        metadata["generation"] = json!(1);
        metadata["resourceVersion"] = version;
        let status = self
            .kinds
            .get(&key.collection)
            .map(|served| served.status.clone());
        set(&mut object, "status", status.unwrap_or_default());
        self.insert(key, object.clone());
        Ok(object)
    }

    /// Changes a part of an object, unless its version differs from the one that `change` requires.
    pub fn change(
        &mut self,
        key: &Key,
        part: Part,
        change: impl FnOnce(&mut Value),
    ) -> Result<Value, Box<Status>> {
        let key = self.find(key)?;
        let former = self.stored[&key].clone();
        let mut object = former.clone();
        change(&mut object);
        let (expected, version) = (version_of(&object), version_of(&former));
        if !expected.is_empty() && expected != version {
            let message = format!("`{}` has the version {version}, not {expected}", key.name);
            return Err(refusal(409, "Conflict", &message));
        }
        if part == Part::Status {
            let status = object["status"].take();
            object = former.clone();
            set(&mut object, "status", status);
        } else {
            set(&mut object, "status", former["status"].clone());
            for field in SET_BY_SERVER {
                set(&mut object["metadata"], field, former["metadata"][field].clone());
            }
        }
        if object == former {
            return Ok(object);
        }
        if spec_of(&object) != spec_of(&former) {
            let generation = former["metadata"]["generation"].as_i64().unwrap_or_default();
            object["metadata"]["generation"] = json!(generation + 1);
        }
        object["metadata"]["resourceVersion"] = self.next_version();
        self.store(key, object.clone());
        Ok(object)
    }

    /// Stores an object, or removes it if it is being deleted and has no finalizer.
    fn store(&mut self, key: Key, object: Value) {
        let metadata = &object["metadata"];
        let is_held = metadata["finalizers"]
            .as_array()
            .is_some_and(|all| !all.is_empty());
        if metadata["deletionTimestamp"].is_null() || is_held {
            self.insert(key, object);
        } else {
            self.remove(&key);
        }
    }

    /// Server-side apply, simplified: each manager owns the fields that it applies, and a list is a single value.
    pub fn apply(
        &mut self,
        (key, part): (&Key, Part),
        manager: &str,
        mut body: Value,
        now: Timestamp,
    ) -> Result<Value, Box<Status>> {
        // The name is part of the path.
        body["metadata"]["name"] = json!(key.name);
        let found = self.find(key).ok();
        let applied = (found.clone().unwrap_or_else(|| key.clone()), manager.to_owned());
        let before = self.applied.get(&applied).cloned();
        let stored = match found {
            Some(key) => self.change(&key, part, |stored| {
                if let Some(before) = &before {
                    remove_left_out(stored, before, &body);
                }
                merge(stored, body.clone());
            }),
            None if part == Part::Main => self.create(key.clone(), body.clone(), now),
            None => return self.get(key).cloned(),
        }?;
        set(&mut body["metadata"], "resourceVersion", Value::Null);
        self.applied.insert(applied, body);
        Ok(stored)
    }

    /// Deletes an object, at once or when its finalizers are removed.
    pub fn delete(&mut self, key: &Key, preconditions: &Value, now: Timestamp) -> Result<Value, Box<Status>> {
        let key = self.find(key)?;
        let mut object = self.stored[&key].clone();
        for precondition in ["uid", "resourceVersion"] {
            let (wanted, is) = (&preconditions[precondition], &object["metadata"][precondition]);
            if !wanted.is_null() && wanted != is {
                let message = format!("`{}` has the {precondition} {is}, not {wanted}", key.name);
                return Err(refusal(409, "Conflict", &message));
            }
        }
        if object["metadata"]["deletionTimestamp"].is_null() {
            object["metadata"]["deletionTimestamp"] = json!(now);
            object["metadata"]["resourceVersion"] = self.next_version();
            self.store(key, object.clone());
        }
        Ok(object)
    }

    /// The last apply of each object of a kind that was applied.
    pub fn applied<'a>(&'a self, collection: &'a str) -> impl Iterator<Item = &'a Value> {
        let of_kind = self
            .applied
            .iter()
            .filter(move |((key, _), _)| key.collection == collection);
        of_kind.map(|(_, body)| body)
    }

    /// Changes all objects of a kind, and returns them.
    pub fn report(&mut self, collection: &str, report: impl Fn(&mut Value)) -> Vec<Value> {
        let mut reported = Vec::new();
        for (key, object) in &mut self.stored {
            if key.collection == collection {
                report(object);
                self.version += 1;
                object["metadata"]["resourceVersion"] = json!(self.version.to_string());
                reported.push(object.clone());
            }
        }
        reported
    }

    /// Deletes or releases the children of an object whose deletion path has ended. Returns the names of kept children.
    pub fn end_children(&mut self, label: &str, (name, uid): (&str, &str)) -> Vec<String> {
        let (mut kept, mut ends) = (Vec::new(), Vec::new());
        for (key, object) in &mut self.stored {
            let deletion = self.kinds.get(&key.collection).map(|served| served.deletion);
            let meta = ObjectMeta::deserialize(&object["metadata"]).unwrap_or_default();
            let is_ours = owner_uid(&meta, label) == Some(uid);
            match deletion.filter(|_| is_ours) {
                Some(ChildDeletion::Last) => ends.push(key.clone()),
                Some(ChildDeletion::Keep) => {
                    merge_patch(&mut object["metadata"], release(label, name, uid));
                    kept.push(key.name.clone());
                }
                _ => {}
            }
        }
        for key in &ends {
            self.remove(key);
        }
        kept
    }
}

fn version_of(object: &Value) -> &str {
    object["metadata"]["resourceVersion"].as_str().unwrap_or_default()
}

/// The fields whose change increments the generation.
fn spec_of(object: &Value) -> Map<String, Value> {
    let mut rest = object.as_object().cloned().unwrap_or_default();
    rest.retain(|key, _| key != "metadata" && key != "status");
    rest
}

/// Sets a key of a map, or removes it for `null`.
fn set(map: &mut Value, key: &str, value: Value) {
    if let Some(map) = map.as_object_mut() {
        if value.is_null() {
            map.remove(key);
        } else {
            map.insert(key.to_owned(), value);
        }
    }
}

/// Removes the fields from `stored` that were applied `before` and are not applied `now`, map by map.
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
pub(super) fn merge_patch(target: &mut Value, patch: Value) {
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
