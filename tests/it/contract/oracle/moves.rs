//! Whether an object can have come from one state to another: along which edges, and whether what takes an object along
//! them was there.

use super::{Oracle, Sight, TOLERANCE};
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use krator::model::{
    Effects, FieldPath, MomentUnit, OnSpecChange, PathRoot, Period, RetryLimit, Segment, StateId, Times,
    parse_duration,
};
use serde_json::Value;
use std::collections::BTreeSet;

/// A state on the way between two writes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stand {
    /// Its entry was written, or need not be: its handler may have run.
    Run(StateId),
    /// It was entered and left again before its write succeeded: its handler has not run.
    Unwritten(StateId),
}

impl Oracle {
    /// Whether a new entry follows from what was written before.
    pub(super) fn judge_move(&self, before: Sight, now: Sight, to: StateId) -> Result<(), String> {
        let from = self.kind.state_named(before.text("/status/state"));
        let name = |id: StateId| self.kind.state(id).name.as_str();
        let mut reached: BTreeSet<Stand> = BTreeSet::new();
        let mut next: Vec<Stand> = match from {
            Some(from) => self.left(Stand::Run(from), before, now, from),
            None => vec![self.entered(self.kind.machine.initial.value, now)],
        };
        while let Some(stand) = next.pop() {
            let (Stand::Run(state) | Stand::Unwritten(state)) = stand;
            if state == to {
                return Ok(());
            }
            if reached.insert(stand) {
                next.extend(self.left(stand, before, now, from.unwrap_or(state)));
            }
        }
        let from = from.map_or("nowhere", name);
        Err(format!(
            "it went from {from} to {}, where no edge led it",
            name(to)
        ))
    }

    /// What entering a state comes to: its limit leads on.
    fn entered(&self, mut to: StateId, now: Sight) -> Stand {
        // No limit is passed twice on the way.
        for _ in &self.kind.states {
            let state = self.kind.state(to);
            let Some(limit) = &state.limit else { break };
            let times = match &limit.times.value {
                Times::Number(times) => Some(i64::from(*times)),
                Times::Field(path) => told(now, path).and_then(Value::as_i64).filter(|times| *times > 0),
            };
            let pointer = format!("/status/entries/{}", state.name.as_str());
            let count = now.number(&pointer).unwrap_or_default();
            if times.is_none_or(|times| count <= times) {
                break;
            }
            to = limit.then.value;
        }
        let state = self.kind.state(to);
        // On the deletion path a status that cannot be written stops nothing.
        if state.checkpoint.value && !state.on_deletion_path {
            Stand::Unwritten(to)
        } else {
            Stand::Run(to)
        }
    }

    /// Where the edges lead that can have been taken from here. `from` is the state of the last write.
    fn left(&self, stand: Stand, before: Sight, now: Sight, from: StateId) -> Vec<Stand> {
        let (id, ran) = match stand {
            Stand::Run(id) => (id, true),
            Stand::Unwritten(id) => (id, false),
        };
        let state = self.kind.state(id);
        let is_first = id == from && ran;
        let mut to = Vec::new();
        if now.is_deleted()
            && let Some(deletion) = state.on_delete.to
            && !state.on_deletion_path
        {
            to.push(deletion);
            // A write that was decided without knowing of the deletion is refused, so nothing else leads to one. But
            // what it would have written was entered, and deletion leads on from there.
            let elsewhere = self.ordinarily_left(stand, before, now, is_first);
            to.extend(
                elsewhere
                    .into_iter()
                    .filter_map(|to| self.kind.state(to).on_delete.to),
            );
        } else {
            to.extend(self.ordinarily_left(stand, before, now, is_first));
        }
        to.into_iter().map(|to| self.entered(to, now)).collect()
    }

    fn ordinarily_left(&self, stand: Stand, before: Sight, now: Sight, is_first: bool) -> Vec<StateId> {
        let (Stand::Run(id) | Stand::Unwritten(id)) = stand;
        let ran = matches!(stand, Stand::Run(_));
        let state = self.kind.state(id);
        let mut to: Vec<StateId> = Vec::new();
        if ran {
            to.extend(state.next.iter().map(|next| next.to.value));
        }
        if let Some(timeout) = &state.timeout
            && is_over(&timeout.after.value, before, now)
        {
            to.push(timeout.to.value);
        }
        if let Some(retry) = &state.retry
            && let Some(then) = retry.then
        {
            let failed_enough = match retry.limit.value {
                RetryLimit::Unlimited => false,
                RetryLimit::Times(limit) => {
                    let failed = before.attempts();
                    // One of two operators may have ended the row just after the other had found it too long.
                    failed == i64::from(limit) || (self.contested && failed == 0)
                }
            };
            if (is_first && failed_enough) || (ran && state.on_deletion_path) {
                to.push(then.value);
            }
        }
        if let OnSpecChange::Enter(then) = state.on_spec_change.value
            && !now.is_deleted()
            && now.generation() != before.observed()
        {
            to.push(then);
        }
        if let Some(resume) = state.resume
            && is_first
            && (self.contested
                || state.effects.value == Effects::Once
                || self.was_started_between(before, now))
        {
            to.push(resume.value);
        }
        to
    }

    fn was_started_between(&self, before: Sight, now: Sight) -> bool {
        let (Some(since), Some(until)) = (before.entered_at(), now.entered_at()) else {
            return false;
        };
        let within = |started: &Timestamp| *started + TOLERANCE >= since && *started <= until + TOLERANCE;
        self.started.iter().any(within)
    }
}

/// Whether a state's time can have run out between the two writes.
fn is_over(after: &Period, before: Sight, now: Sight) -> bool {
    let (Some(since), Some(until)) = (before.entered_at().or(now.entered_at()), now.entered_at()) else {
        return false;
    };
    let after = match after {
        Period::Fixed(after) => SignedDuration::try_from(*after).ok(),
        Period::Field(field) => match (field.unit, told(now, &field.path)) {
            (MomentUnit::Duration, Some(Value::String(text))) => {
                parse_duration(text).and_then(|after| SignedDuration::try_from(after).ok())
            }
            (MomentUnit::Seconds, Some(seconds)) => seconds.as_i64().map(SignedDuration::from_secs),
            (MomentUnit::Instant, Some(Value::String(text))) => text
                .parse()
                .ok()
                .map(|instant: Timestamp| instant.duration_since(since)),
            _ => None,
        },
    };
    after.is_some_and(|after| until.duration_since(since) + TOLERANCE >= after)
}

/// What a field says.
fn told<'a>(object: Sight<'a>, path: &FieldPath) -> Option<&'a Value> {
    let root = match &path.root {
        PathRoot::Spec => &object.0["spec"],
        PathRoot::Status => &object.0["status"],
        PathRoot::Metadata | PathRoot::Label(_) => return None,
    };
    path.segments
        .iter()
        .try_fold(root, |value, segment| match segment {
            Segment::Field(name) => value.get(name),
            Segment::Each | Segment::Where { .. } => None,
        })
}
