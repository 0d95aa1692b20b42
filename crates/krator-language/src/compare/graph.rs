//! Changes of the state graph, including removed states in which stored objects may be stuck.

use super::affected::Affected;
use super::pair::{FoundChanges, Pair};
use super::{Change, ChangeKind, SchemaPath, Stored, policies};
use crate::graph::{EdgeKind, StateGraph, Step};
use crate::model::{State, StateId};

/// The changes of a kind's machine, states first.
pub(super) fn of_kind(pair: &Pair<'_>) -> Vec<Change> {
    let mut changes = pair.changes();
    for (id, state) in pair.old.state_ids() {
        let name = &state.name.value;
        let is_resumed_by_another = pair.lineage.resumes(id) != pair.lineage.successor(id);
        match (pair.lineage.became(id), pair.lineage.successor(id)) {
            (None, None) => removed(pair, id, &mut changes),
            (Some(now), _) if pair.lineage.resumes(id).is_none() => forgotten(pair, id, now, &mut changes),
            (Some(now), _) if is_resumed_by_another => misread(pair, id, now, &mut changes),
            (Some(now), _) if pair.new.state(now).name.value == *name => {}
            (became, now) => {
                let Some(now) = now.map(|now| &pair.new.state(now).name) else {
                    continue;
                };
                let (what, message) = match became {
                    Some(_) => (
                        ChangeKind::StateRenamed,
                        format!("state `{name}` was renamed to `{}`", now.value),
                    ),
                    None => (
                        ChangeKind::StateMerged,
                        format!(
                            "state `{name}` was removed, and its objects continue in `{}`",
                            now.value
                        ),
                    ),
                };
                changes.changed(what, message, state.name.span, now.span);
            }
        }
    }
    for (id, state) in pair.new.state_ids() {
        if !pair.lineage.was_there(id) {
            let message = format!("state `{}` is new", state.name.value);
            changes.added(ChangeKind::StateAdded, message, state.name.span);
        }
    }
    machine(pair, &mut changes);
    for (old, new) in pair.lineage.states() {
        policies::of_state(pair, old, new, &mut changes);
    }
    edges(pair, &mut changes);
    changes.found
}

/// The path of the state in an object's status.
fn state_path() -> SchemaPath {
    SchemaPath::root("status").field("state")
}

/// A renamed state without its last name in `renamedFrom`.
fn forgotten(pair: &Pair<'_>, id: StateId, now: StateId, changes: &mut FoundChanges<'_>) {
    let (state, now) = (&pair.old.state(id).name, &pair.new.state(now).name);
    let message = format!(
        "state `{0}` was renamed to `{1}`, but stored objects in `{0}` do not continue in `{1}`",
        state.value, now.value
    );
    let change = changes.changed(ChangeKind::StateRemoved, message, state.span, now.span);
    change.path = Some(state_path());
    change.stored = Stored::Stranded;
    change.affected = Affected::InState(state.to_string());
    change.help = Some(format!(
        "add `{}` to its `renamedFrom`, which may be a list",
        state.value
    ));
}

/// A renamed state whose former name now belongs to another state: stored objects continue in that other state.
fn misread(pair: &Pair<'_>, id: StateId, now: StateId, changes: &mut FoundChanges<'_>) {
    let (state, now) = (&pair.old.state(id).name, pair.new.state(now));
    let claim = now.renamed_from.iter().find(|former| former.value == state.value);
    let message = format!(
        "state `{0}` was renamed to `{1}`, but stored objects in `{0}` continue in the new `{0}`",
        state.value, now.name.value
    );
    let place = claim.map_or(now.name.span, |claim| claim.span);
    let change = changes.changed(ChangeKind::StateNameReused, message, state.span, place);
    change.path = Some(state_path());
    change.stored = Stored::Misread;
    change.affected = Affected::InState(state.to_string());
    change.help = Some("rename in two releases, so that no name refers to two states".to_owned());
}

fn removed(pair: &Pair<'_>, id: StateId, changes: &mut FoundChanges<'_>) {
    let state = pair.old.state(id);
    let name = &state.name.value;
    // The finding points to the nearest previous state that still exists, or otherwise to the first state.
    let before = pair.lineage.states().take_while(|(then, _)| *then < id).last();
    let place = before.map_or(StateId(0), |(_, now)| now);
    let change = changes.gone(
        ChangeKind::StateRemoved,
        format!("state `{name}` was removed, and objects may be in it"),
        state.name.span,
        pair.new.state(place).name.span,
    );
    change.path = Some(state_path());
    change.affected = Affected::InState(name.to_string());
    // A legacy state has no incoming edges and objects have been leaving it, so it may be removed.
    if state.legacy.is_some() {
        change.what = ChangeKind::LegacyStateRemoved;
        change.message = format!("state `{name}`, which was `legacy`, was removed");
        change.help =
            Some("objects that are still in it stay there, because no handler runs for them".to_owned());
        return;
    }
    if let Some(taker) = pair.lineage.resumes(id) {
        let former = pair.lineage.states().find(|(_, now)| *now == taker);
        let former = former.map_or(name, |(then, _)| &pair.old.state(then).name.value);
        change.message = format!("state `{name}` was removed, and state `{former}` was renamed to `{name}`");
        change.stored = Stored::Misread;
        change.help = Some(format!(
            "if the new `{name}` means the same as the old `{name}`, keep `{former}` with `legacy: true` and `next: \
             [{name}]`; otherwise remove `{name}` in one release and rename `{former}` in the next"
        ));
        change.new = pair.new.state(taker).name.span;
        change.is_gone = false;
        return;
    }
    let new: Vec<&State> = pair
        .new
        .state_ids()
        .filter(|(id, _)| !pair.lineage.was_there(*id))
        .map(|(_, state)| state)
        .collect();
    change.stored = Stored::Stranded;
    change.may_be_renamed = !new.is_empty();
    change.help = Some(match new[..] {
        [state] => format!(
            "if it is now called `{}`, add `renamedFrom: {name}` there; otherwise keep it with `legacy: true` and a way out",
            state.name.value
        ),
        _ => format!(
            "add `renamedFrom: {name}` to the state that replaces it, or keep it with `legacy: true` and a way out"
        ),
    });
}

