//! Why an object is in its state: what `.status.message` says of the edge that led there.
use super::{Ended, Engine, Now, times::When};
use crate::{
    class::Class,
    graph::{Policy, Timeout},
    status::{EntryId, truncated},
};
use std::time::Duration;

/// The cause of an entry into a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cause {
    /// The object is new.
    Created,
    /// The handler of the former state chose it.
    Handler,
    /// The time in the former state ran out: `timeout.to`.
    TimedOut,
    /// The handler of the former state failed too often, or for good: `retry.then`.
    RetriesExhausted,
    /// Another state was to be entered, too often for its limit: `limit.then`.
    LimitReached,
    /// The spec changed: `onSpecChange.to`.
    SpecChanged,
    /// The object is being deleted.
    Deleted,
    /// An operator restarted and found the object in a state with `resume`.
    Restarted,
    /// The handler of a state with `effects: once` was dropped: `resume`.
    Interrupted,
    /// The handler of a state with `effects: once` failed: `resume`.
    Failed,
    /// A person took an edge on the page of a development build.
    ByHand,
}

impl Cause {
    /// The name of the cause in events, metrics and the log: that of the variant.
    pub fn name(self) -> String {
        format!("{self:?}")
    }
}

/// An entry of an object into a state.
#[derive(Clone, Debug)]
pub struct Moved<'g> {
    /// The state that the object left; `None` if the object is new, or its state was unknown.
    pub from: Option<&'g Policy<'g>>,
    /// The state that the object entered; it may be the same one.
    pub to: &'g Policy<'g>,
    /// The cause of the entry.
    pub cause: Cause,
    /// The id of the new stay.
    pub entry: EntryId,
    /// How long the object was in the former state; zero if there was none.
    pub stayed: Duration,
    /// The results of the measurements that the entry ended.
    pub ended: Vec<Ended>,
    /// Whether the rate limiter slows the object from this entry on.
    pub slowed: bool,
    pub(super) reason: Option<Box<str>>,
}

impl Moved<'_> {
    /// The text of `.status.message` when the state was entered.
    pub fn message(&self) -> &str {
        self.reason.as_deref().unwrap_or(self.to.message)
    }
}

/// The explanation of an entry into a state.
#[derive(Debug)]
pub(super) enum Reason {
    /// The object itself shows the reason: it is new, deleted or edited; or the handler gave none.
    Evident,
    /// The message of the handler that chose the edge.
    OfHandler(Box<str>),
    /// The cause of an edge that the runtime took, with the last message of the handler.
    OfRuntime(String),
}

impl Reason {
    /// The reason for taking `limit.then` instead of entering a state for the given reason.
    pub fn full(self, policy: &Policy<'_>, most: u32) -> Self {
        let cause = format!("entered {} {}", policy.name, times(most));
        Self::OfRuntime(match self {
            Self::Evident => cause,
            Self::OfHandler(words) => format!("{cause}: {words}"),
            Self::OfRuntime(reason) => format!("{cause}: {reason}"),
        })
    }

    /// The message to show in a state with this message of its own, which may be empty. A handler's reason
    /// replaces it, because the author of the handler knows both texts. A cause of the runtime is appended,
    /// because the author of the state does not know by which edge objects enter.
    pub fn beside(self, message: &str) -> Option<Box<str>> {
        let reason = match self {
            Self::Evident => return None,
            Self::OfHandler(words) => words.into(),
            Self::OfRuntime(cause) if message.is_empty() => cause,
            Self::OfRuntime(cause) => format!("{message} ({cause})"),
        };
        Some(truncated(&reason).into())
    }
}

/// The reason for the edge `retry.then`.
pub(super) fn gave_up(class: Class, failures: u32, error: &str) -> Reason {
    let cause = match (class, failures) {
        (Class::Permanent, _) => "gave up after a permanent error".to_owned(),
        (_, 1) => "gave up after 1 failure".to_owned(),
        _ => format!("gave up after {failures} failures"),
    };
    Reason::OfRuntime(format!("{cause}: {error}"))
}

fn times(times: u32) -> String {
    match times {
        1 => "once".to_owned(),
        _ => format!("{times} times"),
    }
}

