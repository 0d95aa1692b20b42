//! The effect of a write on the field sets of all managers, after `merge/update.go` of structured-merge-diff.

use super::conflicts::{Conflict, Failure};
use super::entries::{ManagerKey, Managers, VersionedSet};
use crate::field_set::FieldSet;
use crate::object::at;
use crate::typed::{Comparison, Duplicates, compare, field_set, merge, reconcile, remove, validate};
use crate::types::Type;
use crate::values;
use serde_json::Value as Json;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Updates sets of managers. Both objects have the same version; the sets of managers may have others.
pub(super) struct Updater<'a> {
    pub(super) type_: &'a Type,
    pub(super) api_version: &'a str,
    /// The fields of the version of the object that are never owned.
    pub(super) ignored: &'a FieldSet,
    /// Whether these fields are not owned in the other versions either.
    pub(super) ignores_everywhere: bool,
}

impl Updater<'_> {
    /// The managers after a new object has replaced the live one. The changed fields are removed from the sets of other
    /// managers.
    ///
    /// # Errors
    /// If an object cannot be converted to the version of a manager.
    pub(super) fn update(
        &self,
        live: &Json,
        new: &Json,
        managers: Managers,
        manager: &ManagerKey,
    ) -> Result<Managers, String> {
        let managers = self.reconcile(live, managers)?;
        let (mut managers, _, compared) = self.changed(live, new, managers, manager)?;
        let before = managers.remove(manager).map(|of| of.set).unwrap_or_default();
        let set = before
            .difference(&compared.removed)
            .union(compared.modified)
            .union(compared.added);
        let set = set.recursive_difference(self.ignored);
        if !set.is_empty() {
            managers.insert(manager.clone(), self.versioned(set, false));
        }
        Ok(managers)
    }

    /// The object after the apply of a configuration, and its managers. There is no object if nothing changes.
    ///
    /// # Errors
    /// The changed fields of other managers, unless the apply is forced, or the reason why an object cannot be
    /// converted to the version of a manager.
    pub(super) fn apply(
        &self,
        live: &Json,
        config: &Json,
        managers: Managers,
        manager: &ManagerKey,
        force: bool,
    ) -> Result<(Option<Json>, Managers), Failure> {
        let mut managers = self.reconcile(live, managers)?;
        let merged = merge(self.type_, live, config);
        let set = field_set(self.type_, config).recursive_difference(self.ignored);
        // If the last applied fields are applied again, nothing has to be pruned.
        let last = managers.remove(manager);
        let last = last.filter(|last| last.api_version != self.api_version || !last.set.is_subset(&set));
        managers.insert(manager.clone(), self.versioned(set, true));
        let pruned = self.prune(&merged, &managers, last.as_ref());
        let new = pruned.map_err(|why| format!("failed to prune fields: {why}"))?;
        let new = new.unwrap_or(merged);
        let (managers, conflicts, _) = self.changed(live, &new, managers, manager)?;
        if !force && !conflicts.is_empty() {
            return Err(Failure::Conflicts(conflicts));
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

    /// An object in a version, with its type there; none if the version is unknown.
    fn converted<'b>(
        &'b self,
        object: &'b Json,
        to: &str,
    ) -> Result<Option<(Cow<'b, Json>, &'b Type)>, String> {
        let from = at(object, &["apiVersion"]).as_str().unwrap_or(self.api_version);
        if from == to && to == self.api_version {
            return Ok(Some((Cow::Borrowed(object), self.type_)));
        }
        // A real server always converts through the version of the request.
        let mut object = Cow::Borrowed(object);
        if from != to && from != self.api_version {
            match self.type_.convert(&object, self.api_version)? {
                Some((hub, _)) => object = Cow::Owned(hub),
                None => return Ok(None),
            }
        }
        if to == self.api_version {
            validate(self.type_, &object, Duplicates::Refused)?;
            return Ok(Some((object, self.type_)));
        }
        let Some((object, type_)) = self.type_.convert(&object, to)? else {
            return Ok(None);
        };
        validate(type_, &object, Duplicates::Refused)?;
        Ok(Some((Cow::Owned(object), type_)))
    }

    /// Adapts the sets to fields that have become atomic since the sets were written, and drops the sets of unknown
    /// versions.
    fn reconcile(&self, live: &Json, managers: Managers) -> Result<Managers, String> {
        let mut known = Managers::new();
        for (key, of) in managers {
            if let Some((_, type_)) = self.converted(live, &of.api_version)? {
                let set = reconcile(type_, of.set);
                known.insert(key, VersionedSet { set, ..of });
            }
        }
        Ok(known)
    }

    /// The comparison of two objects in a version. None if the version is unknown.
    fn compared(&self, live: &Json, new: &Json, version: &str) -> Result<Option<Comparison>, String> {
        let Some((live, type_)) = self.converted(live, version)? else {
            return Ok(None);
        };
        let new = self.converted(new, version);
        let new = new.map_err(|why| format!("failed to convert new object: {why}"))?;
        let compared = new.map(|(new, _)| compare(type_, &live, &new));
        Ok(compared.map(|compared| match self.ignores_everywhere {
            true => compared.without(self.ignored),
            false => compared,
        }))
    }

    /// Removes the changed fields from the sets of other managers, and returns a conflict for each of them that was
    /// added or modified. Also returns the comparison in the version of the object.
    fn changed(
        &self,
        live: &Json,
        new: &Json,
        managers: Managers,
        manager: &ManagerKey,
    ) -> Result<(Managers, Vec<Conflict>, Comparison), String> {
        // The comparisons by version, each with the fields that the manager has written.
        let mut versions: BTreeMap<String, (Comparison, FieldSet)> = BTreeMap::new();
        let with_written = |compared: Comparison| {
            let written = compared.modified.clone().union(compared.added.clone());
            (compared, written)
        };
        let own = compare(self.type_, live, new).without(self.ignored);
        versions.insert(self.api_version.to_owned(), with_written(own));
        let mut out = Managers::new();
        let mut conflicts = Vec::new();
        for (key, mut of) in managers {
            if key != *manager {
                if !versions.contains_key(&of.api_version) {
                    let Some(compared) = self.compared(live, new, &of.api_version)? else {
                        continue;
                    };
                    versions.insert(of.api_version.clone(), with_written(compared));
                }
                let (compared, written) = &versions[&of.api_version];
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
        let own = versions.remove(self.api_version);
        Ok((
            out,
            conflicts,
            own.map(|(compared, _)| compared).unwrap_or_default(),
        ))
    }

    /// The object without the fields that the manager applied last time but not now, unless another manager owns them.
    /// None if it is unchanged.
    fn prune(
        &self,
        merged: &Json,
        managers: &Managers,
        last: Option<&VersionedSet>,
    ) -> Result<Option<Json>, String> {
        let Some(last) = last.filter(|last| !last.set.is_empty()) else {
            return Ok(None);
        };
        let Some((whole, type_)) = self.converted(merged, &last.api_version)? else {
            return Ok(None);
        };
        let named = |type_: &Type, set: &FieldSet| set.with_named_fields(type_.arena(), type_.root());
        let fields = |type_: &Type, object: &Json| named(type_, &field_set(type_, object));
        let mut pruned = remove(type_, &whole, &named(type_, &last.set));
        let mut current = Cow::Borrowed(&*whole);
        for (version, owned) in owned_by_version(managers, &last.api_version) {
            let Some((now, type_)) = self.converted(&current, version)? else {
                continue;
            };
            let Some((left, _)) = self.converted(&pruned, version)? else {
                continue;
            };
            let kept = fields(type_, &left).union(named(type_, &owned));
            pruned = remove(type_, &now, &fields(type_, &now).difference(&kept));
            current = Cow::Owned(now.into_owned());
        }
        // Fields of other managers stay, even below a field that this manager owned.
        let Some((left, _)) = self.converted(&pruned, &last.api_version)? else {
            return Ok(None);
        };
        let gone = fields(type_, &whole).difference(&fields(type_, &left));
        let pruned = remove(type_, &whole, &gone.intersection(&named(type_, &last.set)));
        let pruned = self.converted(&pruned, self.api_version)?;
        Ok(pruned.map(|(pruned, _)| pruned.into_owned()))
    }
}

/// The owned fields by version, with the version `first` at the start.
fn owned_by_version<'a>(managers: &'a Managers, first: &str) -> Vec<(&'a str, FieldSet)> {
    let mut owned: BTreeMap<&str, FieldSet> = BTreeMap::new();
    for of in managers.values() {
        owned.entry(&of.api_version).or_default().add(of.set.clone());
    }
    let mut owned: Vec<(&str, FieldSet)> = owned.into_iter().collect();
    owned.sort_by_key(|(version, _)| *version != first);
    owned
}
