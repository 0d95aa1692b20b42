//! What changes in the state graph, and whether stored objects are stranded in a state that is gone.

use std::collections::{BTreeMap, BTreeSet};

use super::judge::Judge;
use super::resource::{Pair, plain, state_path};
use super::{Change, Stored};
use crate::finding::Span;
use crate::graph::{EdgeKind, StateGraph};
use crate::model::{
    Effects, OnSpecChange, Period, Retry, RetryLimit, State, StateId, Times, format_duration,
};

/// The change that has a rule of its own.
pub(super) const STATE_REMOVED: &str = "state-removed";

/// The changes of a kind's machine, states first.
pub(super) fn of_kind(pair: &Pair<'_>) -> Vec<Change> {
    let heirs = heirs(pair);
    let mut changes = Vec::new();
    for (id, state) in pair.old.state_ids() {
        match heirs.get(&id) {
            None => changes.push(removed(pair, &heirs, id)),
            Some(heir) => {
                let heir = pair.new.state(*heir);
                if heir.name.value != state.name.value {
                    let message = format!("state `{}` is called `{}` now", state.name.value, heir.name.value);
                    changes.push(Change {
                        old: Some(state.name.span),
                        ..plain("state-renamed", Some(pair.new), message, heir.name.span)
                    });
                }
            }
        }
    }
    let inherited: BTreeSet<StateId> = heirs.values().copied().collect();
    for (id, state) in pair.new.state_ids() {
        if !inherited.contains(&id) {
            let message = format!("state `{}` is new", state.name.value);
            changes.push(plain("state-added", Some(pair.new), message, state.name.span));
        }
    }
    machine(pair, &heirs, &mut changes);
    for (old, new) in &heirs {
        policies(pair, *old, *new, &mut changes);
    }
    edges(pair, &heirs, &mut changes);
    changes
}

/// Where objects of each old state go on: in the state of the same name, or in the one that names it as a former name.
fn heirs(pair: &Pair<'_>) -> BTreeMap<StateId, StateId> {
    let mut heirs: BTreeMap<&str, StateId> = BTreeMap::new();
    for (id, state) in pair.new.state_ids() {
        for former in &state.renamed_from {
            heirs.entry(former.as_str()).or_insert(id);
        }
    }
    // A name that is still there is no former one.
    heirs.extend(pair.new.state_ids().map(|(id, state)| (state.name.as_str(), id)));
    let states = pair.old.state_ids();
    states
        .filter_map(|(id, state)| Some((id, *heirs.get(state.name.as_str())?)))
        .collect()
}

fn removed(pair: &Pair<'_>, heirs: &BTreeMap<StateId, StateId>, id: StateId) -> Change {
    let state = pair.old.state(id);
    let name = &state.name.value;
    // It stood behind a state that is still there, or else before all of them.
    let before = heirs.range(..id).next_back();
    let place = before.map_or(StateId(0), |(_, heir)| *heir);
    let gone = Change {
        path: Some(state_path()),
        old: Some(state.name.span),
        is_gone: true,
        judge: Judge::InState(name.to_string()),
        ..plain(
            STATE_REMOVED,
            Some(pair.new),
            format!("state `{name}` is gone, and objects may be in it"),
            pair.new.state(place).name.span,
        )
    };
    // Nothing has entered it since the former description, and what was in it has been leaving: it may go at last.
    if state.legacy.is_some() {
        return Change {
            what: "legacy-state-removed",
            message: format!("state `{name}`, which nothing entered any more, is gone"),
            help: Some(
                "objects that have not left it stay as they are, and nothing moves them any more".to_owned(),
            ),
            ..gone
        };
    }
    Change {
        stored: Stored::Stranded,
        help: Some(format!(
            "say `renamedFrom: [{name}]` in the state that takes its place, or keep it with `legacy: true` and a way out"
        )),
        ..gone
    }
}

fn machine(pair: &Pair<'_>, heirs: &BTreeMap<StateId, StateId>, changes: &mut Vec<Change>) {
    let (old, new) = (&pair.old.machine, &pair.new.machine);
    let name = |id: StateId| pair.new.state(id).name.value.to_string();
    let mut note = |what, message: String, old: Span, new: Span| {
        changes.push(Change {
            old: Some(old),
            ..plain(what, Some(pair.new), message, new)
        });
    };
    if heirs.get(&old.initial.value) != Some(&new.initial.value) {
        let message = format!("new objects begin in `{}`", name(new.initial.value));
        note("initial-changed", message, old.initial.span, new.initial.span);
    }
    let finalizer = format!(
        "{}/{}",
        pair.new.resource.group.value, pair.new.resource.plural.value
    );
    match (&old.deletion, &new.deletion) {
        (Some(old), None) => note(
            "deletion-removed",
            format!(
                "deleted objects go at once: the finalizer `{finalizer}` is taken off, nothing cleans up"
            ),
            old.span,
            pair.new.machine.span,
        ),
        (None, Some(new)) => note(
            "deletion-added",
            format!(
                "deleted objects go by `{}`: stored ones get the finalizer `{finalizer}`",
                name(new.value)
            ),
            pair.old.machine.span,
            new.span,
        ),
        (Some(old), Some(new)) if heirs.get(&old.value) != Some(&new.value) => {
            note(
                "deletion-changed",
                format!("deleted objects go to `{}`", name(new.value)),
                old.span,
                new.span,
            );
        }
        _ => {}
    }
}

