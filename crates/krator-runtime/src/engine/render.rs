//! What of an engine belongs into `.status`.
use super::{Engine, Now};
use crate::MachineStatus;

impl Engine {
    /// The machine's part of `.status`, as it should be written over `former`; `None` while parked, for an object
    /// of a state that this machine does not know is left as it is.
    pub fn render(&self, former: &MachineStatus, now: Now) -> Option<MachineStatus> {
        let policy = self.policy()?;
        let message = self.message.as_deref().unwrap_or(policy.message);
        let entries = self
            .entries
            .iter()
            .map(|(id, n)| (self.graph.state(*id).name.to_owned(), *n))
            .collect();
        Some(MachineStatus {
            state: Some(policy.name.to_owned()),
            phase: Some(policy.phase.to_owned()),
            message: Some(message.to_owned()),
            entry: Some(self.entry()),
            state_entered_at: Some(self.entered_at),
            attempts: Some(self.attempts),
            entries,
            observed_generation: Some(self.observed),
            conditions: crate::conditions::render(
                self.graph,
                policy,
                former,
                crate::conditions::Now {
                    entered: former.entry.as_deref() != Some(&self.entry()),
                    retrying: self.attempts > 0,
                    message,
                    set: &self.set,
                    // A failed run has dealt with nothing, but what is said of it is said of its generation.
                    observed: if self.attempts > 0 {
                        self.pinned
                    } else {
                        self.observed
                    },
                    time: now.time,
                },
            ),
        })
    }
}
