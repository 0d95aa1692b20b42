//! Renders the machine's part of `.status` from the engine.
use super::{Engine, Now};
use crate::{conditions, status::MachineStatus};

impl Engine<'_> {
    /// The machine's part of `.status`, which is to be written over `former`. `None` if the machine does not know the
    /// stored state: such an object is left as it is.
    pub fn render(&self, former: &MachineStatus, now: Now) -> Option<MachineStatus> {
        let policy = self.policy()?;
        let message = self.shown_message(policy);
        let entered = former.entry != Some(self.entry());
        let unstored = self.unstored.as_deref();
        let set_before = unstored.filter(|_| entered).map_or(&[][..], |it| &it.set_before);
        let entries = self
            .entries
            .iter()
            .map(|(id, n)| (self.graph.state(*id).name.to_owned(), *n))
            .collect();
        Some(MachineStatus {
            state: Some(policy.name.to_owned()),
            phase: self.graph.phase_of(policy).map(str::to_owned),
            message: Some(message.to_owned()),
            entry: Some(self.entry()),
            state_entered_time: Some(self.stay.entered_at),
            attempts: (self.stay.attempts > 0).then_some(self.stay.attempts),
            entries,
            observed_generation: Some(self.observed),
            spec_digests: self.reported_digests(),
            last_handled_request: self.handled.as_deref().map(str::to_owned),
            conditions: conditions::render(
                self.graph,
                policy,
                former,
                conditions::Inputs {
                    entered,
                    retrying: self.stay.attempts > 0,
                    message,
                    set_before,
                    set: unstored.map_or(&[][..], |it| &it.set),
                    generation: self.generation,
                    paused: self.pausing,
                    // A failed run has not dealt with its generation, but the failure is about that generation.
                    observed: if self.stay.attempts > 0 && policy.written {
                        self.pinned
                    } else {
                        self.observed
                    },
                    entered_for: self.entered_for,
                    time: now.time,
                },
            ),
        })
    }
}