fn machine(pair: &Pair<'_>, changes: &mut FoundChanges<'_>) {
    super::limits::changes(pair, changes);
    let (old, new) = (&pair.old.machine, &pair.new.machine);
    let name = |id: StateId| &pair.new.state(id).name.value;
    let (before, now) = (&old.initial, &new.initial);
    if pair.lineage.successor(before.value) != Some(now.value) {
        let message = format!("new objects begin in `{}`", name(now.value));
        changes.changed(ChangeKind::InitialChanged, message, before.span, now.span);
    }
    let finalizer = format!(
        "{}/{}",
        pair.new.resource.group.value, pair.new.resource.plural.value
    );
    match (&old.deletion, &new.deletion) {
        (Some(old), None) => {
            let message = format!(
                "deleted objects are removed at once: they lose the finalizer `{finalizer}`, and no handler cleans up"
            );
            changes.changed(ChangeKind::DeletionRemoved, message, old.span, new.span);
        }
        (None, Some(now)) => {
            let message = format!(
                "deleted objects pass through `{}`: stored objects get the finalizer `{finalizer}`",
                name(now.value)
            );
            changes.changed(ChangeKind::DeletionAdded, message, old.span, now.span);
        }
        (Some(old), Some(new)) if pair.lineage.successor(old.value) != Some(new.value) => {
            let message = format!("deleted objects go to `{}`", name(new.value));
            changes.changed(ChangeKind::DeletionChanged, message, old.span, new.span);
        }
        _ => {}
    }
}

/// Changes of the edges between states that both graphs have. The edges of added and removed states are not reported
/// separately.
fn edges(pair: &Pair<'_>, changes: &mut FoundChanges<'_>) {
    let (old_graph, new_graph) = (StateGraph::of(pair.old), StateGraph::of(pair.new));
    for (old, new) in pair.lineage.states() {
        // If states distinguish fields of the spec, changes of the reactions are reported by field.
        let by_field =
            policies::tells_apart(pair.old.state(old)) || policies::tells_apart(pair.new.state(new));
        let is_compared = |step: &Step| {
            step.edge.kind != EdgeKind::Deletion && !(by_field && step.edge.kind == EdgeKind::SpecChange)
        };
        let before: Vec<Step> = old_graph.leaving(old).filter(is_compared).collect();
        let now: Vec<Step> = new_graph.leaving(new).filter(is_compared).collect();
        let is_same = |old: &Step, new: &Step| {
            old.edge.kind == new.edge.kind && pair.lineage.successor(old.to) == Some(new.to)
        };
        let from = &pair.new.state(new).name;
        let gone = before
            .iter()
            .filter(|old| !now.iter().any(|new| is_same(old, new)));
        let gone: Vec<&Step> = gone.collect();
        let added = now
            .iter()
            .filter(|new| !before.iter().any(|old| is_same(old, new)));
        let added: Vec<&Step> = added.collect();
        let is_single = |kind: EdgeKind| kind != EdgeKind::Next;
        for step in &gone {
            let kind = step.edge.kind;
            // A state has at most one edge of this kind, and its target has changed: that is reported below.
            if is_single(kind) && added.iter().any(|new| new.edge.kind == kind) {
                continue;
            }
            let to = &pair.old.state(step.to).name.value;
            let message = format!("edge `{}` → `{to}` ({}) removed", from.value, cause(kind));
            changes.gone(ChangeKind::EdgeRemoved, message, step.edge.span, from.span);
        }
        for step in &added {
            let kind = step.edge.kind;
            let to = &pair.new.state(step.to).name.value;
            let former = gone.iter().find(|old| old.edge.kind == kind && is_single(kind));
            if let Some(former) = former {
                let message = format!(
                    "edge `{}` → `{}` ({}) now leads to `{to}`",
                    from.value,
                    pair.old.state(former.to).name.value,
                    cause(kind)
                );
                let (old, new) = (former.edge.span, step.edge.span);
                changes.changed(ChangeKind::EdgeRetargeted, message, old, new);
            } else {
                let message = format!("edge `{}` → `{to}` ({}) added", from.value, cause(kind));
                changes.added(ChangeKind::EdgeAdded, message, step.edge.span);
            }
        }
    }
}

/// The event that makes an object take an edge.
fn cause(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Next => "handler",
        EdgeKind::Timeout => "timeout",
        EdgeKind::Retry => "too many failures",
        EdgeKind::Limit => "too many entries",
        EdgeKind::Deletion | EdgeKind::OnDelete => "deletion",
        EdgeKind::SpecChange => "change of the spec",
        EdgeKind::Resume => "restart",
    }
}
