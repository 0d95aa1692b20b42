//! The owner of a child: its controller or, without one, the object whose uid is in a label. The garbage collector only
//! follows owner references, so children with the label are not deleted while their owner is being deleted.
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::Resource;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The label with the name of the operator that applies a child.
pub(crate) const MANAGED_BY: &str = "app.kubernetes.io/managed-by";

/// The fate of the children of a kind when their owner is deleted: `deletion` of an item of `owns`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChildDeletion {
    /// They have an owner reference, so the garbage collector of Kubernetes deletes them: after the owner, or as soon
    /// as its deletion begins with `kubectl delete --cascade=foreground`.
    #[default]
    Owner,
    /// The operator deletes them when the deletion path has ended. The owner's deletion alone does not delete them.
    Last,
    /// The operator releases them when the deletion path has ended, and they remain.
    Keep,
}

/// An object as the owner of its children.
#[derive(Clone, Debug)]
pub(crate) struct Owner {
    pub reference: OwnerReference,
    /// The label with the uid of the owner, and the annotation with its name. Their key is that of the finalizer of the
    /// owner's kind, so two kinds have different keys.
    pub label: &'static str,
}

impl Owner {
    /// Whether a child belongs to this object.
    pub fn owns<K: Resource>(&self, child: &K) -> bool {
        owner_uid(child.meta(), self.label) == Some(&*self.reference.uid)
    }

    /// The owner of a child. The label of another kind counts as no owner, and such a child must not be applied either.
    pub fn of(&self, meta: &ObjectMeta) -> Option<OwnerReference> {
        if let Some(controller) = controller_in(meta) {
            return Some(controller.clone());
        }
        let (uid, name) = labelled_owner(meta, self.label)?;
        Some(self.former(uid, name))
    }

    /// The reference to an object of the same kind.
    pub fn former(&self, uid: &str, name: Option<&str>) -> OwnerReference {
        OwnerReference {
            uid: uid.to_owned(),
            name: name.unwrap_or_default().to_owned(),
            ..self.reference.clone()
        }
    }

    /// Marks a child that is about to be applied as owned by this object.
    pub fn mark(&self, metadata: &mut Value, deletion: ChildDeletion) {
        if deletion == ChildDeletion::Owner {
            metadata["ownerReferences"] = json!([self.reference]);
            return;
        }
        if let Some(metadata) = metadata.as_object_mut() {
            metadata.remove("ownerReferences");
        }
        metadata["labels"][self.label] = json!(self.reference.uid);
        metadata["annotations"][self.label] = json!(self.reference.name);
    }
}

/// The annotation of a child that is handed over, with the field managers whose fields become the operator's.
pub(crate) const FORMER_MANAGERS: &str = "former-managers";

/// Whether other clients may have set fields of a child before it was handed over: the child has no label that this
/// operator manages it, or the annotation names other managers. `label` is that of the kind that owns it.
pub(crate) fn is_handed_over(meta: &ObjectMeta, label: &str, operator: &str) -> bool {
    let (group, _) = group_of(label);
    let is_child = match controller_in(meta) {
        Some(controller) => group_of(&controller.api_version).0 == group,
        None => labelled_owner(meta, label).is_some(),
    };
    let managed_by = meta.labels.as_ref().and_then(|all| all.get(MANAGED_BY));
    let mut annotations = meta.annotations.iter().flat_map(BTreeMap::keys);
    is_child
        && (managed_by.is_none_or(|name| name != operator)
            || annotations.any(|key| group_of(key) == (group, FORMER_MANAGERS)))
}

/// The group of an API version, or of a key in the form of a kind's finalizer, and the rest.
pub(crate) fn group_of(name: &str) -> (&str, &str) {
    name.split_once('/').unwrap_or(("", name))
}

/// The merge patch of `metadata` that releases a child of the object with this name and uid. The label has the owner's
/// kind, by which users can find the kept children; the annotation has the owner's name and uid.
pub(crate) fn release(label: &str, name: &str, uid: &str) -> Value {
    let (group, plural) = group_of(label);
    let released = format!("{group}/released-from");
    json!({
        "labels": {label: null, MANAGED_BY: null, &*released: plural},
        "annotations": {label: null, &*released: format!("{name} {uid}")},
    })
}

/// The owner reference of a child to an object.
pub(crate) fn controller(api_version: &str, kind: &str, name: &str, uid: &str) -> OwnerReference {
    OwnerReference {
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
        name: name.to_owned(),
        uid: uid.to_owned(),
        controller: Some(true),
        block_owner_deletion: Some(true),
    }
}

/// The owner reference to the controller of the object.
pub(crate) fn controller_in(meta: &ObjectMeta) -> Option<&OwnerReference> {
    let mut owners = meta.owner_references.iter().flatten();
    owners.find(|owner| owner.controller == Some(true))
}

/// The uid and the name of the owner in the label and the annotation. An applied child has both.
pub(crate) fn labelled_owner<'m>(meta: &'m ObjectMeta, label: &str) -> Option<(&'m str, Option<&'m str>)> {
    let uid = meta.labels.as_ref()?.get(label)?;
    let name = meta.annotations.as_ref().and_then(|all| all.get(label));
    Some((uid, name.map(String::as_str).filter(|name| !name.is_empty())))
}

/// The uid of the object that a child belongs to.
pub(crate) fn owner_uid<'m>(meta: &'m ObjectMeta, label: &str) -> Option<&'m str> {
    match controller_in(meta) {
        Some(controller) => Some(&controller.uid),
        None => labelled_owner(meta, label).map(|(uid, _)| uid),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::from_value;

    #[test]
    fn a_child_is_looked_at_when_somebody_else_may_have_had_it() {
        let label = "example.com/owners";
        let handed_over = |owner: Option<&str>, managed_by: Option<&str>, annotation: &str| {
            let owners = owner.map(
                |api| json!([{"apiVersion": api, "kind": "A", "name": "a", "uid": "1", "controller": true}]),
            );
            let meta = json!({
                "ownerReferences": owners, "labels": {MANAGED_BY: managed_by.unwrap_or_default()},
                "annotations": {annotation: "helm"},
            });
            is_handed_over(&from_value(meta).expect("metadata"), label, "me")
        };
        let (ours, others) = (Some("example.com/v1"), Some("example.org/v1"));
        assert!(!handed_over(ours, Some("me"), "other.com/former-managers"));
        assert!(handed_over(ours, Some("me"), "example.com/former-managers"));
        assert!(
            handed_over(ours, Some("former"), "a"),
            "the operator had another name"
        );
        assert!(handed_over(ours, None, "a"));
        assert!(!handed_over(others, None, "a"), "it is no child");
        assert!(!handed_over(None, None, "example.com/former-managers"));
    }
}