/// What a state itself says, one line each.
fn policies(pair: &Pair<'_>, old: StateId, new: StateId, changes: &mut Vec<Change>) {
    let (old, new) = (pair.old.state(old), pair.new.state(new));
    // This names every field of a state, so that a new one does not compile until somebody has decided where it belongs.
    let State {
        // Compared here.
        kind: _,
        phase: _,
        wait: _,
        timeout: _,
        retry: _,
        on_spec_change: _,
        on_delete: _,
        effects: _,
        limit: _,
        checkpoint: _,
        legacy: _,
        // Compared as states and edges of the graph.
        name: _,
        next: _,
        resume: _,
        renamed_from: _,
        on_deletion_path: _,
        // They may change without consequences for stored objects.
        doc: _,
        message: _,
        conditions: _,
        standard_conditions: _,
        group: _,
        allow: _,
        lacks_edges: _,
    } = new;
    let name = &new.name.value;
    let mut note = |what, message: String, place: Span| {
        changes.push(Change {
            old: Some(old.name.span),
            ..plain(what, Some(pair.new), format!("state `{name}` {message}"), place)
        });
    };
    if old.kind.value != new.kind.value {
        let message = format!(
            "was `{}` and is `{}`",
            old.kind.value.as_str(),
            new.kind.value.as_str()
        );
        note("state-kind-changed", message, new.kind.span);
    }
    // A phase that follows from the name changes with it, which has been said.
    let own = |state: &State| (state.phase.value != state.name.as_str()).then(|| state.phase.value.clone());
    if own(old) != own(new) {
        let message = format!("has the phase `{}`", crate::text::shown(&new.phase.value));
        note("phase-changed", message, new.phase.span);
    }
    if old.effects.value != new.effects.value {
        let message = match new.effects.value {
            Effects::Once => {
                "has its effects once: stored objects in it go to `resume` when the operator restarts"
            }
            Effects::Idempotent => "may run again after a crash",
        };
        note("effects-changed", message.to_owned(), new.effects.span);
    }
    if old.may_stay() != new.may_stay() {
        let message = if new.may_stay() {
            "may stay"
        } else {
            "may not stay any more"
        };
        note("wait-changed", message.to_owned(), new.name.span);
    }
    let poll = |state: &State| state.wait.as_ref()?.poll.clone();
    if poll(old).map(|poll| said(&poll)) != poll(new).map(|poll| said(&poll)) && new.may_stay() {
        let message = match poll(new) {
            Some(poll) => format!("runs again after {}", said(&poll)),
            None => "does not poll any more".to_owned(),
        };
        note(
            "wait-changed",
            message,
            poll(new).map_or(new.name.span, |poll| poll.span),
        );
    }
    if let (Some(before), Some(now)) = (&old.timeout, &new.timeout)
        && said(&before.after) != said(&now.after)
    {
        let message = format!(
            "times out after {} instead of {}",
            said(&now.after),
            said(&before.after)
        );
        note("timeout-changed", message, now.after.span);
    }
    if let (Some(before), Some(now)) = (&old.limit, &new.limit)
        && times(&before.times) != times(&now.times)
    {
        let message = format!("is entered at most {} times", times(&now.times));
        note("limit-changed", message, now.times.span);
    }
    if old.retry.as_ref().map(tries) != new.retry.as_ref().map(tries) {
        let message = match &new.retry {
            Some(retry) => format!("is tried {}", tries(retry)),
            None => "is not tried again".to_owned(),
        };
        note(
            "retry-changed",
            message,
            new.retry.as_ref().map_or(new.name.span, |retry| retry.limit.span),
        );
    }
    let ignores = |state: &State| state.on_spec_change.value == OnSpecChange::Ignore;
    if ignores(old) != ignores(new) {
        let message = if ignores(new) {
            "ignores changes of the spec"
        } else {
            "hears of changes of the spec"
        };
        note("spec-change-changed", message.to_owned(), new.on_spec_change.span);
    }
    if old.on_delete.waits != new.on_delete.waits {
        let message = match new.on_delete.waits {
            true => "runs to its end when the object is deleted",
            false => "is interrupted when the object is deleted",
        };
        note("on-delete-changed", message.to_owned(), new.on_delete.span);
    }
    if old.checkpoint.value != new.checkpoint.value {
        let message = match new.checkpoint.value {
            true => "is stored before its handler runs",
            false => "is not stored before its handler runs",
        };
        note("checkpoint-changed", message.to_owned(), new.checkpoint.span);
    }
    if old.legacy.is_none()
        && let Some(legacy) = new.legacy
    {
        note(
            "state-retired",
            "is entered no more; stored objects leave it".to_owned(),
            legacy,
        );
    }
}

