//! The controllers for deletions: they collect dependents, and empty namespaces and definitions, after
//! `pkg/controller/garbagecollector` and `pkg/controller/namespace` of Kubernetes.

use crate::{
    definitions,
    kinds::Kind,
    object::{at, finalizers, is_deleting, meta, owners, set_meta},
    rest::{self, DeleteOptions, FOREGROUND, ORPHAN, Propagation},
    state::{State, core, id, lock, namespaces},
    store::{Key, ResourceId},
};
use serde_json::Value as Json;
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, Weak},
    time::Duration,
};

/// Runs the controllers until the server is dropped.
pub(crate) async fn run(state: Weak<Mutex<State>>) {
    let Some(mut versions) = state.upgrade().map(|state| lock(&state).store.versions()) else {
        return;
    };
    loop {
        let Some(state) = state.upgrade() else { return };
        // A collected object may own others, so rounds are repeated until nothing changes.
        while collect(&mut lock(&state)) {
            tokio::task::yield_now().await;
        }
        drop(state);
        if versions.changed().await.is_err() {
            return;
        }
    }
}

/// The shortest time between the deletion of a definition and its removal. In a real cluster, its controller needs some
/// time, too, and clients delete a definition before they start to watch for its removal.
const DEFINITION_LINGERS: Duration = Duration::from_millis(200);

/// Empties definitions that are being deleted, until the server is dropped.
pub(crate) async fn run_definitions(state: Weak<Mutex<State>>) {
    let Some(mut versions) = state.upgrade().map(|state| lock(&state).store.versions()) else {
        return;
    };
    let definitions = id(definitions::GROUP, definitions::RESOURCE);
    loop {
        let Some(strong) = state.upgrade() else { return };
        let is_needed = !deleting_of(&lock(&strong), &definitions).is_empty();
        drop(strong);
        if is_needed {
            tokio::time::sleep(DEFINITION_LINGERS).await;
            let Some(strong) = state.upgrade() else { return };
            empty_definitions(&mut lock(&strong));
        }
        if versions.changed().await.is_err() {
            return;
        }
    }
}

/// Runs one round of all controllers except that of definitions. Whether it has changed anything.
fn collect(state: &mut State) -> bool {
    let before = state.store.version();
    collect_dependents(state);
    settle_owners(state);
    empty_namespaces(state);
    release_claims(state);
    state.store.version() != before
}

fn kind_of(state: &State, id: &ResourceId) -> Option<Arc<Kind>> {
    state.kinds.any(id).map(Arc::clone)
}

/// Deletes the objects whose owners are all gone.
fn collect_dependents(state: &mut State) {
    let gone: Vec<String> = state
        .store
        .owners()
        .filter(|uid| state.store.find(uid).is_none())
        .map(str::to_owned)
        .collect();
    for uid in gone {
        for (id, key) in state.store.dependents(&uid) {
            release(state, &id, &key);
        }
    }
}

/// Whether an owner exists.
fn exists(state: &State, owner: &Json) -> bool {
    let uid = owner["uid"].as_str();
    uid.is_some_and(|uid| state.store.find(uid).is_some())
}

/// Handles the loss of an owner: the object is deleted if no owner is left, and otherwise keeps references to the
/// remaining owners.
fn release(state: &mut State, id: &ResourceId, key: &Key) {
    let (Some(kind), Some(object)) = (kind_of(state, id), state.store.get(id, key).map(Arc::clone)) else {
        return;
    };
    let left: Vec<Json> = owners(&object)
        .filter(|owner| exists(state, owner))
        .cloned()
        .collect();
    if left.is_empty() {
        if !is_deleting(&object) {
            let options = DeleteOptions {
                uid: Some(meta(&object, "uid").to_owned()),
                propagation: Some(propagation_of(&object)),
                ..DeleteOptions::default()
            };
            // The object may already be gone.
            drop(rest::delete(state, &kind, key, &options));
        }
    } else {
        let mut object = Json::clone(&object);
        set_meta(&mut object, "ownerReferences", left.into());
        state.store.put(id, object);
    }
}

/// How the dependents of an object are deleted, by its finalizers.
fn propagation_of(object: &Json) -> Propagation {
    let has = |name| finalizers(object).any(|finalizer| finalizer == name);
    match (has(ORPHAN), has(FOREGROUND)) {
        (true, _) => Propagation::Orphan,
        (_, true) => Propagation::Foreground,
        _ => Propagation::Background,
    }
}

/// Handles deleted owners that wait for their dependents, which are deleted or orphaned first.
fn settle_owners(state: &mut State) {
    let waiting: Vec<(String, ResourceId, Key, bool)> = deleting(state)
        .into_iter()
        .filter_map(|(id, key)| {
            let object = state.store.get(&id, &key)?;
            let has = |name: &str| finalizers(object).any(|finalizer| finalizer == name);
            let uid = meta(object, "uid").to_owned();
            (has(ORPHAN) || has(FOREGROUND)).then(|| (uid, id, key, has(ORPHAN)))
        })
        .collect();
    for (uid, id, key, orphans) in waiting {
        let Some(kind) = kind_of(state, &id) else { continue };
        let dependents = state.store.dependents(&uid);
        let mut blocked = false;
        for (dependent_id, dependent_key) in dependents {
            if orphans {
                disown(state, &dependent_id, &dependent_key, &uid);
            } else {
                blocked |= blocks(state, &dependent_id, &dependent_key, &uid);
                delete_dependent(state, &dependent_id, &dependent_key, &uid);
            }
        }
        let still_blocked = blocked
            && state
                .store
                .dependents(&uid)
                .iter()
                .any(|(id, key)| blocks(state, id, key, &uid));
        if !still_blocked {
            rest::remove_finalizer(state, &kind, &key, if orphans { ORPHAN } else { FOREGROUND });
        }
    }
}

