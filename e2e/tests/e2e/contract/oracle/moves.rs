//! Whether an object can have moved from one state to another: whether there is a path of edges, and whether each edge
//! on it had its cause.

use super::{Oracle, TOLERANCE, View};
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use krator::model::{
    Effects, FieldPath, MomentUnit, OnSpecChange, PathRoot, Period, Recurrence, RetryLimit, Segment, StateId,
    TextSource, Times, When, parse_duration,
};
use serde_json::Value;
use std::collections::BTreeSet;

/// A possible state of an object between two writes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Waypoint {
    /// Its entry was written, or need not be written, so its handler may have run.
    MayHaveRun(StateId),
    /// It was entered and left again before its entry was written, so its handler has not run.
    Unwritten(StateId),
}

impl Oracle {
    /// Whether an object can have moved to this state since the previous write.
    pub(super) fn judge_move(&self, before: View, now: View, to: StateId) -> Result<(), String> {
        let from = self.kind.state_named(before.text("/status/state"));
        let name = |id: StateId| self.kind.state(id).name.as_str();
        let mut visited: BTreeSet<Waypoint> = BTreeSet::new();
        let mut next: Vec<Waypoint> = match from {
            Some(from) => self.successors(Waypoint::MayHaveRun(from), before, now, from),
            None => vec![self.entered(self.kind.machine.initial.value, now)],
        };
        while let Some(waypoint) = next.pop() {
            let (Waypoint::MayHaveRun(state) | Waypoint::Unwritten(state)) = waypoint;
            if state == to {
                return Ok(());
            }
            if visited.insert(waypoint) {
                next.extend(self.successors(waypoint, before, now, from.unwrap_or(state)));
            }
        }
        let from = from.map_or("nowhere", name);
        Err(format!(
            "it went from {from} to {}, where no edge led it",
            name(to)
        ))
    }

    /// The state that an object is in after it enters `to`: an exceeded limit leads to another state.
    fn entered(&self, mut to: StateId, now: View) -> Waypoint {
        // The limit of each state can redirect the object at most once.
        for _ in &self.kind.states {
            let state = self.kind.state(to);
            let Some(limit) = &state.limit else { break };
            let times = match &limit.times.value {
                Times::Number(times) => Some(i64::from(*times)),
                Times::Field(path) => field_value(now, path)
                    .and_then(Value::as_i64)
                    .filter(|times| *times > 0),
            };
            let count = now.entries_of(state.name.as_str());
            if times.is_none_or(|times| count <= times) {
                break;
            }
            to = limit.then.value;
        }
        let state = self.kind.state(to);
        // On the deletion path the runtime continues even if the status cannot be written.
        if state.checkpoint.value && !state.on_deletion_path {
            Waypoint::Unwritten(to)
        } else {
            Waypoint::MayHaveRun(to)
        }
    }

    /// The targets of the edges that the object can have taken from here. `from` is the state of the last write.
    fn successors(&self, waypoint: Waypoint, before: View, now: View, from: StateId) -> Vec<Waypoint> {
        let (id, ran) = match waypoint {
            Waypoint::MayHaveRun(id) => (id, true),
            Waypoint::Unwritten(id) => (id, false),
        };
        let state = self.kind.state(id);
        let is_first = id == from && ran;
        let mut to = Vec::new();
        if now.is_deleted()
            && let Some(deletion) = state.on_delete.to
            && !state.on_deletion_path
        {
            to.push(deletion);
            // A move that was decided before the deletion was known cannot be written, so only deletion edges lead to a
            // written state. But the move was made, and a deletion edge may lead on from its target.
            let elsewhere = self.successors_unless_deleted(waypoint, before, now, is_first);
            to.extend(
                elsewhere
                    .into_iter()
                    .filter_map(|to| self.kind.state(to).on_delete.to),
            );
        } else {
            to.extend(self.successors_unless_deleted(waypoint, before, now, is_first));
        }
        to.into_iter().map(|to| self.entered(to, now)).collect()
    }

