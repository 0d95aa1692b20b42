//! The effect of a write on the sets of all managers, after `merge/update.go` of structured-merge-diff.

use super::conflicts::Conflict;
use super::entries::{ManagerKey, Managers, VersionedSet};
use crate::field_set::FieldSet;
use crate::typed::{Comparison, compare, field_set, merge, reconcile, remove};
use crate::types::Type;
use crate::values;
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// Updates sets of managers. Objects are of one version; managers may have written in others.
pub(super) struct Updater<'a> {
    pub(super) type_: &'a Type,
    pub(super) api_version: &'a str,
    /// The fields of the version of the object that nobody owns.
    pub(super) ignored: &'a FieldSet,
}

impl Updater<'_> {
    /// The managers after a new object has replaced the live one. The sets of the others lose what has changed.
    pub(super) fn update(
        &self,
        live: &Json,
        new: &Json,
        managers: Managers,
        manager: &ManagerKey,
    ) -> Managers {
        let managers = self.reconcile(managers);
        let (mut managers, _, compared) = self.changed(live, new, managers, manager);
        let before = managers.remove(manager).map(|of| of.set).unwrap_or_default();
        let set = before
            .difference(&compared.removed)
            .union(compared.modified)
            .union(compared.added);
        let set = set.recursive_difference(self.ignored);
        if !set.is_empty() {
            managers.insert(manager.clone(), self.versioned(set, false));
        }
        managers
    }

    /// The object after a configuration was applied to it, and its managers. There is no object if nothing changes.
    ///
    /// # Errors
    /// The fields of other managers that change, if that is not forced.
    pub(super) fn apply(
        &self,
        live: &Json,
        config: &Json,
        managers: Managers,
        manager: &ManagerKey,
        force: bool,
    ) -> Result<(Option<Json>, Managers), Vec<Conflict>> {
        let mut managers = self.reconcile(managers);
        let merged = merge(self.type_, live, config);
        let set = field_set(self.type_, config).recursive_difference(self.ignored);
        // Fields that are applied again are known already.
        let last = managers.remove(manager);
        let last = last.filter(|last| last.api_version != self.api_version || !last.set.is_subset(&set));
        managers.insert(manager.clone(), self.versioned(set, true));
        let new = self.prune(merged, &managers, last.as_ref());
        let (managers, conflicts, _) = self.changed(live, &new, managers, manager);
        if !force && !conflicts.is_empty() {
            return Err(conflicts);
        }
        Ok(((!values::equal(live, &new)).then_some(new), managers))
    }

    fn versioned(&self, set: FieldSet, applied: bool) -> VersionedSet {
        VersionedSet {
            set,
            api_version: self.api_version.to_owned(),
            applied,
        }
    }

    /// The type of the object in a version; none if the version is no longer known.
    fn type_in(&self, api_version: &str) -> Option<&Type> {
        if api_version == self.api_version {
            return Some(self.type_);
        }
        self.type_.version(api_version)
    }

    /// Adapts the sets to what has become atomic since they were written, and drops those of unknown versions.
    fn reconcile(&self, managers: Managers) -> Managers {
        let known = managers.into_iter().filter_map(|(key, of)| {
            let set = reconcile(self.type_in(&of.api_version)?, of.set);
            Some((key, VersionedSet { set, ..of }))
        });
        known.collect()
    }

    /// Takes from the other managers what the manager has changed. What it has changed that was not its own is in
    /// conflict with them. Also returns the comparison in the version of the object.
    fn changed(
        &self,
        live: &Json,
        new: &Json,
        managers: Managers,
        manager: &ManagerKey,
    ) -> (Managers, Vec<Conflict>, Comparison) {
        // The comparisons by version, each with what the manager has written.
        let mut versions: BTreeMap<String, (Comparison, FieldSet)> = BTreeMap::new();
        let with_written = |compared: Comparison| {
            let written = compared.modified.clone().union(compared.added.clone());
            (compared, written)
        };
        let compared_now = || compare(self.type_, live, new).without(self.ignored);
        let mut out = Managers::new();
        let mut conflicts = Vec::new();
        for (key, mut of) in managers {
            if key != *manager {
                let (compared, written) = versions.entry(of.api_version.clone()).or_insert_with(|| {
                    with_written(match self.type_.version(&of.api_version) {
                        Some(type_) if of.api_version != self.api_version => compare(type_, live, new),
                        _ => compared_now(),
                    })
                });
                let taken = of.set.intersection(written);
                if !taken.is_empty() {
                    conflicts.extend(taken.paths().into_iter().map(|path| Conflict {
                        manager: key.clone(),
                        path,
                    }));
                    of.set = of.set.difference(&taken);
                }
                if !compared.removed.is_empty() {
                    of.set = of.set.difference(&compared.removed);
                }
            }
            if !of.set.is_empty() {
                out.insert(key, of);
            }
        }
        let compared = versions.remove(self.api_version);
        let compared = compared.map_or_else(compared_now, |(compared, _)| compared);
        (out, conflicts, compared)
    }

    /// Removes what the manager has applied last time and does not apply any more, unless somebody else owns it.
    fn prune(&self, merged: Json, managers: &Managers, last: Option<&VersionedSet>) -> Json {
        let Some(last) = last.filter(|last| !last.set.is_empty()) else {
            return merged;
        };
        let Some(type_) = self.type_in(&last.api_version) else {
            return merged;
        };
        let named = |type_: &Type, set: &FieldSet| set.with_named_fields(type_.arena(), type_.root());
        let mut pruned = remove(type_, &merged, &named(type_, &last.set));
        for (version, owned) in owned_by_version(managers, &last.api_version) {
            let Some(type_) = self.type_in(version) else {
                continue;
            };
            let kept = named(type_, &field_set(type_, &pruned)).union(named(type_, &owned));
            pruned = remove(
                type_,
                &merged,
                &named(type_, &field_set(type_, &merged)).difference(&kept),
            );
        }
        // Fields of other managers stay, even within a field that this manager owned.
        let gone =
            named(type_, &field_set(type_, &merged)).difference(&named(type_, &field_set(type_, &pruned)));
        remove(type_, &merged, &gone.intersection(&named(type_, &last.set)))
    }
}

/// All that is owned, by version; the fields of the `first` version first.
fn owned_by_version<'a>(managers: &'a Managers, first: &str) -> Vec<(&'a str, FieldSet)> {
    let mut owned: BTreeMap<&str, FieldSet> = BTreeMap::new();
    for of in managers.values() {
        owned.entry(&of.api_version).or_default().add(of.set.clone());
    }
    let mut owned: Vec<(&str, FieldSet)> = owned.into_iter().collect();
    owned.sort_by_key(|(version, _)| *version != first);
    owned
}
