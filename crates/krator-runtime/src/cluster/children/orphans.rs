//! Children whose metadata does not match the description, and orphans: their owner's finalizer was removed
//! by force, or a request about the child arrived after the owner's end.
use super::ends::without_controller;
use crate::{
    cluster::{api::raw::Endpoint, related::scope::Cluster},
    error::Result,
    machine::Machine,
    resource::{ChildDeletion, controller, controller_in, labelled_owner},
};
use k8s_openapi::{
    api::core::v1::ObjectReference,
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference},
};
use serde_json::{Value, json};

/// A child that may need a change, which is decided after it has been read.
pub(in crate::cluster) struct Orphan {
    /// The number of the link.
    link: usize,
    namespace: String,
    name: String,
}

/// Whether a child may need a change, by the uid of its controller and the value of the label. `lives` says
/// whether the operator handles an object.
fn is_orphan(
    deletion: ChildDeletion,
    controller: Option<&str>,
    labelled: Option<&str>,
    lives: impl Fn(&str) -> bool,
) -> bool {
    match (deletion, controller, labelled) {
        // Of a former description.
        (ChildDeletion::Owner, _, labelled) => labelled.is_some(),
        (_, Some(controller), _) => lives(controller),
        (_, None, Some(owner)) => !lives(owner),
        (_, None, None) => false,
    }
}

impl<M: Machine> Cluster<M> {
    /// Whether children may outlive their owner.
    pub fn has_outliving(&self) -> bool {
        self.links
            .iter()
            .any(|link| link.deletion != ChildDeletion::Owner)
    }

    /// The children that may need something. `lives` says whether the operator looks after an object.
    pub fn orphans(&self, lives: impl Fn(&str) -> bool) -> Vec<Orphan> {
        self.select(|deletion, controller, labelled| is_orphan(deletion, controller, labelled, &lives))
    }

    /// The children that an object has left behind.
    pub fn left_by(&self, uid: &str) -> Vec<Orphan> {
        if !self.has_outliving() {
            return Vec::new();
        }
        self.select(|deletion, controller, labelled| {
            deletion != ChildDeletion::Owner && controller.is_none() && labelled == Some(uid)
        })
    }

    /// The children for which a predicate on the uid of the controller and the value of the label is true.
    fn select(&self, is_one: impl Fn(ChildDeletion, Option<&str>, Option<&str>) -> bool) -> Vec<Orphan> {
        let mut orphans = Vec::new();
        let links = self.links.iter().zip(&self.caches).enumerate();
        for (at, (link, cache)) in links.filter(|(_, (link, _))| link.is_owned()) {
            let found = cache.owned_by(M::GRAPH.finalizer, &|controller, labelled| {
                is_one(link.deletion, controller, labelled)
            });
            orphans.extend(found.into_iter().map(|(namespace, name)| Orphan {
                link: at,
                namespace,
                name,
            }));
        }
        orphans
    }

    /// The child that has changed, if it may need something.
    pub fn orphan(
        &self,
        at: usize,
        (namespace, name): (&str, &str),
        (controller, labelled): (Option<&str>, Option<&str>),
        lives: impl Fn(&str) -> bool,
    ) -> Option<Orphan> {
        let link = self.links.get(at).filter(|link| link.is_owned())?;
        is_orphan(link.deletion, controller, labelled, lives).then(|| Orphan {
            link: at,
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        })
    }

    /// Updates the metadata of a child, or ends it if its owner is gone. Returns the child if it is kept.
    pub async fn clean_up(&self, of: &Endpoint, orphan: &Orphan) -> Result<Option<ObjectReference>> {
        let (label, link) = (M::GRAPH.finalizer, &self.links[orphan.link]);
        let api = self.metadata(link, &orphan.namespace);
        let Some(child) = api.get_metadata_opt(&orphan.name).await? else {
            return Ok(None);
        };
        let child = child.metadata;
        if child.deletion_timestamp.is_some() {
            return Ok(None);
        }
        let (controller, labelled) = (controller_in(&child), labelled_owner(&child, label));
        match (link.deletion, controller, labelled) {
            (ChildDeletion::Owner, controller, Some((uid, name)))
                if controller.is_none_or(|owner| self.is_of_kind(of, owner)) =>
            {
                let patch = self.referring(&child, uid, name);
                self.patch(link, &child, patch).await?;
            }
            (ChildDeletion::Last | ChildDeletion::Keep, Some(owner), _) if self.is_of_kind(of, owner) => {
                let patch = json!({
                    "ownerReferences": without_controller(&child),
                    "labels": {label: owner.uid},
                    "annotations": {label: owner.name},
                });
                self.patch(link, &child, patch).await?;
            }
            (ChildDeletion::Last | ChildDeletion::Keep, None, Some((uid, Some(name)))) => {
                let owners = of.api::<super::ends::Metadata>(self.client.clone(), &orphan.namespace);
                let owner = owners.get_metadata_opt(name).await?;
                let lives = owner.is_some_and(|owner| owner.metadata.uid.as_deref() == Some(uid));
                if !lives
                    && self.end(link, &child, (name, uid)).await?
                    && link.deletion == ChildDeletion::Keep
                {
                    return Ok(Some(link.endpoint.reference(&child)));
                }
            }
            // The child belongs to another owner or to none, or the name of its owner is unknown.
            _ => {}
        }
        Ok(None)
    }

    /// A patch that replaces the label of a child by an owner reference, so that the garbage collector deletes it with its
    /// owner.
    fn referring(&self, child: &ObjectMeta, uid: &str, name: Option<&str>) -> Value {
        let label = M::GRAPH.finalizer;
        let mut patch = json!({"labels": {label: null}, "annotations": {label: null}});
        if let (None, Some(name)) = (controller_in(child), name) {
            let owner = controller(&self.api_version, &self.kind, name, uid);
            let others = child.owner_references.iter().flatten();
            patch["ownerReferences"] = json!(others.chain([&owner]).collect::<Vec<_>>());
        }
        patch
    }

    /// Whether an owner reference is to an object of the operator's kind, whichever version it names.
    fn is_of_kind(&self, of: &Endpoint, owner: &OwnerReference) -> bool {
        let group = owner.api_version.rsplit_once('/').map_or("", |(group, _)| group);
        (group, &*owner.kind) == (of.group(), of.kind())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ChildDeletion::{Keep, Last, Owner};

    #[test]
    fn a_child_is_looked_at_when_it_does_not_say_what_the_description_says_or_its_owner_is_gone() {
        let (living, gone) = (Some("living"), Some("gone"));
        let is_orphan =
            |deletion, controller, labelled| is_orphan(deletion, controller, labelled, |uid| uid == "living");
        for deletion in [Last, Keep] {
            assert!(is_orphan(deletion, living, None), "the collector would take it");
            assert!(is_orphan(deletion, living, living));
            assert!(is_orphan(deletion, None, gone));
            assert!(!is_orphan(deletion, None, living));
            assert!(!is_orphan(deletion, gone, living), "it belongs to somebody else");
            assert!(!is_orphan(deletion, gone, None));
            assert!(!is_orphan(deletion, None, None));
        }
        for controller in [None, living, gone] {
            assert!(is_orphan(Owner, controller, living));
            assert!(is_orphan(Owner, controller, gone));
            assert!(!is_orphan(Owner, controller, None));
        }
    }
}
