//! Decides what happens next to one object. The engine is pure: it has no clock, no cluster and no user
//! types. A driver passes observations to it, asks for the next step, and reports the result of that step.
//!
//! When several things are due at once, deletion comes first, then the timeout, a change of the spec, and a
//! wake-up. A transition that a handler has chosen takes precedence over all of them except deletion.
mod enter;
mod failures;
mod gates;
mod limits;
mod objectives;
mod places;
mod reason;
mod render;
mod spec;
mod stay;
mod times;

use crate::{
    class::Class,
    field_value::FieldValue,
    graph::{Effects, Exit, Graph, OnDelete, OnSpecChange, Policy, StateId, StateKind, Watch},
    status::{Condition, EntryId},
};
pub use gates::opens;
use jiff::Timestamp;
use limits::RateLimiter;
pub use objectives::Ended;
pub use objectives::Measured;
use objectives::Measurement;
pub use places::{Claim, Place, Wish};
use reason::Reason;
pub use reason::{Cause, Moved};
use stay::Stay;
use std::{collections::BTreeMap, time::Duration};
use times::FiredTimeouts;
pub use times::{When, slot, when};

/// The most bytes of a request; it is limited because the status repeats it.
pub const LONGEST_REQUEST: usize = 256;

/// The current time, with the random numbers that the driver provides.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// The time since an origin of the driver's choice; it never goes back.
    pub elapsed: Duration,
    /// The time by the API server's clock.
    pub time: Timestamp,
    /// A fresh random number.
    pub random: u64,
    /// The random number of this process, which it writes to each [`Ask`](crate::status::Ask).
    pub leader: u64,
}

/// The next step of a driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The object has just taken an edge that the runtime chose. Decide again.
    Entered,
    /// Run the handler of the current state, once the status that the run depends on is written.
    Run,
    /// Do nothing until this time, or until something is observed.
    Wait(Option<Duration>),
    /// The machine has ended: release the object.
    Finish,
}

/// How a run of a handler ended.
#[derive(Debug)]
pub enum Outcome {
    /// The handler succeeded.
    Exit(Exit),
    /// The handler returned this error.
    Failed(Class, String),
    /// The handler was dropped: by a deletion, a timeout, or the end of the process.
    Interrupted,
}

/// The machine of one object. All times are [`Now::elapsed`].
#[derive(Clone, Debug)]
pub struct Engine<'g> {
    graph: &'g Graph<'g>,
    /// `None` if the machine does not know the stored state. The object is then left alone until it is deleted.
    at: Option<StateId>,
    stay: Stay,
    /// The message of the handler that is running.
    next_message: Option<Box<str>>,
    /// The decisions that are not stored. It is boxed because an object at rest has none.
    unstored: Option<Box<Unstored<'g>>>,
    /// How often each state that has a limit was entered.
    entries: BTreeMap<StateId, u32>,
    /// The measurements for objectives that are under way; `None` if there are none.
    #[allow(
        clippy::box_collection,
        reason = "objects at rest are many, and most have none"
    )]
    measured: Option<Box<Vec<Measurement>>>,
    /// The request of the annotation, if there is one.
    requested: Option<Box<str>>,
    /// The request that the running handler deals with.
    pinned_request: Option<Box<str>>,
    /// The last request that was dealt with.
    handled: Option<Box<str>>,
    /// The ask that the annotation approves; 0 if there is none.
    approved: u64,
    /// Whether the next status has to show that the object is paused.
    pausing: bool,
    /// The values of the fields that the graph refers to by number.
    field_values: Vec<Option<FieldValue>>,
    /// How many states the object has entered lately.
    rate: RateLimiter,
    /// The timeouts at points in time that have led from their states; `None` if there are none.
    fired: FiredTimeouts,
    deleting: bool,
    /// The state that deletion leads to, until it is entered.
    leave: Option<StateId>,
    /// The latest generation that was observed.
    generation: i64,
    /// The latest generation whose change has been applied to the machine.
    judged: i64,
    /// The latest generation whose change had been applied when the state was entered. The status remembers it as the
    /// generation of the condition `Reconciling`, so that no process applies a change twice, and none loses one.
    entered_for: i64,
    /// The digests of the spec, if the graph reacts to changes of single fields.
    spec: Option<Box<spec::SpecMemory>>,
    /// The generation that the last run started with.
    pinned: i64,
    /// The latest generation that a run has dealt with.
    observed: i64,
    finished: bool,
}

