//! Other kinds that an operator looks at: those that it owns, and those that it watches. One watch a kind feeds a
//! cache, and says which of our objects are concerned.
use super::caches;
use crate::{
    applied::ChildKey,
    graph::Watch,
    machine::{Machine, ManifestOf, Object as _},
    resource::Child,
};
use futures::stream::BoxStream;
use kube::Client;
use std::{
    any::{Any, TypeId},
    sync::Arc,
};

/// The kinds that a machine's operator looks at. Generated.
pub trait Linked: Machine {
    /// All of them.
    fn links() -> Vec<Link<Self>> {
        Vec::new()
    }
}

/// A kind that an operator looks at.
pub struct Link<M: Machine> {
    /// As a description names it: `batch/v1.Job`.
    pub(crate) kind: &'static str,
    pub(crate) of: TypeId,
    pub(crate) concerns: Concerns<M>,
    start: fn(Client, &[String]) -> LinkWatch,
}

/// Which of our objects an object of a watched kind concerns.
pub enum Concerns<M: Machine> {
    /// The one that owns it.
    Owner,
    /// Those that name it, in this namespace.
    Named(fn(&ManifestOf<M>) -> Vec<String>, LookIn<M>),
    /// The one whose name this label of it has.
    Label(&'static str),
    /// All of them.
    All,
}

/// The namespace in which a named object is looked for.
pub enum LookIn<M: Machine> {
    /// That of the object which names it.
    Own,
    /// Always this.
    Always(&'static str),
    /// What a field says.
    FromField(fn(&ManifestOf<M>) -> Vec<String>),
}

/// A watch that runs, and what it feeds: a cache for each namespace.
pub(crate) struct LinkWatch {
    pub seen: BoxStream<'static, LinkEvent>,
    pub caches: Arc<dyn Any + Send + Sync>,
}

/// What a watch of another kind says.
pub(crate) enum LinkEvent {
    /// An object came, changed or went.
    Changed(ObservedChange),
    /// All objects are in the cache, or cannot be listed now.
    Listed,
}

/// What is known of another object's change.
pub(crate) struct ObservedChange {
    pub namespace: String,
    pub name: String,
    pub version: u64,
    pub controller: Option<String>,
    pub labels: Vec<(String, String)>,
}

impl<M: Machine> Link<M> {
    /// A kind that the operator owns.
    pub fn owned<K: Child>(kind: &'static str) -> Self {
        Self::new::<K>(kind, Concerns::Owner, caches::start_owned::<K>)
    }
    /// A kind that the operator watches.
    pub fn watched<K: Child>(kind: &'static str, concerns: Concerns<M>) -> Self {
        Self::new::<K>(kind, concerns, caches::start_watched::<K>)
    }
    fn new<K: Child>(
        kind: &'static str,
        concerns: Concerns<M>,
        start: fn(Client, &[String]) -> LinkWatch,
    ) -> Self {
        Self {
            kind,
            of: TypeId::of::<K>(),
            concerns,
            start,
        }
    }

    /// Whether the operator owns it.
    pub(crate) fn is_owned(&self) -> bool {
        matches!(self.concerns, Concerns::Owner)
    }
    /// What a state may wait for it by.
    pub(crate) fn names(&self) -> Vec<Watch> {
        let group = if self.is_owned() {
            Watch::Owned
        } else {
            Watch::Watched
        };
        vec![group, Watch::Kind(self.kind)]
    }
    /// Namespaces and names of the objects that this one of ours names.
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
    pub(crate) fn start(&self, client: Client, namespaces: &[String]) -> LinkWatch {
        match &self.concerns {
            // The operator has rights there, and need not have them anywhere else.
            Concerns::Named(_, LookIn::Always(namespace)) => (self.start)(client, &[(*namespace).to_owned()]),
            _ => (self.start)(client, namespaces),
        }
    }
    pub(crate) fn child(&self, sight: &ObservedChange) -> ChildKey {
        (self.kind, sight.namespace.clone(), sight.name.clone())
    }
}
