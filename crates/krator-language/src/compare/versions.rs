//! Changes of the versions of a kind: of the list of versions, of the storage version, and of the schema of each
//! version.
//!
//! An API server reads a stored object with the schema of the version that it is stored in, and converts it from there.
//! The consequences of an edit for the objects and the clients of a version are therefore the changes in the schema of
//! that version, whether it is still the newest or derived by `changes`. Every version of the former description may
//! have stored objects.

use super::affected::Affected;
use super::pair::Pair;
use super::proposal::Proposal;
use super::resource;
use super::{Change, ChangeKind, Stored, schema};
use crate::finding::Spanned;
use crate::model::{Kind, Version};
use crate::names::VersionName;

/// The changes of the versions of a kind, and those of each version that both descriptions have.
pub(super) fn of_kind(pair: &Pair<'_>) -> Vec<Change> {
    if pair.old.resource.definition() != pair.new.resource.definition() {
        // The new resource has its own objects, so only the newest versions are comparable.
        return of_version(pair, None);
    }
    let mut found = of_list(pair);
    let both = pair.old.version_names();
    let both: Vec<&VersionName> = both
        .map(|name| &name.value)
        .filter(|name| has(pair.new, name))
        .collect();
    for name in &both {
        let (old, new) = (in_version(pair.old, name), in_version(pair.new, name));
        let is_older = new.is_some();
        let pair = Pair {
            old: old.as_ref().unwrap_or(pair.old),
            new: new.as_ref().unwrap_or(pair.new),
            ..*pair
        };
        for mut change in of_version(&pair, is_older.then_some(*name)) {
            // An edit of the newest version also changes each older version that is derived from it.
            let same = found.iter_mut().find(|other| {
                change.versions.clone_from(&other.versions);
                **other == change
            });
            match same {
                Some(same) => same.versions.push((*name).clone()),
                None => found.push(Change {
                    versions: vec![(*name).clone()],
                    ..change
                }),
            }
        }
    }
    let has_several = [pair.old, pair.new].iter().any(|kind| !kind.versions.is_empty());
    for change in found.iter_mut().filter(|change| !change.versions.is_empty()) {
        if has_several {
            let names: Vec<String> = change.versions.iter().map(|name| format!("`{name}`")).collect();
            change.message = format!("in {}, {}", names.join(" and "), change.message);
        } else {
            change.versions.clear();
        }
    }
    found
}

/// The changes of a version, which may be an older one in the new description.
fn of_version(pair: &Pair<'_>, older: Option<&VersionName>) -> Vec<Change> {
    let mut changes = resource::of_version(pair);
    let mut of_schema = schema::of_kind(pair);
    let mut removed = of_schema
        .iter_mut()
        .filter(|change| change.what == ChangeKind::FieldRemoved)
        .peekable();
    // The search for renamed fields walks through both schemas.
    let proposed = removed.peek().is_some().then(|| Proposal::between(pair));
    for change in removed {
        let path = change.path.as_ref().map(ToString::to_string);
        let renamed = path.and_then(|path| {
            let to = proposed.as_ref()?.renamed(&path)?;
            Some((path, to))
        });
        if let Some((from, to)) = renamed {
            change.help = Some(match older {
                Some(name) => format!(
                    "if it is now called `{to}`, add `{{renamed: {from}, to: {to}}}` to the `changes` of `{name}`"
                ),
                None => format!(
                    "if it is now called `{to}`, its values are lost anyway: only a new `version` keeps them, with the \
                     former one in `versions` and `renamed` in its `changes`"
                ),
            });
        }
    }
    changes.extend(of_schema);
    changes
}

fn has(kind: &Kind, name: &VersionName) -> bool {
    kind.version_names().any(|version| version.value == *name)
}

fn older<'k>(kind: &'k Kind, name: &VersionName) -> Option<&'k Version> {
    kind.versions.iter().find(|version| version.name.value == *name)
}

/// The kind in an older version; `None` for the newest version.
fn in_version(kind: &Kind, name: &VersionName) -> Option<Kind> {
    older(kind, name).map(|version| kind.in_version(version))
}