/// The decisions that the next write of the status stores or confirms.
#[derive(Clone, Debug, Default)]
struct Unstored<'g> {
    /// Conditions that were set before the object entered its state. They are part of the write of that
    /// entry: a later write would replace conditions that the state itself sets.
    set_before: Vec<Condition>,
    /// Conditions that were set after the object entered its state.
    set: Vec<Condition>,
    /// The entries since the last one that is known to be stored.
    moves: Vec<Moved<'g>>,
}

impl<'g> Engine<'g> {
    /// The state of the object; `None` if the machine does not know the stored state.
    pub fn at(&self) -> Option<StateId> {
        self.at
    }
    /// Identifies the current stay in the state.
    pub fn entry(&self) -> EntryId {
        self.stay.entry
    }
    /// Whether no run of the handler has ended in this stay.
    pub fn first_run(&self) -> bool {
        self.stay.runs == 0
    }
    /// 1 for the first attempt; one more after each consecutive failure.
    pub fn attempt(&self) -> u32 {
        self.stay.attempts.saturating_add(1)
    }
    /// Whether the object is being deleted.
    pub fn deleting(&self) -> bool {
        self.deleting
    }
    /// How long the object has been in its state, restarts of the process included.
    pub fn in_state_for(&self, now: Now) -> Duration {
        self.stay.before + now.elapsed.saturating_sub(self.stay.entered)
    }
    /// When the object entered its state, by the API server's clock.
    pub fn entered_at(&self) -> Timestamp {
        self.stay.entered_at
    }
    /// The graph that the object goes through.
    pub fn graph(&self) -> &'g Graph<'g> {
        self.graph
    }
    /// The policy of the state; `None` if the machine does not know the stored state.
    pub fn policy(&self) -> Option<&'g Policy<'g>> {
        self.at.map(|at| self.graph.state(at))
    }

    /// Whether the handler of the state is written. If not, only edges that the description takes by itself move the object.
    fn is_written(&self) -> bool {
        self.policy().is_none_or(|policy| policy.written)
    }

    /// Reports the current values of the fields that the graph refers to.
    pub fn saw_field_values(&mut self, values: Vec<Option<FieldValue>>) {
        // The limits granted places for the former values, for example a place in the former zone.
        self.stay.is_granted = self.stay.is_granted && self.field_values == values;
        self.field_values = values;
    }

    /// Reports the current value of the request annotation. A new value makes the handler run; a value longer
    /// than [`LONGEST_REQUEST`] is ignored.
    pub fn saw_request(&mut self, request: Option<&str>) {
        let request = request.filter(|request| request.len() <= LONGEST_REQUEST);
        if self.requested.as_deref() != request {
            self.requested = request.map(Into::into);
        }
    }

    /// Reports the approval annotation: the id of an ask, optionally followed by a space and any text.
    pub fn saw_approval(&mut self, approval: Option<&str>) {
        let id = approval.and_then(|text| text.split(' ').next());
        self.approved = id.and_then(|id| u64::from_str_radix(id, 16).ok()).unwrap_or(0);
    }

    /// Whether there is a request that no run has dealt with.
    fn is_requested(&self) -> bool {
        self.requested.is_some() && self.requested != self.handled
    }

    /// Sets whether the status says that the object is paused.
    pub fn set_pausing(&mut self, pausing: bool) {
        self.pausing = pausing;
    }

    /// Reports that the object is being deleted. Returns whether a running handler is to be dropped now.
    pub fn saw_deletion(&mut self) -> bool {
        if std::mem::replace(&mut self.deleting, true) {
            return false;
        }
        let Some(deletion) = self.graph.deletion else {
            return false;
        };
        let policy = self.policy();
        if policy.is_some_and(|p| p.deletion_path) {
            return false;
        }
        let on_delete = policy.map_or(OnDelete::Interrupt, |p| p.on_delete);
        self.leave = Some(if let OnDelete::To(state) = on_delete {
            state
        } else {
            deletion
        });
        on_delete != OnDelete::Wait
    }

