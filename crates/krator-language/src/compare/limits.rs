//! Changes of `limits`.

use std::collections::BTreeSet;

use super::ChangeKind;
use super::pair::{FoundChanges, Pair};
use crate::model::{Kind, Places};

/// The effect of an edit of `limits` on stored objects.
pub(super) fn changes(pair: &Pair<'_>, changes: &mut FoundChanges<'_>) {
    let (old, new) = (&pair.old.limits, &pair.new.limits);
    let named = |limits: &'_ [Places], name: &str| limits.iter().position(|limit| limit.name.value == name);
    for limit in new {
        let name = &limit.name.value;
        let Some(former) = named(old, name).map(|at| &old[at]) else {
            let message = format!(
                "the limit `{name}` allows {}; objects that are already in its states stay there",
                counted(pair.new, limit)
            );
            changes.added(ChangeKind::LimitsChanged, message, limit.span);
            continue;
        };
        let (before, now) = (counted(pair.old, former), counted(pair.new, limit));
        let renamed = |state| pair.lineage.successor(state);
        let states_before: BTreeSet<_> = former.states.iter().map(|state| renamed(state.value)).collect();
        let states_now: BTreeSet<_> = limit.states.iter().map(|state| Some(state.value)).collect();
        let per = |limit: &Places| limit.per.as_ref().map(|path| path.to_string());
        if (states_before, former.at_most.value, per(former)) != (states_now, limit.at_most.value, per(limit))
        {
            let mut message = format!("the limit `{name}` allows {now}; it allowed {before}");
            if limit.at_most.value < former.at_most.value {
                message += "; objects that are already in its states stay there";
            }
            changes.changed(ChangeKind::LimitsChanged, message, former.span, limit.span);
        }
    }
    for former in old
        .iter()
        .filter(|former| named(new, &former.name.value).is_none())
    {
        let message = format!(
            "the limit `{}` was removed: objects that wait for it continue at once; it allowed {}",
            former.name.value,
            counted(pair.old, former)
        );
        changes.changed(
            ChangeKind::LimitsChanged,
            message,
            former.span,
            pair.new.machine.span,
        );
    }
}

/// The maximum number of objects of a limit, in words.
fn counted(kind: &Kind, limit: &Places) -> String {
    let states = limit
        .states
        .iter()
        .map(|state| &kind.state(state.value).name.value);
    let states: Vec<String> = states.map(|name| format!("`{name}`")).collect();
    let per = limit
        .per
        .as_ref()
        .map(|path| format!(" for each value of `{}`", path.value));
    let at_most = limit.at_most.value;
    let objects = if at_most == 1 { "object" } else { "objects" };
    format!(
        "{at_most} {objects} in {}{}",
        states.join(", "),
        per.unwrap_or_default()
    )
}
