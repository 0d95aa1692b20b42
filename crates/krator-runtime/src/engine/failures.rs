//! Failures in a row: what they are counted for, what ends the row, and what somebody else has counted.
use super::{Engine, Now};
use crate::{Class, Kind, MachineStatus, Policy};
use std::{cmp::Ordering, time::Duration};

/// How often a final state is tried when its description does not say.
const FINAL_RETRIES: u32 = 5;

impl Engine {
    pub(super) fn failed(&mut self, policy: &Policy, class: Class, error: String, now: Now) {
        let retry = policy.retry;
        self.attempts = self.attempts.saturating_add(1);
        (self.hops, self.overdue) = (0, false);
        let is_final = policy.kind == Kind::Final;
        let limit = retry.limit.or(is_final.then_some(FINAL_RETRIES));
        let exhausted = class == Class::Permanent || limit.is_some_and(|limit| self.attempts > limit);
        let delay = retry.delay(self.attempts, now.random);
        match (exhausted, retry.then) {
            (true, _) if is_final => self.finished = true,
            (true, Some(then)) => {
                self.enter(then, now);
                return self.explain(error);
            }
            (true, None) => self.due = Some(now.elapsed + retry.max),
            (false, _) => {
                let least = if let Class::After(least) = class {
                    least
                } else {
                    Duration::ZERO
                };
                self.due = Some(now.elapsed + delay.max(least));
            }
        }
        self.message = Some(crate::status::truncated(&error).into());
    }

    /// Why the object came here, unless the state has words of its own.
    pub(super) fn explain(&mut self, error: String) {
        if self.policy().is_some_and(|p| p.message.is_empty()) {
            self.message = Some(crate::status::truncated(&error).into());
        }
    }

    /// No failures in a row any more, nor a word of them.
    pub(super) fn forget_failures(&mut self) {
        if self.attempts > 0 {
            (self.attempts, self.message) = (0, None);
        }
    }

    /// What a stored status says instead of the state's message.
    pub(super) fn words_of(&self, stored: &MachineStatus) -> Option<Box<str>> {
        let message = stored.message.as_deref().unwrap_or_default();
        let own = self.policy().map_or("", |policy| policy.message);
        (message != own).then(|| message.into())
    }

    /// Another operator of the same objects has written in this stay, one that was replaced or is there by mistake:
    /// its count of failures holds. It may be a write of ours, too, whose answer was lost.
    pub fn saw_others_status(&mut self, stored: &MachineStatus, now: Now) {
        let theirs = stored.attempts.unwrap_or(0);
        let former = std::mem::replace(&mut self.stored_attempts, theirs);
        if theirs == former {
            return;
        }
        match (self.attempts.cmp(&former), self.policy()) {
            (Ordering::Greater, _) if theirs > former => self.attempts = self.attempts.max(theirs),
            // Theirs ended the row; what is unwritten of ours begins the next one.
            (Ordering::Greater, _) => self.attempts = theirs.saturating_add(self.attempts - former),
            (Ordering::Equal, Some(policy)) if theirs > 0 => {
                (self.attempts, self.message) = (theirs, self.words_of(stored));
                // It may have gone without trying again.
                let retry = now.elapsed + policy.retry.delay(theirs, now.random);
                self.due = Some(self.due.map_or(retry, |due| due.min(retry)));
            }
            (Ordering::Equal, _) => self.forget_failures(),
            // A run of ours that did not fail ends the row, whoever has counted it.
            (Ordering::Less, _) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Graph, Retry, StateId, engine::Outcome};

    const LIMIT: u32 = 9;
    static STATES: [Policy; 1] = [Policy::new("Work").retry(Retry::DEFAULT.limit(LIMIT, StateId(0)))];
    static GRAPH: Graph = Graph::new(&STATES, StateId(0), None, "example.com/things");

    fn now() -> Now {
        Now {
            elapsed: Duration::from_secs(1),
            time: jiff::Timestamp::UNIX_EPOCH,
            random: 1,
        }
    }

    fn stored(attempts: u32) -> MachineStatus {
        MachineStatus {
            state: Some("Work".to_owned()),
            entry: Some(format!("{:016x}", 7)),
            attempts: Some(attempts),
            message: Some(if attempts > 0 { "theirs" } else { "" }.to_owned()),
            ..MachineStatus::default()
        }
    }

    /// An engine that has met `stored` failures and had `ours` more since, which are not written.
    fn engine(counted: u32, ours: u32) -> Engine {
        let mut engine = Engine::new(&GRAPH, Some(&stored(counted)), 1, Vec::new(), now());
        for _ in 0..ours {
            engine.begin();
            engine.ended(Outcome::Failed(Class::Transient, "ours".to_owned()), now());
        }
        engine
    }

    #[test]
    fn others_count_of_failures_holds() {
        // What was stored, our failures since, what is stored now, and the count that follows.
        for (before, ours, now_stored, count) in [
            (1, 0, 2, 2),
            (2, 0, 0, 0),
            (0, 1, 1, 1), // Ours, with its answer lost.
            (0, 1, 3, 3),
            (1, 1, 0, 1), // The row was ended before ours.
            (3, 2, 1, 3),
        ] {
            let mut engine = engine(before, ours);
            engine.saw_others_status(&stored(now_stored), now());
            assert_eq!(engine.attempts, count, "{before} + {ours}, then {now_stored}");
            assert_eq!(engine.stored_attempts, now_stored);
        }
    }

    #[test]
    fn a_run_without_failure_ends_the_row_of_others() {
        let mut engine = engine(1, 0);
        engine.begin();
        engine.ended(Outcome::Exit(crate::Exit::Stay), now());
        engine.saw_others_status(&stored(2), now());
        assert_eq!((engine.attempts, engine.message.as_deref()), (0, None));
    }

    #[test]
    fn a_failure_of_another_operator_is_tried_again() {
        let mut engine = engine(0, 0);
        engine.begin();
        engine.ended(Outcome::Exit(crate::Exit::Stay), now());
        assert_eq!(engine.rests_until(now()), Some(None));
        engine.saw_others_status(&stored(1), now());
        assert!(
            matches!(engine.rests_until(now()), Some(Some(_))),
            "after a backoff"
        );
        assert_eq!(engine.message.as_deref(), Some("theirs"));
    }
}
