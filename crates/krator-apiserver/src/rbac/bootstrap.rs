//! The roles and bindings that every cluster has, extracted from a real API server by `tools/openapi/roles`.

use super::{GROUP, aggregate};
use crate::{
    field_set::FieldSet,
    managed::{self, Manager},
    object::{at, meta_mut},
    state::{State, id, stamp},
    store::ResourceId,
};
use serde_json::Value as Json;
use std::sync::{Arc, LazyLock};

const ROLES: &str = include_str!("../../data/roles.txt");

/// Stores the roles and bindings in a new server.
pub(crate) fn seed(state: &mut State) {
    /// The objects are the same in all servers, except for times and uids. Computing them once makes servers start ten
    /// times as fast.
    static SEEDED: LazyLock<Vec<(ResourceId, Json)>> = LazyLock::new(|| {
        let mut state = State::new(Arc::default());
        let resources =
            ["clusterroles", "clusterrolebindings", "roles", "rolebindings"].map(|name| id(GROUP, name));
        for line in ROLES.lines() {
            let object = serde_json::from_str(line).expect("the tests read all of the data");
            put(&mut state, object);
        }
        aggregate(&mut state);
        let objects = |resource| {
            state
                .store
                .list(resource, "")
                .map(|(_, object)| Json::clone(object))
        };
        let all = resources
            .iter()
            .flat_map(|resource| objects(resource).map(|object| (resource.clone(), object)));
        all.collect()
    });
    let now = state.world.time();
    for (resource, object) in SEEDED.iter() {
        let mut object = object.clone();
        stamp(&mut object, &state.world);
        if let Some(Json::Array(entries)) = meta_mut(&mut object).get_mut("managedFields") {
            entries
                .iter_mut()
                .for_each(|entry| entry["time"] = now.as_str().into());
        }
        state.store.put(resource, object);
    }
}

/// Stores an object with the field manager of the API server.
fn put(state: &mut State, object: Json) {
    let by = Manager {
        name: "kube-apiserver".to_owned(),
        api_version: format!("{GROUP}/v1"),
        subresource: String::new(),
    };
    let kind = at(&object, &["kind"]).as_str().unwrap_or_default();
    let kind = state.kinds.of_object(&by.api_version, kind);
    let kind = kind
        .cloned()
        .expect("roles and bindings are kinds of every server");
    let object = managed::update(
        None,
        object,
        &kind.types,
        &by,
        &state.world.time(),
        &FieldSet::default(),
    );
    state.store.put(&kind.id, object);
}
