//! Changes of the owned kinds, and of what becomes of their objects.

use super::resource::{Pair, plain};
use super::{Change, ChangeKind};
use crate::model::{ChildDeletion, Kind, Owned};

/// Changes of `owns`.
pub(super) fn of_owned(pair: &Pair<'_>, changes: &mut Vec<Change>) {
    for old in &pair.old.owns {
        let Some(new) = find(pair.new, old) else {
            changes.push(removed(pair, old));
            continue;
        };
        if old.deletion.value != new.deletion.value {
            changes.push(deletion_changed(pair, old, new));
        }
    }
    for new in &pair.new.owns {
        if find(pair.old, new).is_none() {
            let message = format!("`{}` is owned now", new.kind.value.reference());
            changes.push(plain(
                ChangeKind::OwnedAdded,
                Some(pair.new),
                message,
                new.kind.span,
            ));
        }
    }
}

fn find<'k>(kind: &'k Kind, owned: &Owned) -> Option<&'k Owned> {
    let mut owns = kind.owns.iter();
    owns.find(|other| other.kind.value.is_same_kind(&owned.kind.value))
}

fn removed(pair: &Pair<'_>, old: &Owned) -> Change {
    let message = format!("`{}` is not owned any more", old.kind.value.reference());
    let stay = match old.deletion.value {
        ChildDeletion::Owner => "objects of the kind that are there stay until their owner is deleted",
        ChildDeletion::Last | ChildDeletion::Keep => {
            "objects of the kind that are there stay, also when their owner is deleted"
        }
    };
    Change {
        old: Some(old.kind.span),
        is_gone: true,
        help: Some(format!("{stay}; nothing repairs them")),
        ..plain(
            ChangeKind::OwnedRemoved,
            Some(pair.new),
            message,
            pair.new.resource.kind.span,
        )
    }
}

fn deletion_changed(pair: &Pair<'_>, old: &Owned, new: &Owned) -> Change {
    let kind = new.kind.value.reference();
    let message = match new.deletion.value {
        ChildDeletion::Owner => format!("the garbage collector deletes `{kind}` with its owner"),
        ChildDeletion::Last => format!("`{kind}` is deleted when the deletion path of its owner has ended"),
        ChildDeletion::Keep => format!("`{kind}` is kept when its owner is deleted"),
    };
    let (before, now) = (old.deletion.value, new.deletion.value);
    let help = match (before, now) {
        (ChildDeletion::Owner, _) => {
            "when the operator starts, a label takes the place of the owner reference of those that are there; until then the \
             garbage collector deletes them"
        }
        (_, ChildDeletion::Owner) => {
            "when the operator starts, an owner reference takes the place of the label of those that are there"
        }
        _ => "it also holds for those that are there, from the start of the operator on",
    };
    Change {
        old: Some(old.deletion.span),
        help: Some(help.to_owned()),
        ..plain(
            ChangeKind::OwnedDeletionChanged,
            Some(pair.new),
            message,
            new.deletion.span,
        )
    }
}
