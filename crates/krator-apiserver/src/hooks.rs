//! Side effects of writes to some kinds: for example, the server serves the kinds of a new definition, and sets the
//! status of a deleted namespace.

use crate::{
    admission, definitions,
    kinds::{Kind, Origin},
    managed::{self, Manager},
    object::{at, is_deleting, set},
    rbac,
    refusal::{FieldError, Refusal},
    state::{State, id},
    store::Key,
};
use krator_schema::Definition;
use serde_json::{Value as Json, json};
use std::sync::Arc;

fn is_namespace(kind: &Kind) -> bool {
    kind.id.group.is_empty() && kind.id.resource == "namespaces"
}

/// Runs before the validation of a new object.
pub(crate) fn before_create(state: &State, kind: &Kind, object: &mut Json) -> Result<(), Refusal> {
    if let Origin::Builtin(builtin) = &kind.origin {
        let about = kind.about(crate::object::meta(object, "name"));
        let find = |group: &str, resource: &str, name: &str| {
            let object = state.store.get(&id(group, resource), &Key::new("", name));
            object.map(|object| Json::clone(object))
        };
        (builtin.rules.admit)(object, &find).map_err(|why| Refusal::forbidden(about, &why))?;
    }
    allocate(state, kind, object, None)?;
    admission::check(kind, object)?;
    if kind.is_definition() {
        let errors = definitions::validate(object, None)?;
        refuse(kind, object, &errors)?;
    }
    Ok(())
}

/// Runs before the validation of a changed object.
pub(crate) fn before_update(
    state: &State,
    kind: &Kind,
    object: &mut Json,
    old: &Json,
) -> Result<(), Refusal> {
    if let Origin::Builtin(builtin) = &kind.origin {
        (builtin.rules.admit_update)(object, old);
    }
    allocate(state, kind, object, Some(old))?;
    admission::check(kind, object)?;
    if kind.is_definition() {
        let errors = definitions::validate(object, Some(old))?;
        refuse(kind, object, &errors)?;
    }
    Ok(())
}

/// Allocates the addresses and ports of a Service.
fn allocate(state: &State, kind: &Kind, object: &mut Json, old: Option<&Json>) -> Result<(), Refusal> {
    let Origin::Builtin(builtin) = &kind.origin else {
        return Ok(());
    };
    let own = Key::of(object);
    let others = state
        .store
        .list(&kind.id, "")
        .filter(|(key, _)| **key != own)
        .map(|(_, object)| &**object);
    let allocated = builtin.allocate(object, old, others);
    allocated.or_else(|errors| refuse(kind, object, &errors))
}

fn refuse(kind: &Kind, object: &Json, errors: &[FieldError]) -> Result<(), Refusal> {
    Refusal::unless_valid(kind.about_kind(crate::object::meta(object, "name")), errors)
}

/// The namespaces that every cluster has.
const KEPT_NAMESPACES: [&str; 3] = ["default", "kube-public", "kube-system"];

/// Whether an object may be deleted, after the admission plugin `NamespaceLifecycle`.
///
/// # Errors
///
/// If it is a namespace that every cluster has.
pub(crate) fn admit_delete(kind: &Kind, key: &Key) -> Result<(), Refusal> {
    if is_namespace(kind) && KEPT_NAMESPACES.contains(&key.name.as_str()) {
        let why = "this namespace may not be deleted";
        return Err(Refusal::forbidden(kind.about(&key.name), why));
    }
    Ok(())
}

/// Runs before an object is marked for deletion.
pub(crate) fn before_delete(state: &State, kind: &Kind, object: &mut Json) {
    if is_deleting(object) {
        return;
    }
    if kind.is_definition() {
        definitions::terminate(object, &state.world.time());
    }
    if is_namespace(kind) {
        set(object, "status", json!({"phase": "Terminating"}));
    }
}

/// Runs after an object was stored.
pub(crate) fn after_write(state: &mut State, kind: &Kind, stored: &Arc<Json>) {
    if kind.is_definition() {
        settle(state, kind, stored);
    }
    if is_cluster_role(kind) {
        rbac::aggregate(state);
    }
}

fn is_cluster_role(kind: &Kind) -> bool {
    kind.id.group == rbac::GROUP && kind.id.resource == "clusterroles"
}

/// Runs after an object was removed.
pub(crate) fn after_delete(state: &mut State, kind: &Kind, last: &Json) {
    if is_cluster_role(kind) {
        rbac::aggregate(state);
    }
    admission::forget(state, last);
    if kind.is_definition() {
        let text = |path: &[&str]| at(last, path).as_str().unwrap_or_default().to_owned();
        state
            .kinds
            .remove(&text(&["spec", "group"]), &text(&["spec", "names", "plural"]));
        let waiting: Vec<Arc<Json>> = others(state, last);
        for other in waiting {
            settle(state, kind, &other);
        }
    }
}

/// The other definitions of the same group.
fn others(state: &State, object: &Json) -> Vec<Arc<Json>> {
    let definitions = id(definitions::GROUP, definitions::RESOURCE);
    let all = state.store.list(&definitions, "").map(|(_, other)| other);
    all.filter(|other| {
        at(other, &["metadata", "name"]) != at(object, &["metadata", "name"])
            && at(other, &["spec", "group"]) == at(object, &["spec", "group"])
    })
    .map(Arc::clone)
    .collect()
}

/// Checks the names of a definition, and serves the definition once it is established.
fn settle(state: &mut State, kind: &Kind, object: &Arc<Json>) {
    let all: Vec<Json> = others(state, object)
        .iter()
        .map(|other| Json::clone(other))
        .collect();
    let status = definitions::settled(object, &all, &state.world.time());
    if *at(object, &["status"]) != status {
        let mut settled = Json::clone(object);
        set(&mut settled, "status", status.clone());
        let by = Manager {
            name: "kube-apiserver".to_owned(),
            api_version: kind.api_version(),
            subresource: "status".to_owned(),
        };
        let ignored = kind.ignored(crate::request::Subresource::Status);
        let settled = managed::update(
            Some(object),
            settled,
            &kind.types,
            &by,
            &state.world.time(),
            &ignored,
        );
        if state.store.get(&kind.id, &Key::of(object)).is_some() {
            state.store.put(&kind.id, settled);
        }
    }
    let conditions = at(&status, &["conditions"]).as_array().into_iter().flatten();
    let is_established =
        |it: &Json| it.get("type") == Some(&json!("Established")) && it.get("status") == Some(&json!("True"));
    if conditions.filter(|it| is_established(it)).count() > 0
        && let Ok(mut definition) = definitions::read(object)
    {
        if let Ok(names) = serde_json::from_value(at(&status, &["acceptedNames"]).clone()) {
            definition.names = names;
        }
        state.kinds.define(&definition, at(object, &["spec"]));
        read_again(state, &definition);
    }
}

/// The API server prunes objects and applies defaults whenever it reads them from etcd, by the present schema. This
/// server does so once for each change of the schema.
fn read_again(state: &mut State, definition: &Definition) {
    let of = id(&definition.group, &definition.names.plural);
    let kind = state.kinds.any(&of).cloned();
    // Objects of a resource that is not served are never read.
    let Some(versions) = kind.as_ref().and_then(|kind| kind.versions()) else {
        return;
    };
    state
        .store
        .read_again(&of, |object| versions.read(object.clone()));
}
