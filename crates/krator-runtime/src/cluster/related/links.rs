//! The other kinds that an operator owns or watches, and which objects of the operator a change of them concerns.
use super::watches::{Cache, LinkEvent, Need, ObservedChange, SharedWatches};
use crate::{
    admission::Webhooks,
    applied::ChildKey,
    cluster::api::raw::Endpoint,
    graph::Watch,
    machine::{Machine, ManifestOf, Object as _},
    resource::{Child, ChildDeletion},
};
use futures::stream::BoxStream;
use std::{any::TypeId, sync::Arc};

/// The description grants the operator of this machine access to `K`. Generated.
#[diagnostic::on_unimplemented(
    message = "the operator has no access to `{K}`",
    label = "no rights on `{K}`",
    note = "add the kind to `owns`, `watches` or `access` in krator.yaml, then run `krator gen`"
)]
pub trait Grants<K>: Machine {
    /// The status of a new object of the kind, as JSON: the default that its
    /// CustomResourceDefinition has. Empty if there is none.
    const NEW_STATUS: &'static str = "";
}

/// The description lists `K` under `owns`. Generated.
#[diagnostic::on_unimplemented(
    message = "the operator does not own `{K}`",
    label = "not in `owns`",
    note = "add the kind to `owns` in krator.yaml, then run `krator gen`"
)]
pub trait Owns<K>: Grants<K> {
    /// The fate of the children of this kind when an object is deleted.
    const DELETION: ChildDeletion = ChildDeletion::Owner;
}

/// The description lists `K` under `watches`. Generated.
#[diagnostic::on_unimplemented(
    message = "the operator does not watch `{K}`",
    label = "not in `watches`",
    note = "add the kind to `watches` in krator.yaml, then run `krator gen`"
)]
pub trait Watches<K>: Grants<K> + Linked {}

/// The kinds that the operator of a machine owns or watches. Generated.
pub trait Linked: Machine {
    /// An object of the kind as JSON, of which the page of a development build creates more; empty if there is none.
    #[cfg(feature = "dev")]
    const SAMPLE: &'static str = "";
    /// The webhooks of the kind itself.
    fn webhooks() -> Webhooks<Self> {
        Webhooks::none()
    }
    /// All of these kinds.
    fn links() -> Vec<Link<Self>> {
        Vec::new()
    }
}

/// A kind that an operator owns or watches.
pub struct Link<M: Machine> {
    /// The kind as the description names it, for example `batch/v1.Job`.
    pub(crate) kind: &'static str,
    pub(crate) of: TypeId,
    pub(crate) concerns: Concerns<M>,
    /// Where the kind is served.
    pub(in crate::cluster) endpoint: Endpoint,
    /// The fate of the objects when an object that owns them is deleted.
    pub(in crate::cluster) deletion: ChildDeletion,
    subscribe: Subscribe,
}

/// Asks for the watch of a kind in some namespaces.
type Subscribe = fn(&mut SharedWatches, &[String], Need) -> LinkWatch;

/// Which objects of the operator an object of another kind concerns.
pub enum Concerns<M: Machine> {
    /// The object that owns it.
    Owner,
    /// The objects that refer to it by name, in this namespace.
    Named(fn(&ManifestOf<M>) -> Vec<String>, LookIn<M>),
    /// The object whose name is the value of this label.
    Label(&'static str),
    /// All objects of the operator.
    All,
}

/// The namespace of an object that is referred to by name.
pub enum LookIn<M: Machine> {
    /// The namespace of the object that refers to it.
    Own,
    /// Always this namespace.
    Always(&'static str),
    /// The namespace that a field of the referring object contains.
    FromField(fn(&ManifestOf<M>) -> Vec<String>),
}

/// The events of a link's kind, and a [`KindCache`](super::watches::KindCache) of it.
pub(in crate::cluster) type LinkWatch = (BoxStream<'static, LinkEvent>, Arc<dyn Cache>);

impl<M: Machine> Link<M> {
    /// A kind that the operator owns.
    pub fn owned<K: Child>(kind: &'static str) -> Self
    where
        M: Owns<K>,
    {
        Self {
            deletion: M::DELETION,
            ..Self::new::<K>(kind, Concerns::Owner)
        }
    }
    /// A kind that the operator watches.
    pub fn watched<K: Child>(kind: &'static str, concerns: Concerns<M>) -> Self {
        Self::new::<K>(kind, concerns)
    }
    fn new<K: Child>(kind: &'static str, concerns: Concerns<M>) -> Self {
        Self {
            kind,
            of: TypeId::of::<K>(),
            concerns,
            endpoint: Endpoint::of::<K>(),
            deletion: ChildDeletion::Owner,
            subscribe: |watches, namespaces, need| {
                let (events, cache) = watches.link::<K>(namespaces, need);
                (events, cache as _)
            },
        }
    }

    /// Whether the operator owns it.
    pub(crate) fn is_owned(&self) -> bool {
        matches!(self.concerns, Concerns::Owner)
    }
    /// The names by which a state can wait for objects of this kind.
    pub(crate) fn names(&self) -> Vec<Watch> {
        let group = if self.is_owned() {
            Watch::Owned
        } else {
            Watch::Watched
        };
        vec![group, Watch::Kind(self.kind)]
    }
    /// The namespaces and names of the objects that an object of the operator refers to.
    pub(crate) fn named_by(&self, object: &ManifestOf<M>) -> Vec<(String, String)> {
        let Concerns::Named(names, look_in) = &self.concerns else {
            return Vec::new();
        };
        let namespace = match look_in {
            LookIn::Own => object.namespace().to_owned(),
            LookIn::Always(namespace) => (*namespace).to_owned(),
            LookIn::FromField(read) => read(object).into_iter().next().unwrap_or_default(),
        };
        let named = names(object).into_iter().filter(|name| !name.is_empty());
        named.map(|name| (namespace.clone(), name)).collect()
    }
    /// Whether handlers are given objects that are read for them one by one.
    pub(in crate::cluster) fn is_read(&self) -> bool {
        matches!(self.concerns, Concerns::Named(..) | Concerns::Label(_))
    }
    pub(in crate::cluster) fn subscribe(
        &self,
        watches: &mut SharedWatches,
        namespaces: &[String],
        operator: &'static str,
    ) -> LinkWatch {
        let need = match &self.concerns {
            Concerns::Owner => Need::Owner {
                label: M::GRAPH.finalizer,
                operator,
            },
            Concerns::Named(..) => Need::Names,
            Concerns::Label(key) => Need::Label(key),
            Concerns::All => Need::Whole,
        };
        match &self.concerns {
            // The operator needs permissions in this namespace only.
            Concerns::Named(_, LookIn::Always(namespace)) => {
                (self.subscribe)(watches, &[(*namespace).to_owned()], need)
            }
            _ => (self.subscribe)(watches, namespaces, need),
        }
    }
    /// The uid of the object that owns a child, as the label of the operator's kind has it.
    pub(in crate::cluster) fn labelled<'c>(&self, change: &'c ObservedChange) -> Option<&'c str> {
        let mut labels = change.labels.iter();
        let (_, uid) = labels.find(|(key, _)| *key == M::GRAPH.finalizer)?;
        Some(uid)
    }
    pub(in crate::cluster) fn child(&self, change: &ObservedChange) -> ChildKey {
        (self.kind, change.namespace.clone(), change.name.clone())
    }
}
