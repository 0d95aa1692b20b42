//! An index from objects of watched kinds to the objects of the operator that they concern.
use super::{
    links::{Concerns, Link},
    watches::ObservedChange,
};
use crate::machine::{Machine, ManifestOf, Object as _};
use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

/// `metadata.uid` of an object that the operator looks after.
pub(in crate::cluster) type Uid = Arc<str>;
/// An object of a watched kind: the number of the link, the namespace and the name.
type Name = (usize, String, String);

/// The objects of the operator, by what connects them to objects of watched kinds.
#[derive(Default)]
pub(in crate::cluster) struct WatchIndex {
    /// By their own names, which labels of other objects contain.
    by_name: HashMap<String, BTreeSet<Uid>>,
    /// By the objects that they refer to.
    by_named: HashMap<Name, BTreeSet<Uid>>,
    /// The own name and the references of each object, which are removed with it.
    names: HashMap<Uid, (String, Vec<Name>)>,
}

impl WatchIndex {
    /// Adds an object, or updates its references.
    pub fn update<M: Machine>(&mut self, uid: &Uid, object: &ManifestOf<M>, links: &[Link<M>]) {
        if links.iter().all(Link::is_owned) {
            return;
        }
        let mut named = Vec::new();
        for (at, link) in links.iter().enumerate() {
            named.extend(
                link.named_by(object)
                    .into_iter()
                    .map(|(namespace, name)| (at, namespace, name)),
            );
        }
        if self.names.get(uid).is_some_and(|(_, known)| *known == named) {
            return;
        }
        self.forget(uid);
        for name in &named {
            self.by_named
                .entry(name.clone())
                .or_default()
                .insert(Arc::clone(uid));
        }
        let own = object.name().to_owned();
        self.by_name
            .entry(own.clone())
            .or_default()
            .insert(Arc::clone(uid));
        self.names.insert(Arc::clone(uid), (own, named));
    }

    /// Removes an object.
    pub fn forget(&mut self, uid: &str) {
        let Some((own, named)) = self.names.remove(uid) else {
            return;
        };
        for name in named {
            remove(&mut self.by_named, &name, uid);
        }
        remove(&mut self.by_name, &own, uid);
    }

    /// The objects that a change concerns.
    pub fn of<M: Machine>(&self, at: usize, link: &Link<M>, change: &ObservedChange) -> Vec<Uid> {
        match &link.concerns {
            Concerns::Owner => {
                let label = M::GRAPH.finalizer;
                let labelled = change.labels.iter().filter(|(key, _)| *key == label);
                let uids = labelled.map(|(_, uid)| uid).chain(&change.controller);
                let uids: BTreeSet<Uid> = uids.map(|uid| uid.as_str().into()).collect();
                uids.into_iter().collect()
            }
            Concerns::Named(..) => {
                // An object without a namespace is referred to no matter which namespace the reference names.
                let here = (at, change.namespace.clone(), change.name.clone());
                let of = |(_, uids): (_, &BTreeSet<Uid>)| uids.iter().cloned().collect::<Vec<_>>();
                if change.namespace.is_empty() {
                    let by_name = self
                        .by_named
                        .iter()
                        .filter(|((a, _, name), _)| *a == at && *name == change.name);
                    by_name.flat_map(of).collect()
                } else {
                    self.by_named.get_key_value(&here).map(of).unwrap_or_default()
                }
            }
            Concerns::Label(key) => {
                let values = change.labels.iter().filter(|(k, _)| k == key);
                let uids: BTreeSet<&Uid> = values
                    .filter_map(|(_, value)| self.by_name.get(value))
                    .flatten()
                    .collect();
                uids.into_iter().cloned().collect()
            }
            Concerns::All => self.names.keys().cloned().collect(),
        }
    }
}

fn remove<K: std::hash::Hash + Eq>(index: &mut HashMap<K, BTreeSet<Uid>>, key: &K, uid: &str) {
    if let Some(uids) = index.get_mut(key) {
        uids.remove(uid);
        if uids.is_empty() {
            index.remove(key);
        }
    }
}