    /// Reports a change that states can wait for under any of these names. If the current state does, its handler
    /// runs after the delay `after`.
    pub fn saw_change(&mut self, what: &[Watch], after: Duration, now: Now) {
        let Some(policy) = self.policy() else { return };
        // A failed run waits for its backoff, and a handler with `effects: once` must not run again.
        let ignores_changes = self.stay.attempts > 0 || policy.effects == Effects::Once;
        if !ignores_changes && what.iter().any(|what| policy.wait.watch.contains(what)) {
            let at = now.elapsed + after;
            self.stay.due = Some(self.stay.due.map_or(at, |due| due.min(at)));
        }
    }

    /// Reports that the deletion of the finished object was requested, so nothing is left to do.
    pub fn rest(&mut self) {
        (self.finished, self.stay.due) = (false, None);
    }

    /// Takes an edge on request of a person, where no handler is written. Returns whether it exists.
    pub fn take_by_hand(&mut self, to: StateId, now: Now) -> bool {
        let may_leave = self.leave.is_none() && !self.is_written();
        let has_edge = may_leave && self.at.is_some_and(|at| self.graph.has_edge(at, to));
        if has_edge {
            self.enter(to, Cause::ByHand, Reason::Evident, now);
        }
        has_edge
    }

    /// Decides what to do now. Takes the edges that the runtime chooses, one per call.
    pub fn decide(&mut self, now: Now) -> Decision {
        // This comes before `finished`: a machine that ended outside its deletion path still takes that path.
        if let Some(to) = self.leave.take() {
            self.enter(to, Cause::Deleted, Reason::Evident, now);
            return Decision::Entered;
        }
        if self.finished {
            return Decision::Finish;
        }
        if let Some(until) = self.machine_rests_until(now) {
            return Decision::Wait(self.before_objectives(until, now));
        }
        let Some(policy) = self.policy() else {
            return Decision::Wait(None);
        };
        if let (Some((_, to)), Some(end)) = (policy.timeout, self.deadline(now))
            && end.max(self.stay.not_before) <= now.elapsed
        {
            let reason = self.timed_out(policy, now);
            self.remember_timeout(policy, now);
            self.enter(to, Cause::TimedOut, reason, now);
            return Decision::Entered;
        }
        if self.spec_changed() && self.apply_spec_change(policy, now) {
            return Decision::Entered;
        }
        if self.is_requested() && policy.effects == Effects::Once && self.stay.has_begun {
            // The handler must not run again, so its request counts as handled without a run.
            self.handled.clone_from(&self.requested);
        }
        match self.machine_rests_until(now) {
            Some(until) => Decision::Wait(self.before_objectives(until, now)),
            None => Decision::Run,
        }
    }

    /// When the machine itself next has something to do, objectives aside; `None` if that is now.
    fn machine_rests_until(&self, now: Now) -> Option<Option<Duration>> {
        if self.finished || self.leave.is_some() {
            return None;
        }
        if self.at.is_none() || (self.deleting && self.graph.deletion.is_none()) {
            return Some(None);
        }
        let is_written = self.is_written();
        let runs = [self.stay.due, self.gate_opens(now)].map(|at| at.filter(|_| is_written));
        let next =
            (self.by_the_clock(now).chain(runs).flatten().min()).map(|at| at.max(self.stay.not_before));
        let due = next.is_some_and(|at| at <= now.elapsed)
            || self.spec_changed()
            || (is_written && self.is_requested());
        (!due).then_some(next)
    }

    /// Whether the spec has changed and the current state reacts to that. A state without a written handler
    /// leaves the change to the next state.
    fn spec_changed(&self) -> bool {
        if self.deleting || self.is_judged() {
            return false;
        }
        self.policy().is_some_and(|policy| {
            let wakes = || self.on_this_change(policy) == OnSpecChange::Wake;
            policy.effects != Effects::Once && (policy.written || !wakes())
        })
    }

