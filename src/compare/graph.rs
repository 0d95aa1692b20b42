//! Changes of the state graph, including removed states in which stored objects may be stuck.

use super::resource::{Pair, plain, state_path};
use super::value_test::ValueTest;
use super::{Change, ChangeKind, Stored};
use crate::finding::{Span, Spanned};
use crate::graph::{EdgeKind, StateGraph, Step};
use crate::model::{
    Effects, FieldPath, OnSpecChange, Period, Retry, RetryLimit, State, StateId, Times, format_duration,
};

/// The changes of a kind's machine, states first.
pub(super) fn of_kind(pair: &Pair<'_>) -> Vec<Change> {
    let mut changes = Vec::new();
    for (id, state) in pair.old.state_ids() {
        let name = &state.name.value;
        let is_resumed_by_another = pair.lineage.resumes(id) != pair.lineage.successor(id);
        match (pair.lineage.became(id), pair.lineage.successor(id)) {
            (None, None) => changes.push(removed(pair, id)),
            (Some(now), _) if is_resumed_by_another => changes.push(misread(pair, id, now)),
            (Some(now), _) if pair.new.state(now).name.value == *name => {}
            (became, now) => {
                let Some(now) = now.map(|now| &pair.new.state(now).name) else {
                    continue;
                };
                let (what, message) = match became {
                    Some(_) => (
                        ChangeKind::StateRenamed,
                        format!("state `{name}` is called `{}` now", now.value),
                    ),
                    None => (
                        ChangeKind::StateMerged,
                        format!("state `{name}` is gone, and its objects go on in `{}`", now.value),
                    ),
                };
                changes.push(Change {
                    old: Some(state.name.span),
                    ..plain(what, Some(pair.new), message, now.span)
                });
            }
        }
    }
    for (id, state) in pair.new.state_ids() {
        if !pair.lineage.was_there(id) {
            let message = format!("state `{}` is new", state.name.value);
            changes.push(plain(
                ChangeKind::StateAdded,
                Some(pair.new),
                message,
                state.name.span,
            ));
        }
    }
    machine(pair, &mut changes);
    for (old, new) in pair.lineage.states() {
        policies(pair, old, new, &mut changes);
    }
    edges(pair, &mut changes);
    changes
}

/// A renamed state whose former name now belongs to another state: stored objects continue in that other state.
fn misread(pair: &Pair<'_>, id: StateId, now: StateId) -> Change {
    let (state, now) = (pair.old.state(id), pair.new.state(now));
    let name = &state.name.value;
    let claim = now.renamed_from.iter().find(|former| former.value == *name);
    let message = format!(
        "state `{name}` is called `{}` now, but objects that are stored in `{name}` go on in the new `{name}`",
        now.name.value
    );
    Change {
        path: Some(state_path()),
        old: Some(state.name.span),
        stored: Stored::Misread,
        test: ValueTest::InState(name.to_string()),
        help: Some("rename in two releases, so that no name means two states at once".to_owned()),
        ..plain(
            ChangeKind::StateNameReused,
            Some(pair.new),
            message,
            claim.map_or(now.name.span, |claim| claim.span),
        )
    }
}

