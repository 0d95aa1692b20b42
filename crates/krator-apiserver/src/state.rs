//! The state of a server.

use crate::{
    expressions::Compiled,
    kinds::Kinds,
    object::meta,
    refusal::Refusal,
    store::{Key, ResourceId, Store},
    users::Users,
    webhook_calls::Session,
    world::World,
};
use serde_json::{Value as Json, json};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The objects of a server, and the kinds that it serves. Access is exclusive, so that every request is a transaction.
pub(crate) struct State {
    pub store: Store,
    pub world: Arc<World>,
    pub kinds: Kinds,
    /// The users and their tokens.
    pub users: Users,
    /// Whether RBAC authorizes requests; otherwise all users may do everything.
    pub rbac: bool,
    /// The webhook calls and warnings of the request that has the state.
    pub session: Session,
    /// The compiled expressions of admission configurations, each with the version of its object.
    pub compiled: BTreeMap<String, (String, Arc<Compiled>)>,
}

/// The namespaces that every cluster has.
const NAMESPACES: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

impl State {
    pub fn new(world: Arc<World>) -> Self {
        let mut state = Self {
            store: Store::default(),
            world,
            kinds: Kinds::builtin(),
            users: Users::default(),
            rbac: false,
            session: Session::default(),
            compiled: BTreeMap::new(),
        };
        for name in NAMESPACES {
            let mut namespace = json!({
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}},
                "spec": {"finalizers": ["kubernetes"]},
                "status": {"phase": "Active"},
            });
            stamp(&mut namespace, &state.world);
            state.store.put(&namespaces(), namespace);
        }
        state
    }

    /// Checks whether objects may be created in a namespace.
    ///
    /// # Errors
    ///
    /// If the namespace does not exist, or is being deleted.
    pub fn check_namespace(&self, name: &str, about: crate::refusal::About) -> Result<(), Refusal> {
        let about_namespace = crate::refusal::About::new("", "namespaces", name);
        let namespace = self.store.get(&namespaces(), &Key::new("", name));
        let namespace = namespace.ok_or_else(|| Refusal::not_found(about_namespace))?;
        if crate::object::is_deleting(namespace) {
            let why =
                format!("unable to create new content in namespace {name} because it is being terminated");
            let cause = crate::refusal::Cause {
                reason: "NamespaceTerminating".to_owned(),
                message: format!("namespace {name} is being terminated"),
                field: "metadata.namespace".to_owned(),
            };
            return Err(Refusal {
                causes: vec![cause],
                ..Refusal::forbidden(about, &why)
            });
        }
        Ok(())
    }
}

/// Locks the state. A panicking request leaves the state consistent, because only whole objects are stored.
pub(crate) fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The resource of namespaces.
pub(crate) fn namespaces() -> ResourceId {
    core("namespaces")
}

/// A resource of the core group.
pub(crate) fn core(resource: &str) -> ResourceId {
    id("", resource)
}

/// A resource of a group.
pub(crate) fn id(group: &str, resource: &str) -> ResourceId {
    ResourceId {
        group: group.to_owned(),
        resource: resource.to_owned(),
    }
}

/// Removes the metadata that only the server may set from a new object.
pub(crate) fn clear(object: &mut Json) {
    for key in [
        "creationTimestamp",
        "uid",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "selfLink",
    ] {
        crate::object::set_meta(object, key, Json::Null);
    }
}

/// Sets the metadata that only the server may set in a new object.
pub(crate) fn stamp(object: &mut Json, world: &World) {
    clear(object);
    crate::object::set_meta(object, "creationTimestamp", world.time().into());
    crate::object::set_meta(object, "uid", world.uid().into());
}

/// Generates a name from `generateName` as the API server does: with five characters without vowels, which do not form
/// words.
pub(crate) fn generated_name(object: &Json, world: &World) -> String {
    const CHARACTERS: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
    let base: String = meta(object, "generateName").chars().take(58).collect();
    let random = world.uuid().into_bytes();
    let suffix = random[..5]
        .iter()
        .map(|byte| char::from(CHARACTERS[usize::from(*byte) % CHARACTERS.len()]));
    base + &suffix.collect::<String>()
}