/// Changes of the list of versions.
fn of_list(pair: &Pair<'_>) -> Vec<Change> {
    let (old, new) = (pair.old, pair.new);
    let mut changes = pair.changes();
    let newest = &new.resource.version;
    let is_newest_known = has(old, newest);
    for name in old.version_names().filter(|name| !has(new, name)) {
        let is_former_newest = name.value == old.resource.version.value && !is_newest_known;
        let (what, message, help) = if is_former_newest {
            (
                ChangeKind::VersionSkipped,
                format!(
                    "the version changed from `{name}` to `{newest}`, and `versions` lacks `{name}`",
                    name = name.value,
                    newest = newest.value
                ),
                format!(
                    "keep `{}` in `versions`, with the `changes` that lead to `{}`",
                    name.value, newest.value
                ),
            )
        } else if is_between(old, new, name) {
            (
                ChangeKind::VersionSkipped,
                format!("the version `{}` between two others was removed", name.value),
                "keep it: older versions are derived from it".to_owned(),
            )
        } else {
            (
                ChangeKind::StoredVersionRemoved,
                format!(
                    "the version `{}` was removed, and objects may be stored in it",
                    name.value
                ),
                format!(
                    "keep it, with `served: false` if clients must not use it, until `krator migrate` has rewritten \
                     all objects and `status.storedVersions` of the CRD does not contain it{}",
                    // The operator owns the `caBundle`, which an apply does not remove.
                    if old.converts() && !new.converts() {
                        "; then apply the CRD, which has no conversion, with `kubectl replace`"
                    } else {
                        ""
                    }
                ),
            )
        };
        let change = changes.changed(what, message, name.span, newest.span);
        change.stored = Stored::DefinitionRefused;
        change.affected = Affected::StoredIn(name.value.clone());
        change.clients = Some("requests for the version are not found");
        change.help = Some(help);
        if is_former_newest {
            change.proposal = Some(Proposal::between(pair));
        }
    }
    for name in new.version_names().filter(|name| !has(old, name)) {
        changes.added(
            ChangeKind::VersionAdded,
            format!("the version `{}` is new", name.value),
            name.span,
        );
    }
    for now in &new.versions {
        let name = &now.name;
        let Some(before) = old.version_names().find(|before| before.value == name.value) else {
            continue;
        };
        let former = older(old, name);
        match (former.is_none_or(|former| former.served), now.served) {
            (true, false) => {
                let message = format!("the version `{}` is no longer served", name.value);
                let change = changes.changed(ChangeKind::VersionUnserved, message, before.span, name.span);
                change.clients = Some("requests for the version are not found");
            }
            (false, true) => {
                let message = format!("the version `{}` is served again", name.value);
                changes.changed(ChangeKind::VersionServed, message, before.span, name.span);
            }
            _ => {}
        }
        if now.deprecated.is_some() && former.is_none_or(|former| former.deprecated.is_none()) {
            let message = format!("the version `{}` is deprecated", name.value);
            changes.changed(ChangeKind::VersionDeprecated, message, before.span, name.span);
        }
    }
    let (before, now) = (old.stored_version(), new.stored_version());
    if before != now && !(changes.found.iter()).any(|change| change.proposal.is_some()) {
        let span = place(new, now).span;
        if has(old, now) {
            let message = format!("the storage version changed from `{before}` to `{now}`");
            let change = changes.changed(ChangeKind::StorageMoved, message, place(old, before).span, span);
            change.help = Some("stored objects stay as they are until they are written again".to_owned());
        } else {
            let message = format!("the version `{now}` is new, and already the storage version");
            let change = changes.added(ChangeKind::StoredAtOnce, message, span);
            change.help = Some(match has(new, before) {
                true => format!(
                    "write `storage: true` in `{before}` for one release, so that the former operator can still read all objects"
                ),
                false => {
                    "for one release, keep a storage version that the former operator can read".to_owned()
                }
            });
        }
    }
    changes.found
}

/// The place of a version.
fn place<'k>(kind: &'k Kind, name: &VersionName) -> &'k Spanned<VersionName> {
    let mut names = kind.version_names();
    names
        .find(|version| version.value == *name)
        .unwrap_or(&kind.resource.version)
}

/// Whether the new description has versions both before and after a former one.
fn is_between(old: &Kind, new: &Kind, name: &Spanned<VersionName>) -> bool {
    let mut names = old.version_names();
    let is_newer_left = names
        .by_ref()
        .take_while(|version| *version != name)
        .any(|version| has(new, version));
    // A new version is newer than all former ones.
    let is_newer_left = is_newer_left || !has(old, &new.resource.version);
    is_newer_left
        && old
            .version_names()
            .skip_while(|version| *version != name)
            .skip(1)
            .any(|version| has(new, version))
}