fn removed(pair: &Pair<'_>, id: StateId) -> Change {
    let state = pair.old.state(id);
    let name = &state.name.value;
    // The finding points to the state before it that still exists, or else to the first one.
    let before = pair.lineage.states().take_while(|(then, _)| *then < id).last();
    let place = before.map_or(StateId(0), |(_, now)| now);
    let gone = Change {
        path: Some(state_path()),
        old: Some(state.name.span),
        is_gone: true,
        test: ValueTest::InState(name.to_string()),
        ..plain(
            ChangeKind::StateRemoved,
            Some(pair.new),
            format!("state `{name}` is gone, and objects may be in it"),
            pair.new.state(place).name.span,
        )
    };
    // A legacy state has no incoming edges and objects have been leaving it, so it may be removed.
    if state.legacy.is_some() {
        return Change {
            what: ChangeKind::LegacyStateRemoved,
            message: format!("state `{name}`, which nothing entered any more, is gone"),
            help: Some(
                "objects that have not left it stay as they are, and nothing moves them any more".to_owned(),
            ),
            ..gone
        };
    }
    if let Some(taker) = pair.lineage.resumes(id) {
        let former = pair.lineage.states().find(|(_, now)| *now == taker);
        let former = former.map_or(name, |(then, _)| &pair.old.state(then).name.value);
        return Change {
            message: format!("state `{name}` is gone: the former `{former}` is called `{name}` now"),
            stored: Stored::Misread,
            help: Some(format!(
                "if `{name}` is still the former `{name}`, keep `{former}` with `legacy: true` and `next: [{name}]`; otherwise \
                 remove `{name}` in one release and rename `{former}` in the next"
            )),
            new: pair.new.state(taker).name.span,
            is_gone: false,
            ..gone
        };
    }
    let new = || {
        pair.new
            .state_ids()
            .filter(|(id, _)| !pair.lineage.was_there(*id))
    };
    let help = match (new().next(), new().nth(1)) {
        (Some((_, state)), None) => format!(
            "if it is called `{}` now, say `renamedFrom: {name}` there; otherwise keep it with `legacy: true` and a way out",
            state.name.value
        ),
        _ => format!(
            "say `renamedFrom: {name}` in the state that takes its place, or keep it with `legacy: true` and a way out"
        ),
    };
    Change {
        stored: Stored::Stranded,
        help: Some(help),
        may_be_renamed: new().next().is_some(),
        ..gone
    }
}

fn machine(pair: &Pair<'_>, changes: &mut Vec<Change>) {
    let (old, new) = (&pair.old.machine, &pair.new.machine);
    let name = |id: StateId| pair.new.state(id).name.value.to_string();
    let mut note = |what, message: String, old: Span, new: Span| {
        changes.push(Change {
            old: Some(old),
            ..plain(what, Some(pair.new), message, new)
        });
    };
    if pair.lineage.successor(old.initial.value) != Some(new.initial.value) {
        let message = format!("new objects begin in `{}`", name(new.initial.value));
        note(
            ChangeKind::InitialChanged,
            message,
            old.initial.span,
            new.initial.span,
        );
    }
    let finalizer = format!(
        "{}/{}",
        pair.new.resource.group.value, pair.new.resource.plural.value
    );
    match (&old.deletion, &new.deletion) {
        (Some(old), None) => note(
            ChangeKind::DeletionRemoved,
            format!(
                "deleted objects disappear at once: the finalizer `{finalizer}` is removed, and nothing cleans up"
            ),
            old.span,
            pair.new.machine.span,
        ),
        (None, Some(new)) => note(
            ChangeKind::DeletionAdded,
            format!(
                "deleted objects go by `{}`: stored ones get the finalizer `{finalizer}`",
                name(new.value)
            ),
            pair.old.machine.span,
            new.span,
        ),
        (Some(old), Some(new)) if pair.lineage.successor(old.value) != Some(new.value) => {
            note(
                ChangeKind::DeletionChanged,
                format!("deleted objects go to `{}`", name(new.value)),
                old.span,
                new.span,
            );
        }
        _ => {}
    }
}

