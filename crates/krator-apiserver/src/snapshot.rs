//! All objects of a server at one moment, for a server that begins with them.

use crate::{definitions, hooks, object::meta, state::State, store::ResourceId};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// All objects of a server, to be written to a file. It has Secrets in plain text.
#[derive(Debug, Serialize, Deserialize)]
pub struct Snapshot {
    /// The last version that the server has given. A restored server goes on from there, so that no version is given twice.
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
    /// The objects of a server as they are now.
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

    /// Stores the objects in a new server. What has no name was not in a server, and is left out.
    pub(crate) fn restore(self, state: &mut State) {
        state.store.advance(self.version);
        let is_definition =
            |stored: &Stored| stored.group == definitions::GROUP && stored.resource == definitions::RESOURCE;
        // The kinds come first, so that the objects are of some kind.
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
