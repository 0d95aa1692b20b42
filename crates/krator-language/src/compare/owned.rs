//! Changes of the owned kinds, and of the deletion of their objects.

use super::pair::{FoundChanges, Pair};
use super::{Change, ChangeKind};
use crate::model::{ChildDeletion, Kind, Owned};

/// Changes of `owns`.
pub(super) fn of_kind(pair: &Pair<'_>) -> Vec<Change> {
    let mut changes = pair.changes();
    for old in &pair.old.owns {
        match find(pair.new, old) {
            None => removed(pair, old, &mut changes),
            Some(new) if old.deletion.value != new.deletion.value => deletion_changed(old, new, &mut changes),
            Some(_) => {}
        }
    }
    for new in &pair.new.owns {
        if find(pair.old, new).is_none() {
            let message = format!("`{}` is now owned", new.kind.value.reference());
            changes.added(ChangeKind::OwnedAdded, message, new.kind.span);
        }
    }
    changes.found
}

fn find<'k>(kind: &'k Kind, owned: &Owned) -> Option<&'k Owned> {
    let mut owns = kind.owns.iter();
    owns.find(|other| other.kind.value.is_same_kind(&owned.kind.value))
}

fn removed(pair: &Pair<'_>, old: &Owned, changes: &mut FoundChanges<'_>) {
    let message = format!("`{}` is no longer owned", old.kind.value.reference());
    let stay = match old.deletion.value {
        ChildDeletion::Owner => "existing objects of the kind stay until their owner is deleted",
        ChildDeletion::Last | ChildDeletion::Keep => {
            "existing objects of the kind stay, even when their owner is deleted"
        }
    };
    let place = pair.new.resource.kind.span;
    let change = changes.gone(ChangeKind::OwnedRemoved, message, old.kind.span, place);
    change.help = Some(format!("{stay}; the operator does not repair them"));
}

fn deletion_changed(old: &Owned, new: &Owned, changes: &mut FoundChanges<'_>) {
    let kind = new.kind.value.reference();
    let message = match new.deletion.value {
        ChildDeletion::Owner => format!("the garbage collector deletes `{kind}` with its owner"),
        ChildDeletion::Last => format!("`{kind}` is deleted when the deletion path of its owner has ended"),
        ChildDeletion::Keep => format!("`{kind}` is kept when its owner is deleted"),
    };
    let (before, now) = (old.deletion.value, new.deletion.value);
    let help = match (before, now) {
        (ChildDeletion::Owner, _) => {
            "when the operator starts, it replaces the owner references of existing objects by a label; until then the \
             garbage collector deletes them with their owner"
        }
        (_, ChildDeletion::Owner) => {
            "when the operator starts, it replaces the label of existing objects by an owner reference"
        }
        _ => "this also applies to existing objects once the operator has started",
    };
    let (old, new) = (old.deletion.span, new.deletion.span);
    let change = changes.changed(ChangeKind::OwnedDeletionChanged, message, old, new);
    change.help = Some(help.to_owned());
}
