//! Consecutive failures of a handler: the reaction to them, when their count is reset, and other operators' counts.
use super::{Cause, Engine, Now, reason};
use crate::{
    class::Class,
    graph::{Policy, Retry, StateKind},
    status::{MachineStatus, truncated},
};
use std::{cmp::Ordering, time::Duration};

impl Engine<'_> {
    pub(super) fn failed(&mut self, policy: &Policy<'_>, class: Class, error: String, now: Now) {
        let retry = policy.retry;
        self.stay.overdue = false;
        self.report_digests();
        let is_final = policy.kind == StateKind::Final;
        let limit = retry.limit.or(is_final.then_some(Retry::FINAL_LIMIT));
        // A blocked handler recovers by itself, so it does not exceed the limit. The first failure is counted
        // all the same, because the count shows that the state is being retried.
        let most = limit
            .filter(|_| class == Class::Blocked)
            .map_or(u32::MAX, |limit| limit.max(1));
        self.stay.attempts = self.stay.attempts.saturating_add(1).min(most);
        let exhausted = match class {
            Class::Permanent => true,
            Class::Blocked => false,
            _ => limit.is_some_and(|limit| self.stay.attempts > limit),
        };
        let delay = retry.delay(self.stay.attempts, now.random);
        match (exhausted, retry.then) {
            (true, _) if is_final => self.finished = true,
            (true, Some(then)) => {
                let reason = reason::gave_up(class, self.stay.attempts, &error);
                return self.enter(then, Cause::RetriesExhausted, reason, now);
            }
            (true, None) => self.stay.due = Some(now.elapsed + retry.max),
            (false, _) => {
                let least = if let Class::After(least) = class {
                    least
                } else {
                    Duration::ZERO
                };
                self.stay.due = Some(now.elapsed + delay.max(least));
            }
        }
        self.stay.message = Some(truncated(&error).into());
    }

    /// Resets the count of consecutive failures, and removes the message of the last one.
    pub(super) fn forget_failures(&mut self) {
        if self.stay.attempts > 0 {
            (self.stay.attempts, self.stay.message) = (0, None);
        }
    }

    /// The stored message, unless it is the message of the state itself.
    pub(super) fn own_message(&self, stored: &MachineStatus) -> Option<Box<str>> {
        let message = stored.message.as_deref().unwrap_or_default();
        let of_state = self.policy().map_or("", |policy| policy.message);
        (message != of_state).then(|| message.into())
    }

    /// Whether the stored status has a generation that another operator has reconciled and this one has not.
    pub fn is_behind(&self, stored: &MachineStatus) -> bool {
        stored.observed_generation.unwrap_or(-1) > self.observed
    }

    /// Reports a stored status of this stay that differs from the last written one. Another operator may have
    /// written it (one that was replaced, or that runs by mistake): its count of failures and its observed
    /// generation are taken over. It may also be a write of this operator whose answer was lost.
    pub fn saw_others_status(&mut self, stored: &MachineStatus, now: Now) {
        let theirs = stored.observed_generation.unwrap_or(-1);
        if theirs > self.observed.max(self.entered_for) {
            self.take_digests(stored);
        }
        self.observed = self.observed.max(theirs);
        if theirs > self.judged {
            // The other operator handled that change of the spec in this stay.
            self.judged = theirs;
            self.judge_as_reported();
        }
        if self.is_requested() && stored.last_handled_request.as_deref() == self.requested.as_deref() {
            self.handled.clone_from(&self.requested);
        }
        let theirs = stored.attempts.unwrap_or(0);
        let former = std::mem::replace(&mut self.stay.stored_attempts, theirs);
        if theirs == former {
            return;
        }
        match (self.stay.attempts.cmp(&former), self.policy()) {
            (Ordering::Greater, _) if theirs > former => self.stay.attempts = self.stay.attempts.max(theirs),
            // A success of theirs reset the count; unwritten failures here begin a new one.
            (Ordering::Greater, _) => self.stay.attempts = theirs.saturating_add(self.stay.attempts - former),
            (Ordering::Equal, Some(policy)) if theirs > 0 => {
                (self.stay.attempts, self.stay.message) = (theirs, self.own_message(stored));
                // The other operator may have ended before its retry, so this one schedules it.
                let retry = now.elapsed + policy.retry.delay(theirs, now.random);
                self.stay.due = Some(self.stay.due.map_or(retry, |due| due.min(retry)));
            }
            (Ordering::Equal, _) => self.forget_failures(),
            // A success of this process resets the count, whichever operator counted the failures.
            (Ordering::Less, _) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        engine::Outcome,
        graph::{Exit, Graph, StateId},
    };

    const LIMIT: u32 = 9;
    static STATES: [Policy; 1] = [Policy::new("Work").retry(Retry::DEFAULT.limit(LIMIT, StateId(0)))];
    static GRAPH: Graph = Graph::new(&STATES, StateId(0), None, "example.com/things");

    fn now() -> Now {
        Now {
            elapsed: Duration::from_secs(1),
            time: jiff::Timestamp::UNIX_EPOCH,
            random: 1,
            leader: 0,
        }
    }

    fn stored(attempts: u32) -> MachineStatus {
        MachineStatus {
            state: Some("Work".to_owned()),
            entry: Some(crate::status::EntryId::new(7)),
            attempts: Some(attempts),
            message: Some(if attempts > 0 { "theirs" } else { "" }.to_owned()),
            ..MachineStatus::default()
        }
    }

    /// An engine that found `counted` stored failures, followed by `ours` failures that are not written.
    fn engine(counted: u32, ours: u32) -> Engine<'static> {
        let mut engine = Engine::new(&GRAPH, Some(&stored(counted)), 1, Vec::new(), now());
        for _ in 0..ours {
            engine.begin();
            engine.ended(Outcome::Failed(Class::Transient, "ours".to_owned()), now());
        }
        engine
    }

    #[test]
    fn the_count_of_another_operator_is_honoured() {
        // The count that was stored, the failures here since then, the count stored now, and the resulting count.
        for (before, ours, now_stored, count) in [
            (1, 0, 2, 2),
            (2, 0, 0, 0),
            (0, 1, 1, 1), // A write of this operator whose answer was lost.
            (0, 1, 3, 3),
            (1, 1, 0, 1), // Another operator succeeded before the failure here.
            (3, 2, 1, 3),
        ] {
            let mut engine = engine(before, ours);
            engine.saw_others_status(&stored(now_stored), now());
            assert_eq!(
                engine.stay.attempts, count,
                "{before} + {ours}, then {now_stored}"
            );
            assert_eq!(engine.stay.stored_attempts, now_stored);
        }
    }

    #[test]
    fn a_success_here_ends_the_row_of_another_operator() {
        let mut engine = engine(1, 0);
        engine.begin();
        engine.ended(Outcome::Exit(Exit::Stay), now());
        engine.saw_others_status(&stored(2), now());
        assert_eq!((engine.stay.attempts, engine.stay.message.as_deref()), (0, None));
    }

    #[test]
    fn what_blocks_a_handler_never_exceeds_the_limit() {
        let mut engine = engine(0, 0);
        let fails = |engine: &mut Engine<'static>, class| {
            engine.begin();
            let entry = engine.entry();
            engine.ended(Outcome::Failed(class, "collected first".to_owned()), now());
            engine.entry() == entry
        };
        for _ in 0..3 * LIMIT {
            assert!(fails(&mut engine, Class::Blocked), "it stays in the state");
        }
        assert_eq!(engine.stay.attempts, LIMIT);
        assert!(
            !fails(&mut engine, Class::Transient),
            "the limit holds for other failures"
        );
    }

    #[test]
    fn a_failure_of_another_operator_is_retried() {
        let mut engine = engine(0, 0);
        engine.begin();
        engine.ended(Outcome::Exit(Exit::Stay), now());
        assert_eq!(engine.rests_until(now()), Some(None));
        engine.saw_others_status(&stored(1), now());
        assert!(
            matches!(engine.rests_until(now()), Some(Some(_))),
            "after a backoff"
        );
        assert_eq!(engine.stay.message.as_deref(), Some("theirs"));
    }

    #[test]
    fn the_observed_generation_never_falls_below_what_another_operator_stored() {
        let mut engine = engine(0, 0);
        engine.begin();
        let theirs = MachineStatus {
            observed_generation: Some(2),
            ..stored(0)
        };
        engine.saw_others_status(&theirs, now());
        engine.ended(Outcome::Exit(Exit::Stay), now());
        let rendered = engine.render(&theirs, now()).expect("the state is known");
        assert_eq!(rendered.observed_generation, Some(2));
    }
}