    fn successors_unless_deleted(
        &self,
        waypoint: Waypoint,
        before: View,
        now: View,
        is_first: bool,
    ) -> Vec<StateId> {
        let (Waypoint::MayHaveRun(id) | Waypoint::Unwritten(id)) = waypoint;
        let ran = matches!(waypoint, Waypoint::MayHaveRun(_));
        let state = self.kind.state(id);
        let mut to: Vec<StateId> = Vec::new();
        if ran {
            to.extend(state.next.iter().map(|next| next.to.value));
        }
        if let Some(timeout) = &state.timeout
            && is_over(&timeout.when, before, now)
        {
            to.push(timeout.to.value);
        }
        to.retain(|to| {
            self.may_be_open(*to, now)
                && self.was_asked_for(id, *to, before)
                && self.was_approved(id, *to, before)
        });
        if let Some(retry) = &state.retry
            && let Some(then) = retry.then
        {
            let failed_enough = match retry.limit.value {
                RetryLimit::Unlimited => false,
                RetryLimit::Times(limit) => {
                    let failed = before.attempts();
                    // One of two operators may have reset the count just after the other one had read it.
                    failed == i64::from(limit) || (self.contested && failed == 0)
                }
            };
            if (is_first && failed_enough) || (ran && state.on_deletion_path) {
                to.push(then.value);
            }
        }
        if !now.is_deleted() && now.generation() != before.observed() {
            to.extend(
                state
                    .on_any_spec_change()
                    .filter_map(|change| match change.value {
                        OnSpecChange::Enter(then) => Some(then),
                        OnSpecChange::Wake | OnSpecChange::Ignore => None,
                    }),
            );
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

    /// Only a stored ask is granted, so an object that enters the states of a limit must have asked for the entry in
    /// the state of the last write.
    fn was_asked_for(&self, from: StateId, to: StateId, before: View) -> bool {
        let mut limits = self.kind.limits.iter();
        let is_limited = limits.any(|limit| limit.counts(to) && !limit.counts(from));
        !is_limited || before.asked_in(&self.kind) == Some((from, to))
    }

    /// Whether the gate of a state can have been open at the time of the write.
    fn may_be_open(&self, to: StateId, now: View) -> bool {
        let gate = self.kind.state(to).gate.as_ref();
        let (Some(window), Some(at)) = (gate.and_then(|gate| gate.during.as_ref()), now.entered_at()) else {
            return true;
        };
        let Period::Fixed(length) = window.duration.value else {
            return true;
        };
        let length = SignedDuration::try_from(length).unwrap_or(SignedDuration::MAX);
        starts_within(&window.starts, at - length - TOLERANCE, at + TOLERANCE)
    }

    fn was_started_between(&self, before: View, now: View) -> bool {
        let (Some(since), Some(until)) = (before.entered_at(), now.entered_at()) else {
            return false;
        };
        let within = |started: &Timestamp| *started + TOLERANCE >= since && *started <= until + TOLERANCE;
        self.started.iter().any(within)
    }
}

/// Whether a fixed schedule has a start in an interval. A schedule from a field may start at any time.
fn starts_within(starts: &Recurrence, after: Timestamp, until: Timestamp) -> bool {
    let fixed = |text: &TextSource| match text {
        TextSource::Fixed(text) => Some(text.clone()),
        TextSource::Field(_) => None,
    };
    let zone = starts.time_zone.as_ref().map(|zone| fixed(&zone.value));
    let Some((schedule, zone)) = fixed(&starts.schedule.value).zip(zone.unwrap_or(Some("UTC".to_owned())))
    else {
        return true;
    };
    let schedule = krator_machine::Schedule::parse(&schedule, &zone).expect("it was checked");
    schedule.next(after).is_some_and(|start| start <= until)
}

/// Whether a state's timeout can have expired between the two writes.
fn is_over(when: &When, before: View, now: View) -> bool {
    let after = match when {
        When::After(after) => &after.value,
        When::At(starts, _) => {
            let (Some(since), Some(until)) = (before.entered_at(), now.entered_at()) else {
                return false;
            };
            return starts_within(starts, since - TOLERANCE, until + TOLERANCE);
        }
    };
    let (Some(since), Some(until)) = (before.entered_at().or(now.entered_at()), now.entered_at()) else {
        return false;
    };
    let after = match after {
        Period::Fixed(after) => SignedDuration::try_from(*after).ok(),
        Period::Field(field) => match (field.unit, field_value(now, &field.path)) {
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

/// The value of a field.
fn field_value<'a>(object: View<'a>, path: &FieldPath) -> Option<&'a Value> {
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