/// The objects that are being deleted.
fn deleting(state: &State) -> Vec<(ResourceId, Key)> {
    state.store.deleting().cloned().collect()
}

/// The objects of one resource that are being deleted.
fn deleting_of(state: &State, id: &ResourceId) -> Vec<Key> {
    let here = state.store.deleting().filter(|(of, _)| of == id);
    here.map(|(_, key)| key.clone()).collect()
}

fn blocks(state: &State, id: &ResourceId, key: &Key, uid: &str) -> bool {
    let object = state.store.get(id, key);
    object.is_some_and(|object| {
        owners(object).any(|owner| owner["uid"] == uid && owner["blockOwnerDeletion"] == true)
    })
}

fn delete_dependent(state: &mut State, id: &ResourceId, key: &Key, uid: &str) {
    let (Some(kind), Some(object)) = (kind_of(state, id), state.store.get(id, key).map(Arc::clone)) else {
        return;
    };
    if owners(&object).any(|owner| owner["uid"] != uid && exists(state, owner)) {
        return disown(state, id, key, uid);
    }
    if !is_deleting(&object) {
        let options = DeleteOptions {
            propagation: Some(Propagation::Foreground),
            ..DeleteOptions::default()
        };
        // The object may already be gone.
        drop(rest::delete(state, &kind, key, &options));
    }
}

fn disown(state: &mut State, id: &ResourceId, key: &Key, uid: &str) {
    let Some(object) = state.store.get(id, key) else {
        return;
    };
    let mut object = Json::clone(object);
    let left: Vec<Json> = owners(&object)
        .filter(|owner| owner["uid"] != uid)
        .cloned()
        .collect();
    set_meta(
        &mut object,
        "ownerReferences",
        if left.is_empty() { Json::Null } else { left.into() },
    );
    state.store.put(id, object);
}

/// Deletes the objects in namespaces that are being deleted, and then removes the namespaces.
fn empty_namespaces(state: &mut State) {
    let id = namespaces();
    for key in deleting_of(state, &id) {
        let resources: Vec<ResourceId> = state.store.resources().cloned().collect();
        let mut left = 0;
        for resource in resources {
            let Some(kind) = kind_of(state, &resource).filter(|kind| kind.namespaced) else {
                continue;
            };
            delete_all(state, &kind, &key.name);
            left += state.store.list(&resource, &key.name).count();
        }
        let Some(object) = state.store.get(&id, &key).map(Arc::clone) else {
            continue;
        };
        if left == 0 && finalizers(&object).next().is_none() {
            state.store.remove(&id, &key);
        }
    }
}

/// Deletes the objects of definitions that are being deleted, and then removes the definitions.
fn empty_definitions(state: &mut State) {
    let id = id(definitions::GROUP, definitions::RESOURCE);
    for key in deleting_of(state, &id) {
        let Some(object) = state.store.get(&id, &key).map(Arc::clone) else {
            continue;
        };
        let text = |path: &[&str]| at(&object, path).as_str().unwrap_or_default();
        let resource = ResourceId {
            group: text(&["spec", "group"]).to_owned(),
            resource: text(&["spec", "names", "plural"]).to_owned(),
        };
        if let Some(kind) = kind_of(state, &resource).filter(|kind| kind.is_custom()) {
            delete_all(state, &kind, "");
        }
        if state.store.list(&resource, "").next().is_none()
            && let Some(kind) = kind_of(state, &id)
        {
            rest::remove_finalizer(state, &kind, &key, definitions::CLEANUP);
        }
    }
}

/// Removes claims that are being deleted and that no pod uses.
fn release_claims(state: &mut State) {
    let id = core("persistentvolumeclaims");
    for key in deleting_of(state, &id) {
        let claims = |pod: &Json| {
            let volumes = at(pod, &["spec", "volumes"]).as_array().into_iter().flatten();
            let mut names = volumes.map(|volume| at(volume, &["persistentVolumeClaim", "claimName"]));
            names.any(|name| *name == key.name)
        };
        let is_used = state
            .store
            .list(&core("pods"), &key.namespace)
            .any(|(_, pod)| claims(pod));
        if let (false, Some(kind)) = (is_used, kind_of(state, &id)) {
            rest::remove_finalizer(state, &kind, &key, "kubernetes.io/pvc-protection");
        }
    }
}

/// Deletes the objects of a kind in one namespace, or in all if `namespace` is empty.
fn delete_all(state: &mut State, kind: &Kind, namespace: &str) {
    let keys: BTreeSet<Key> = state
        .store
        .list(&kind.id, namespace)
        .filter(|(_, object)| !is_deleting(object))
        .map(|(key, _)| key.clone())
        .collect();
    for key in keys {
        let options = DeleteOptions {
            propagation: Some(Propagation::Background),
            grace: Some(0),
            ..DeleteOptions::default()
        };
        // The object may already be gone.
        drop(rest::delete(state, kind, &key, &options));
    }
}