impl Engine<'_> {
    /// The text of `.status.message`.
    pub(super) fn shown_message<'a>(&'a self, policy: &'a Policy<'_>) -> &'a str {
        let said = self.stay.message.as_deref().or(self.stay.reason.as_deref());
        said.unwrap_or(policy.message)
    }

    /// The reason for the edge `timeout.to` of the current state.
    pub(super) fn timed_out(&self, policy: &Policy<'_>, now: Now) -> Reason {
        let is_scheduled = matches!(policy.timeout, Some((Timeout::At(..), _)));
        let when = match self.timeout_when(policy, now) {
            Some(When::After(after)) => format!("timed out after {}", duration(after)),
            Some(When::At(instant)) if is_scheduled => format!("scheduled for {instant}"),
            Some(When::At(instant)) => format!("timed out at {instant}"),
            // A timeout by schedule has no duration to mention.
            None => "timed out".to_owned(),
        };
        self.with_last_words(format!("{when} in {}", policy.name))
    }

    /// The reason for the edge `resume` of a state whose handler was dropped.
    pub(super) fn interrupted(&self, policy: &Policy<'_>) -> Reason {
        self.with_last_words(format!("interrupted in {}", policy.name))
    }

    /// The reason for the edge `resume` of a state in which an operator finds the object after a restart.
    pub(super) fn restarted(&self, policy: &Policy<'_>) -> Reason {
        Reason::OfRuntime(format!("the operator restarted in {}", policy.name))
    }

    /// A cause with the last message of the handler in this stay. The reason for the entry into the state is
    /// omitted, because a cycle of timeouts would repeat it on every round.
    fn with_last_words(&self, cause: String) -> Reason {
        Reason::OfRuntime(match self.stay.message.as_deref() {
            Some(words) if !words.is_empty() => format!("{cause}: {words}"),
            _ => cause,
        })
    }
}