/// Changes of the keys of a state.
fn policies(pair: &Pair<'_>, old: StateId, new: StateId, changes: &mut Vec<Change>) {
    let (old, new) = (pair.old.state(old), pair.new.state(new));
    // This names every field of a state, so that a new one does not compile until somebody has decided where it belongs.
    let State {
        // Compared below.
        kind: _,
        phase: _,
        wait: _,
        timeout: _,
        retry: _,
        on_spec_change: _,
        on_spec_change_of: _,
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
        // Changes of these have no consequences for stored objects.
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
        note(ChangeKind::StateKindChanged, message, new.kind.span);
    }
    // A phase that follows from the name changes with it; the rename is reported already.
    if old.own_phase() != new.own_phase() {
        let message = format!("has the phase `{}`", crate::text::shown(new.shown_phase()));
        let place = new.phase.as_ref().map_or(new.name.span, |phase| phase.span);
        note(ChangeKind::PhaseChanged, message, place);
    }
    if old.effects.value != new.effects.value {
        let message = match new.effects.value {
            Effects::Once => {
                "has its effects once: stored objects in it go to `resume` when the operator restarts"
            }
            Effects::Idempotent => "may run again after a crash",
        };
        note(ChangeKind::EffectsChanged, message.to_owned(), new.effects.span);
    }
    if old.may_stay() != new.may_stay() {
        let message = if new.may_stay() {
            "may stay"
        } else {
            "may not stay any more"
        };
        note(ChangeKind::WaitChanged, message.to_owned(), new.name.span);
    }
    let poll = |state: &State| state.wait.as_ref()?.poll.clone();
    if poll(old).map(|poll| said(&poll)) != poll(new).map(|poll| said(&poll)) && new.may_stay() {
        let message = match poll(new) {
            Some(poll) => format!("runs again after {}", said(&poll)),
            None => "does not poll any more".to_owned(),
        };
        note(
            ChangeKind::WaitChanged,
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
        note(ChangeKind::TimeoutChanged, message, now.after.span);
    }
    if let (Some(before), Some(now)) = (&old.limit, &new.limit)
        && times(&before.times) != times(&now.times)
    {
        let message = format!("is entered at most {} times", times(&now.times));
        note(ChangeKind::LimitChanged, message, now.times.span);
    }
    if old.retry.as_ref().map(tries) != new.retry.as_ref().map(tries) {
        let message = match &new.retry {
            Some(retry) => format!("is tried {}", tries(retry)),
            None => "is not tried again".to_owned(),
        };
        note(
            ChangeKind::RetryChanged,
            message,
            new.retry.as_ref().map_or(new.name.span, |retry| retry.limit.span),
        );
    }
    for (message, place) in spec_changes(pair, old, new) {
        note(ChangeKind::SpecChangeChanged, message, place);
    }
    if old.on_delete.waits != new.on_delete.waits {
        let message = match new.on_delete.waits {
            true => "runs to its end when the object is deleted",
            false => "is interrupted when the object is deleted",
        };
        note(
            ChangeKind::OnDeleteChanged,
            message.to_owned(),
            new.on_delete.span,
        );
    }
    if old.checkpoint.value != new.checkpoint.value {
        let message = match new.checkpoint.value {
            true => "is stored before its handler runs",
            false => "is not stored before its handler runs",
        };
        note(
            ChangeKind::CheckpointChanged,
            message.to_owned(),
            new.checkpoint.span,
        );
    }
    if old.legacy.is_none()
        && let Some(legacy) = new.legacy
    {
        note(
            ChangeKind::StateRetired,
            "is no longer entered; stored objects leave it".to_owned(),
            legacy,
        );
    }
}

/// What a change of the spec did and does now, by field where one of the two tells fields apart. Without that, edges tell
/// where it leads.
fn spec_changes(pair: &Pair<'_>, old: &State, new: &State) -> Vec<(String, Span)> {
    let ignores = |state: &State| state.on_spec_change.value == OnSpecChange::Ignore;
    let mut messages = Vec::new();
    if !tells_apart(old) && !tells_apart(new) {
        if ignores(old) != ignores(new) {
            let message = if ignores(new) { "ignores" } else { "reacts to" };
            messages.push((format!("{message} changes of the spec"), new.on_spec_change.span));
        }
        return messages;
    }
    let mut note = |what: &str, before: OnSpecChange, now: Spanned<OnSpecChange>| {
        let message = match now.value {
            OnSpecChange::Wake => format!("runs again when {what} changes"),
            OnSpecChange::Ignore => format!("ignores changes of {what}"),
            OnSpecChange::Enter(to) => {
                format!("leads to `{}` when {what} changes", pair.new.state(to).name.value)
            }
        };
        let before = match before {
            OnSpecChange::Enter(to) => pair.lineage.successor(to).map(OnSpecChange::Enter),
            other => Some(other),
        };
        if before != Some(now.value) {
            messages.push((message, now.span));
        }
    };
    let paths = |state: &State| -> Vec<FieldPath> {
        let of = state.on_spec_change_of.iter().flat_map(|change| &change.of);
        of.map(|path| path.value.clone()).collect()
    };
    let mut all = paths(new);
    all.extend(paths(old).into_iter().filter(|path| !paths(new).contains(path)));
    for path in all {
        note(
            &format!("`{path}`"),
            old.on_change_of(&path).value,
            new.on_change_of(&path),
        );
    }
    note("any other field", old.on_spec_change.value, new.on_spec_change);
    messages
}

fn tells_apart(state: &State) -> bool {
    !state.on_spec_change_of.is_empty()
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

/// Changes of the edges between states that both graphs have. The edges of added and removed states are not reported
/// separately.
fn edges(pair: &Pair<'_>, changes: &mut Vec<Change>) {
    let (old_graph, new_graph) = (StateGraph::of(pair.old), StateGraph::of(pair.new));
    for (old, new) in pair.lineage.states() {
        // Where fields of the spec are told apart, a change of what their changes do is told by field.
        let by_field = tells_apart(pair.old.state(old)) || tells_apart(pair.new.state(new));
        let is_told = |step: &Step| {
            step.edge.kind != EdgeKind::Deletion && !(by_field && step.edge.kind == EdgeKind::SpecChange)
        };
        let mut before: Vec<(EdgeKind, Option<StateId>, StateId, Span)> = Vec::new();
        for step in old_graph.leaving(old).filter(is_told) {
            before.push((
                step.edge.kind,
                pair.lineage.successor(step.to),
                step.to,
                step.edge.span,
            ));
        }
        let now: Vec<(EdgeKind, StateId, Span)> = new_graph
            .leaving(new)
            .filter(is_told)
            .map(|step| (step.edge.kind, step.to, step.edge.span))
            .collect();
        let from = &pair.new.state(new).name;
        let gone: Vec<_> = before
            .iter()
            .filter(|(kind, successor, ..)| {
                !now.iter()
                    .any(|(now, to, _)| now == kind && Some(*to) == *successor)
            })
            .collect();
        let added: Vec<_> = now
            .iter()
            .filter(|(kind, to, _)| {
                !before
                    .iter()
                    .any(|(before, successor, ..)| before == kind && *successor == Some(*to))
            })
            .collect();
        let is_single = |kind: EdgeKind| kind != EdgeKind::Next;
        for (kind, _, to, span) in &gone {
            // A state has one edge of this kind, which leads elsewhere now: that is reported as a new target below.
            if is_single(*kind) && added.iter().any(|(now, ..)| now == kind) {
                continue;
            }
            let to = &pair.old.state(*to).name.value;
            let message = format!("no way from `{}` to `{to}` {}", from.value, takes(*kind));
            changes.push(Change {
                old: Some(*span),
                is_gone: true,
                ..plain(ChangeKind::EdgeRemoved, Some(pair.new), message, from.span)
            });
        }
        for (kind, to, span) in &added {
            let to = &pair.new.state(*to).name.value;
            let former = gone
                .iter()
                .find(|(before, ..)| before == kind && is_single(*kind));
            let (what, message) = match former {
                Some((_, _, former, _)) => (
                    ChangeKind::EdgeRetargeted,
                    format!(
                        "`{}` leads to `{to}` instead of `{}` {}",
                        from.value,
                        pair.old.state(*former).name.value,
                        takes(*kind)
                    ),
                ),
                None => (
                    ChangeKind::EdgeAdded,
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