    /// Applies the state's reaction to a change of the spec. Returns whether the state has changed.
    fn apply_spec_change(&mut self, policy: &Policy<'_>, now: Now) -> bool {
        let does = self.on_this_change(policy);
        self.judge();
        self.entries.clear();
        match does {
            OnSpecChange::Wake => {
                self.forget_failures();
                self.stay.due = Some(now.elapsed);
            }
            OnSpecChange::Ignore => {
                self.observed = self.generation;
                self.report_digests();
            }
            OnSpecChange::To(state) => {
                self.enter(state, Cause::SpecChanged, Reason::Evident, now);
                return true;
            }
        }
        false
    }

    /// Reports that a run of the handler begins. The run reconciles the latest generation.
    pub fn begin(&mut self) {
        (self.stay.due, self.stay.has_begun) = (None, true);
        self.pinned = self.generation;
        self.judge();
        self.pinned_request = self.requested.clone();
    }

    /// Reports the handler's message, which is that of the object's state after the run.
    pub fn set_message(&mut self, message: &str) {
        self.next_message = Some(message.into());
    }

    /// Reports conditions that the handler has set.
    pub fn set_conditions(&mut self, set: Vec<Condition>) {
        if !set.is_empty() {
            self.unstored.get_or_insert_default().set.extend(set);
        }
    }

    /// Reports that the rendered status is stored.
    pub fn written(&mut self) {
        if let Some(unstored) = &mut self.unstored {
            unstored.set_before.clear();
            unstored.set.clear();
        }
        self.stay.is_written = true;
        self.stay.stored_attempts = self.stay.attempts;
    }

    /// Reports how a run ended.
    pub fn ended(&mut self, outcome: Outcome, now: Now) {
        let Some(at) = self.at else { return };
        let policy = self.graph.state(at);
        if let Some(request) = self.pinned_request.take() {
            self.handled = Some(request);
        }
        if matches!(outcome, Outcome::Exit(_)) {
            // Another operator may have reconciled a later generation during this run.
            self.observed = self.observed.max(self.pinned);
            self.report_digests();
            self.forget_failures();
        }
        let words = self.next_message.take();
        let (outcome, words) = self.at_gate(outcome, words, now);
        if let (Outcome::Exit(Exit::To(to)), None) = (&outcome, self.leave) {
            if self.graph.state(*to).kind == StateKind::Ready {
                self.entries.remove(&at);
            }
            self.open_limits(now);
            let reason = words.map_or(Reason::Evident, Reason::OfHandler);
            return self.enter(*to, Cause::Handler, reason, now);
        }
        if words.is_some() {
            self.stay.message = words;
        }
        match outcome {
            // A deletion takes precedence over the state that the handler chose.
            Outcome::Exit(Exit::To(_)) => {}
            Outcome::Exit(Exit::Stay) => {
                self.stay.runs = self.stay.runs.saturating_add(1);
                self.stay.overdue = false;
                if self.stay.due.is_none() {
                    self.stay.due = self.poll(policy, now);
                }
            }
            Outcome::Exit(Exit::Done) => self.finished = true,
            Outcome::Interrupted => {
                let timed_out = self.deadline(now).is_some_and(|end| end <= now.elapsed);
                if policy.effects == Effects::Once && self.leave.is_none() && !timed_out {
                    let reason = self.interrupted(policy);
                    self.enter(policy.resume.unwrap_or(at), Cause::Interrupted, reason, now);
                } else if self.leave.is_none() && self.stay.due.is_none() {
                    self.stay.due = Some(now.elapsed);
                }
            }
            // Retrying is useless while the namespace is being deleted, because the object is deleted with it.
            Outcome::Failed(Class::NamespaceTerminating, _) if !policy.deletion_path => {
                self.stay.due = None;
            }
            Outcome::Failed(_, error) if policy.effects == Effects::Once => {
                let reason = Reason::OfRuntime(format!("failed in {}: {error}", policy.name));
                self.enter(policy.resume.unwrap_or(at), Cause::Failed, reason, now);
            }
            Outcome::Failed(class, error) => self.failed(policy, class, error, now),
        }
    }
}