/// A duration as Kubernetes writes it: `1h30m0s`, `5m0s`, `1.5s`, `250ms`.
fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    if seconds == 0 {
        return format!("{}ms", duration.as_millis());
    }
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    let rest = f64::from(u32::try_from(seconds % 60).unwrap_or_default())
        + f64::from(duration.subsec_millis()) / 1000.0;
    match (hours, minutes) {
        (0, 0) => format!("{rest}s"),
        (0, _) => format!("{minutes}m{rest}s"),
        _ => format!("{hours}h{minutes}m{rest}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        engine::{Decision, Now, Outcome},
        graph::{Exit, Graph, OnSpecChange, Retry, StateId},
        status::MachineStatus,
    };

    const WORK: StateId = StateId(0);
    const ONCE: StateId = StateId(1);
    const REST: StateId = StateId(2);
    static STATES: [Policy; 3] = [
        Policy::new("Work")
            .next(&[ONCE])
            .timeout(Duration::from_secs(60), REST)
            .retry(Retry::DEFAULT.limit(0, REST))
            .on_spec_change(OnSpecChange::To(REST)),
        Policy::new("Once").once().limit(1, REST).resume(WORK),
        Policy::new("Rest").next(&[REST]),
    ];
    static GRAPH: Graph = Graph::new(&STATES, WORK, Some(REST), "example.com/things");

    fn at(seconds: u64) -> Now {
        Now {
            elapsed: Duration::from_secs(seconds),
            time: jiff::Timestamp::UNIX_EPOCH,
            random: seconds,
            leader: 0,
        }
    }

    fn runs(engine: &mut Engine<'_>, outcome: Outcome) {
        engine.begin();
        engine.ended(outcome, at(11));
    }

    /// The last entry of an object, new or found in a state, after `act`.
    fn last(
        found: Option<&str>,
        happens: impl FnOnce(&mut Engine<'_>),
    ) -> (Option<&'static str>, Cause, u64) {
        let stored = found.map(|name| MachineStatus {
            state: Some(name.to_owned()),
            ..MachineStatus::default()
        });
        let mut engine = Engine::new(&GRAPH, stored.as_ref(), 1, Vec::new(), at(1));
        happens(&mut engine);
        while engine.decide(at(11)) == Decision::Entered {}
        let moved = engine.take_moves().pop().expect("an entry");
        assert!(engine.take_moves().is_empty(), "each is taken once");
        assert_eq!(moved.entry, engine.entry());
        (
            moved.from.map(|from| from.name),
            moved.cause,
            moved.stayed.as_secs(),
        )
    }

    #[test]
    fn each_edge_has_its_cause() {
        let to = |state| Outcome::Exit(Exit::To(state));
        let fails = || Outcome::Failed(Class::Transient, "no luck".to_owned());
        let (work, once, rest) = (Some("Work"), Some("Once"), Some("Rest"));
        assert_eq!(last(None, |_| {}), (None, Cause::Created, 0));
        assert_eq!(last(once, |_| {}), (once, Cause::Restarted, 0));
        assert_eq!(last(rest, |it| runs(it, to(REST))), (rest, Cause::Handler, 10));
        assert_eq!(
            last(work, |it| runs(it, fails())),
            (work, Cause::RetriesExhausted, 10)
        );
        assert_eq!(
            last(work, |it| assert!(it.saw_spec(2, None, Vec::new))),
            (work, Cause::SpecChanged, 10)
        );
        assert_eq!(
            last(work, |it| assert!(it.saw_deletion())),
            (work, Cause::Deleted, 10)
        );
        let times_out = |it: &mut Engine<'_>| assert_eq!(it.decide(at(61)), Decision::Entered);
        assert_eq!(last(work, times_out), (work, Cause::TimedOut, 60));
        let once_ends = |outcomes: Vec<Outcome>| {
            last(work, |it| {
                outcomes.into_iter().for_each(|outcome| runs(it, outcome))
            })
        };
        assert_eq!(once_ends(vec![to(ONCE), fails()]), (once, Cause::Failed, 0));
        let interrupted = || vec![to(ONCE), Outcome::Interrupted];
        assert_eq!(once_ends(interrupted()), (once, Cause::Interrupted, 0));
        let again = interrupted().into_iter().chain([to(ONCE)]).collect();
        assert_eq!(once_ends(again), (work, Cause::LimitReached, 0));
    }

    #[test]
    fn durations_are_written_as_kubernetes_writes_them() {
        for (millis, text) in [
            (0, "0ms"),
            (250, "250ms"),
            (1_500, "1.5s"),
            (60_000, "1m0s"),
            (300_000, "5m0s"),
            (3_600_000, "1h0m0s"),
            (90_061_007, "25h1m1.007s"),
        ] {
            assert_eq!(duration(Duration::from_millis(millis)), text);
        }
    }

    #[test]
    fn a_handler_replaces_the_message_of_a_state_and_the_runtime_adds_to_it() {
        let beside = |reason: Reason, message| reason.beside(message).map(String::from);
        let code = || Reason::OfHandler("no quota".into());
        assert_eq!(beside(code(), "").as_deref(), Some("no quota"));
        assert_eq!(beside(code(), "Needs help.").as_deref(), Some("no quota"));
        let late = || Reason::OfRuntime("timed out after 5m0s in Work".to_owned());
        assert_eq!(
            beside(late(), "").as_deref(),
            Some("timed out after 5m0s in Work")
        );
        assert_eq!(
            beside(late(), "Needs help.").as_deref(),
            Some("Needs help. (timed out after 5m0s in Work)")
        );
        assert_eq!(beside(Reason::Evident, "Needs help."), None);
    }

    #[test]
    fn a_full_state_keeps_what_led_to_it() {
        let full = |reason: Reason| match reason.full(&Policy::new("Check"), 3) {
            Reason::OfRuntime(reason) => reason,
            other => panic!("{other:?}"),
        };
        assert_eq!(full(Reason::Evident), "entered Check 3 times");
        assert_eq!(
            full(gave_up(Class::Transient, 5, "no appetite")),
            "entered Check 3 times: gave up after 5 failures: no appetite"
        );
        assert_eq!(
            full(Reason::OfHandler("no quota".into())),
            "entered Check 3 times: no quota"
        );
    }
}
