//! Which of our objects a change of another one concerns: looked up, not searched for.
use super::links::{Concerns, Link, ObservedChange};
use crate::machine::{Machine, ManifestOf, Object as _};
use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

/// `metadata.uid` of an object that the operator looks after.
pub(super) type Uid = Arc<str>;
/// A kind of `watches` by its place there, and an object of it.
type Name = (usize, String, String);

/// The objects that are known, by what others know of them.
#[derive(Default)]
pub(super) struct WatchIndex {
    /// Objects of ours by their names, for labels that have these as values.
    by_name: HashMap<String, BTreeSet<Uid>>,
    /// Objects of ours by what they name.
    by_named: HashMap<Name, BTreeSet<Uid>>,
    /// What each of them names, to be forgotten with it.
    names: HashMap<Uid, (String, Vec<Name>)>,
}

impl WatchIndex {
    /// An object is as it is now.
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

    /// An object is gone.
    pub fn forget(&mut self, uid: &str) {
        let Some((own, named)) = self.names.remove(uid) else {
            return;
        };
        for name in named {
            remove(&mut self.by_named, &name, uid);
        }
        remove(&mut self.by_name, &own, uid);
    }

    /// Whom a change concerns.
    pub fn of<M: Machine>(&self, at: usize, link: &Link<M>, sight: &ObservedChange) -> Vec<Uid> {
        match &link.concerns {
            Concerns::Owner => sight.controller.iter().map(|uid| uid.as_str().into()).collect(),
            Concerns::Named(..) => {
                // One without a namespace is found whatever namespace it was looked for in.
                let here = (at, sight.namespace.clone(), sight.name.clone());
                let of = |(_, uids): (_, &BTreeSet<Uid>)| uids.iter().cloned().collect::<Vec<_>>();
                if sight.namespace.is_empty() {
                    let by_name = self
                        .by_named
                        .iter()
                        .filter(|((a, _, name), _)| *a == at && *name == sight.name);
                    by_name.flat_map(of).collect()
                } else {
                    self.by_named.get_key_value(&here).map(of).unwrap_or_default()
                }
            }
            Concerns::Label(key) => {
                let value = sight
                    .labels
                    .iter()
                    .find(|(k, _)| k == key)
                    .map(|(_, value)| value);
                let uids = value.and_then(|value| self.by_name.get(value));
                uids.into_iter().flatten().cloned().collect()
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
