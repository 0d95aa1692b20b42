//! Why an object is in its state: what `.status.message` says of the edge that led there.
use super::{Engine, times::When};
use crate::{error::Class, graph::Policy, status::truncated};
use std::time::Duration;

/// Why an object enters a state.
#[derive(Debug)]
pub(super) enum Reason {
    /// The object shows it: it is new, it is deleted, its spec has changed; or its handler says nothing.
    Evident,
    /// What the handler says that has chosen the edge.
    OfHandler(Box<str>),
    /// What led to an edge that the runtime takes, with the last words of the handler.
    OfRuntime(String),
}

impl Reason {
    /// The reason for the edge `limit.then` of a state that the object would have entered for this reason.
    pub fn full(self, policy: &Policy<'_>, most: u32) -> Self {
        let cause = format!("entered {} {}", policy.name, times(most));
        Self::OfRuntime(match self {
            Self::Evident => cause,
            Self::OfHandler(words) => format!("{cause}: {words}"),
            Self::OfRuntime(reason) => format!("{cause}: {reason}"),
        })
    }

    /// What the message says in a state that has a message of its own, or an empty one. The author of a handler knows
    /// both texts, so that of the handler replaces that of the state. The author of a state does not know by which edge
    /// an object comes, so the cause of an edge of the runtime stands beside the text.
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
    /// What `.status.message` says.
    pub(super) fn shown_message<'a>(&'a self, policy: &'a Policy<'_>) -> &'a str {
        let said = self.message.as_deref().or(self.reason.as_deref());
        said.unwrap_or(policy.message)
    }

    /// The reason for the edge `timeout.to` of the current state.
    pub(super) fn timed_out(&self, policy: &Policy<'_>) -> Reason {
        let period = policy.timeout.and_then(|(period, _)| self.period(period));
        let when = match period {
            Some(When::After(after)) => format!("after {}", duration(after)),
            Some(When::At(instant)) => format!("at {instant}"),
            // Without a period there is no timeout.
            None => String::new(),
        };
        self.with_last_words(format!("timed out {when} in {}", policy.name))
    }

    /// The reason for the edge `resume` of a state whose handler was dropped.
    pub(super) fn interrupted(&self, policy: &Policy<'_>) -> Reason {
        self.with_last_words(format!("interrupted in {}", policy.name))
    }

    /// The reason for the edge `resume` of a state in which an operator finds the object after a restart.
    pub(super) fn restarted(&self, policy: &Policy<'_>) -> Reason {
        Reason::OfRuntime(format!("the operator restarted in {}", policy.name))
    }

    /// A cause with what the handler said last in this stay. What led to the state is left out, because it would be
    /// repeated around every cycle of timeouts.
    fn with_last_words(&self, cause: String) -> Reason {
        Reason::OfRuntime(match self.message.as_deref() {
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
