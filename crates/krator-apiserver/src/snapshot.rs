//! Snapshots of all objects of a server, from which another server can start.

use crate::{definitions, hooks, object::meta, state::State, store::ResourceId};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// All objects of a server, to be written to a file. Secrets are in plain text.
#[derive(Debug, Serialize, Deserialize)]
pub struct Snapshot {
    /// The last version of the server. A restored server continues after it, so that no version is used twice.
    version: u64,
    resources: Vec<Stored>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    group: String,
    resource: String,
    objects: Vec<Json>,
}

impl Snapshot {
    /// The present objects of a server.
    pub(crate) fn of(state: &State) -> Self {
        let objects = |of| state.store.list(of, "").map(|(_, object)| Json::clone(object));
        let resources = state.store.resources().map(|of| Stored {
            group: of.group.clone(),
            resource: of.resource.clone(),
            objects: objects(of).collect(),
        });
        Self {
            version: state.store.version(),
            resources: resources.collect(),
        }
    }

    /// Stores the objects in a new server. Objects without a name are skipped, because no server stores them.
    pub(crate) fn restore(self, state: &mut State) {
        state.store.advance(self.version);
        let is_definition =
            |stored: &Stored| stored.group == definitions::GROUP && stored.resource == definitions::RESOURCE;
        // Definitions are stored first, so that the kinds of the other objects exist.
        let (kinds, others): (Vec<_>, Vec<_>) = self.resources.into_iter().partition(is_definition);
        for stored in kinds.into_iter().chain(others) {
            let of = ResourceId {
                group: stored.group,
                resource: stored.resource,
            };
            for object in stored.objects {
                if meta(&object, "name").is_empty() {
                    continue;
                }
                let object = state.store.put(&of, object);
                if let Some(kind) = state.kinds.any(&of).cloned() {
                    hooks::after_write(state, &kind, &object);
                }
            }
        }
    }
}
