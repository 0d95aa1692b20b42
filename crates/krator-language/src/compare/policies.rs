//! Changes of the keys of a state: its kind, waits, retries, and the reactions of the runtime.

use super::ChangeKind;
use super::pair::{FoundChanges, Pair};
use crate::finding::{Span, Spanned};
use crate::model::{
    Effects, FieldPath, Gate, OnSpecChange, Period, Retry, RetryLimit, State, StateId, Times, format_duration,
};

/// Changes of the keys of a state.
pub(super) fn of_state(pair: &Pair<'_>, old: StateId, new: StateId, changes: &mut FoundChanges<'_>) {
    let (old, new) = (pair.old.state(old), pair.new.state(new));
    // All fields of a state are named, so that a new field does not compile until it is handled here.
    let State {
        // Compared below.
        kind,
        phase,
        wait,
        timeout,
        retry,
        on_spec_change: _,
        on_spec_change_of: _,
        on_delete,
        effects,
        limit,
        gate,
        checkpoint,
        legacy,
        // Compared as states and edges of the graph.
        name,
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
    let polled = |state: &State| Some(said(state.wait.as_ref()?.poll.as_ref()?));
    let poll = wait.as_ref().and_then(|wait| wait.poll.as_ref());
    // For each policy: the kind of change, whether it has changed, a phrase for the new value, and its place.
    let compared = [
        (
            ChangeKind::StateKindChanged,
            old.kind.value != kind.value,
            format!(
                "has the kind `{}` instead of `{}`",
                kind.value.as_str(),
                old.kind.value.as_str()
            ),
            kind.span,
        ),
        (
            ChangeKind::PhaseChanged,
            // A phase that follows from the name changes with it; the rename is reported already.
            old.own_phase() != new.own_phase(),
            format!("has the phase `{}`", crate::text::shown(new.shown_phase())),
            phase.as_ref().map_or(name.span, |phase| phase.span),
        ),
        (
            ChangeKind::EffectsChanged,
            old.effects.value != effects.value,
            match effects.value {
                Effects::Once => {
                    "has `effects: once`: stored objects in it go to `resume` when the operator restarts"
                }
                Effects::Idempotent => "has `effects: idempotent`: its handler may run again after a crash",
            }
            .to_owned(),
            effects.span,
        ),
        (
            ChangeKind::WaitChanged,
            old.may_stay() != new.may_stay(),
            if new.may_stay() {
                "now allows objects to stay in it"
            } else {
                "no longer allows objects to stay in it"
            }
            .to_owned(),
            name.span,
        ),
        (
            ChangeKind::WaitChanged,
            polled(old) != polled(new) && new.may_stay(),
            poll.map_or("no longer polls".to_owned(), |poll| {
                format!("runs its handler again after {}", said(poll))
            }),
            poll.map_or(name.span, |poll| poll.span),
        ),
        (
            ChangeKind::RetryChanged,
            old.retry.as_ref().map(tries) != retry.as_ref().map(tries),
            retry.as_ref().map_or("is not retried".to_owned(), |retry| {
                format!("is retried {}", tries(retry))
            }),
            retry.as_ref().map_or(name.span, |retry| retry.limit.span),
        ),
        (
            ChangeKind::OnDeleteChanged,
            old.on_delete.waits != on_delete.waits,
            match on_delete.waits {
                true => "finishes its handler run when the object is deleted",
                false => "is interrupted when the object is deleted",
            }
            .to_owned(),
            on_delete.span,
        ),
        (
            ChangeKind::CheckpointChanged,
            old.checkpoint.value != checkpoint.value,
            match checkpoint.value {
                true => "is stored before its handler runs",
                false => "is not stored before its handler runs",
            }
            .to_owned(),
            checkpoint.span,
        ),
    ];
    let mut note = |what, message: String, place: Span| {
        let message = format!("state `{}` {message}", name.value);
        changes.changed(what, message, old.name.span, place);
    };
    for (what, has_changed, message, place) in compared {
        if has_changed {
            note(what, message, place);
        }
    }
    // The report of an added or removed edge contains its target.
    if let (Some(before), Some(now)) = (&old.timeout, timeout)
        && before.when.to_string() != now.when.to_string()
    {
        let message = format!("times out {} instead of {}", now.when, before.when);
        note(ChangeKind::TimeoutChanged, message, now.when.span());
    }
    if let (Some(before), Some(now)) = (&old.limit, limit)
        && times(&before.times) != times(&now.times)
    {
        let message = format!("is entered at most {} times", times(&now.times));
        note(ChangeKind::LimitChanged, message, now.times.span);
    }
    let window = |gate: &Option<Gate>| {
        gate.as_ref()
            .map_or("at any time".to_owned(), |gate| gate.to_string())
    };
    if window(&old.gate) != window(gate) {
        let message = format!("is entered {} instead of {}", window(gate), window(&old.gate));
        note(
            ChangeKind::GateChanged,
            message,
            gate.as_ref().map_or(name.span, |gate| gate.span),
        );
    }
    for (message, place) in spec_changes(pair, old, new) {
        note(ChangeKind::SpecChangeChanged, message, place);
    }
    if let (None, Some(legacy)) = (old.legacy, *legacy) {
        let message = "is no longer entered; stored objects leave it".to_owned();
        note(ChangeKind::StateRetired, message, legacy);
    }
}

/// Changes of the reaction to a change of the spec, by field if either state distinguishes fields. Otherwise the edges
/// show the target.
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
            OnSpecChange::Wake => format!("runs its handler again when {what} changes"),
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

/// Whether a state distinguishes changes of some fields of the spec from others.
pub(super) fn tells_apart(state: &State) -> bool {
    !state.on_spec_change_of.is_empty()
}

fn said(period: &Period) -> String {
    match period {
        Period::Fixed(_) => period.to_string(),
        Period::Field(_) => format!("`{period}`"),
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
        "{limit}, with delays from {} that grow by a factor of {} up to {}",
        format_duration(retry.initial.value),
        retry.factor.value,
        format_duration(retry.max.value)
    )
}