fn said(period: &Period) -> String {
    match period {
        Period::Fixed(duration) => format_duration(*duration),
        Period::Field(field) => format!("`{}`", field.path),
    }
}

fn times(times: &Times) -> String {
    match times {
        Times::Number(number) => number.to_string(),
        Times::Field(path) => format!("`{path}`"),
    }
}

fn tries(retry: &Retry) -> String {
    let limit = match retry.limit.value {
        RetryLimit::Unlimited => "without limit".to_owned(),
        RetryLimit::Times(times) => format!("{times} times"),
    };
    format!(
        "{limit}, after {}, each time {} times as long, at most {}",
        format_duration(retry.initial.value),
        retry.factor.value,
        format_duration(retry.max.value)
    )
}

/// Edges between states that both graphs have; those of states that came or went go without saying.
fn edges(pair: &Pair<'_>, heirs: &BTreeMap<StateId, StateId>, changes: &mut Vec<Change>) {
    let (old_graph, new_graph) = (StateGraph::of(pair.old), StateGraph::of(pair.new));
    for (old, new) in heirs {
        let mut before: Vec<(EdgeKind, Option<StateId>, StateId, Span)> = Vec::new();
        for step in old_graph
            .leaving(*old)
            .filter(|step| step.edge.kind != EdgeKind::Deletion)
        {
            before.push((
                step.edge.kind,
                heirs.get(&step.to).copied(),
                step.to,
                step.edge.span,
            ));
        }
        let now: Vec<(EdgeKind, StateId, Span)> = new_graph
            .leaving(*new)
            .filter(|step| step.edge.kind != EdgeKind::Deletion)
            .map(|step| (step.edge.kind, step.to, step.edge.span))
            .collect();
        let from = &pair.new.state(*new).name;
        let gone: Vec<_> = before
            .iter()
            .filter(|(kind, heir, ..)| !now.iter().any(|(now, to, _)| now == kind && Some(*to) == *heir))
            .collect();
        let added: Vec<_> = now
            .iter()
            .filter(|(kind, to, _)| {
                !before
                    .iter()
                    .any(|(before, heir, ..)| before == kind && *heir == Some(*to))
            })
            .collect();
        let is_single = |kind: EdgeKind| kind != EdgeKind::Next;
        for (kind, _, to, span) in &gone {
            // An edge that there can be one of leads elsewhere, which the other half says.
            if is_single(*kind) && added.iter().any(|(now, ..)| now == kind) {
                continue;
            }
            let to = &pair.old.state(*to).name.value;
            let message = format!("no way from `{}` to `{to}` {}", from.value, takes(*kind));
            changes.push(Change {
                old: Some(*span),
                is_gone: true,
                ..plain("edge-removed", Some(pair.new), message, from.span)
            });
        }
        for (kind, to, span) in &added {
            let to = &pair.new.state(*to).name.value;
            let former = gone
                .iter()
                .find(|(before, ..)| before == kind && is_single(*kind));
            let (what, message) = match former {
                Some((_, _, former, _)) => (
                    "edge-retargeted",
                    format!(
                        "`{}` leads to `{to}` instead of `{}` {}",
                        from.value,
                        pair.old.state(*former).name.value,
                        takes(*kind)
                    ),
                ),
                None => (
                    "edge-added",
                    format!("a way from `{}` to `{to}` {}", from.value, takes(*kind)),
                ),
            };
            changes.push(Change {
                old: former.map(|(.., span)| *span),
                ..plain(what, Some(pair.new), message, *span)
            });
        }
    }
}

fn takes(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Next => "by choice of the handler",
        EdgeKind::Timeout => "by timeout",
        EdgeKind::Retry => "after too many failures",
        EdgeKind::Limit => "after too many entries",
        EdgeKind::Deletion | EdgeKind::OnDelete => "by deletion",
        EdgeKind::SpecChange => "when the spec changes",
        EdgeKind::Resume => "after a restart",
    }
}
