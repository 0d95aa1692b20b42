//! What happens next to one object: pure, without a clock, a cluster or a type of yours. A driver tells it what it
//! saw and asks what to do; `render` says what of it belongs into `.status`, `times` when something is due.
//!
//! When several things are due: deletion, timeout, spec change, wake-up, in this order. A transition that a
//! handler chose stands against all but deletion.
mod failures;
mod render;
mod times;

use crate::{
    Class, Effects, Exit, Graph, Kind, MachineStatus, OnDelete, OnSpecChange, Policy, StateId, Times, Told,
    Watch, conditions::SetCondition, graph::CORE_CONDITIONS,
};
use jiff::Timestamp;
use std::{collections::BTreeMap, time::Duration};

/// What the world gives to a decision.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    /// Since an origin of the driver's choice, monotonic.
    pub elapsed: Duration,
    /// The API server's time.
    pub time: Timestamp,
    /// Any number, another one each time.
    pub random: u64,
}

/// What a driver is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Do {
    /// The object has just taken an edge of the runtime's: look again.
    Entered,
    /// Run the handler of `at`, after what it rests on is written.
    Run,
    /// Nothing, until this time or until something is seen.
    Wait(Option<Duration>),
    /// The machine is over: let the object go.
    Finish,
}

/// How a run ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    Exit(Exit),
    Failed(Class, String),
    /// Dropped by deletion, a timeout or the end of the process.
    Interrupted,
}

/// After so many entries without a wait an object is slowed to one a second: a loop that the checker could not
/// see, through code that never stays.
const UNSLOWED_ENTRIES: u32 = 100;

#[derive(Clone, Debug)]
pub(crate) struct Engine {
    graph: &'static Graph,
    /// `None`: the stored state is none of this machine's. The object is left alone, but deletion takes its edge.
    at: Option<StateId>,
    entry: u64,
    entered: Duration,
    entered_at: Timestamp,
    /// How long the object had been in `at` before this process saw it.
    before: Duration,
    /// Runs of this state's handler that ended without an error.
    runs: u32,
    attempts: u32,
    /// Failures in a row as stored: what differs is still to be written.
    stored_attempts: u32,
    /// Replaces the state's message: a handler's, or the last error.
    message: Option<Box<str>>,
    /// What the handler that runs says instead.
    said: Option<Box<str>>,
    /// Conditions that handlers have set, until they are written.
    set: Vec<SetCondition>,
    entries: BTreeMap<StateId, u32>,
    /// What fields of the object say.
    told: Vec<Option<Told>>,
    due: Option<Duration>,
    /// The timeout ran out while nobody looked: it fires after the handler has run once and stayed.
    overdue: bool,
    /// Entries since the last wait.
    hops: u32,
    deleting: bool,
    leave: Option<StateId>,
    /// The latest generation seen, the one that the machine has taken notice of, the one that the last run
    /// started with, and the one that a run has dealt with.
    generation: i64,
    judged: i64,
    pinned: i64,
    observed: i64,
    finished: bool,
}

impl Engine {
    /// An object as stored: a new one, or one met after a restart. The handler of its state is due, for events
    /// were missed.
    pub fn new(
        graph: &'static Graph,
        stored: Option<&MachineStatus>,
        generation: i64,
        told: Vec<Option<Told>>,
        now: Now,
    ) -> Self {
        let mut engine = Self {
            graph,
            at: None,
            entry: 0,
            entered: now.elapsed,
            entered_at: now.time,
            before: Duration::ZERO,
            runs: 0,
            attempts: 0,
            stored_attempts: 0,
            message: None,
            said: None,
            set: Vec::new(),
            entries: BTreeMap::new(),
            told,
            due: None,
            overdue: false,
            hops: 0,
            deleting: false,
            leave: None,
            generation,
            judged: generation,
            pinned: generation,
            observed: -1,
            finished: false,
        };
        match stored.and_then(|s| Some((s, s.state.as_deref().filter(|name| !name.is_empty())?))) {
            None => engine.enter(graph.initial(), now),
            Some((stored, name)) => engine.resume(stored, graph.find(name), now),
        }
        engine
    }

    fn resume(&mut self, stored: &MachineStatus, found: Option<StateId>, now: Now) {
        self.observed = stored.observed_generation.unwrap_or(-1);
        let dealt_with_before = self.observed >= 0;
        self.judged = if dealt_with_before {
            self.observed
        } else {
            self.generation
        };
        for (name, count) in &stored.entries {
            if let Some(id) = self.graph.find(name) {
                self.entries.insert(id, *count);
            }
        }
        let Some(found) = found else { return };
        if let Some(elsewhere) = self.graph.state(found).resume {
            return self.enter(elsewhere, now);
        }
        self.at = Some(found);
        self.entry = stored
            .entry
            .as_deref()
            .and_then(|t| u64::from_str_radix(t, 16).ok())
            .unwrap_or(now.random);
        self.entered_at = stored.state_entered_at.unwrap_or(now.time);
        self.before = Duration::try_from(now.time.duration_since(self.entered_at)).unwrap_or_default();
        self.attempts = stored.attempts.unwrap_or(0);
        self.stored_attempts = self.attempts;
        self.message = self.words_of(stored);
        self.due = Some(now.elapsed);
        self.overdue = self.deadline(now).is_some_and(|end| end <= now.elapsed);
    }

    /// The object's state; `None` while it is parked.
    pub fn at(&self) -> Option<StateId> {
        self.at
    }
    /// The token of this stay in the state.
    pub fn entry(&self) -> String {
        format!("{:016x}", self.entry)
    }
    pub fn first_run(&self) -> bool {
        self.runs == 0
    }
    /// 1, and one more after each failure in a row.
    pub fn attempt(&self) -> u32 {
        self.attempts.saturating_add(1)
    }
    pub fn deleting(&self) -> bool {
        self.deleting
    }
    pub fn slowed(&self) -> bool {
        self.hops == UNSLOWED_ENTRIES
    }
    pub fn in_state_for(&self, now: Now) -> Duration {
        self.before + now.elapsed.saturating_sub(self.entered)
    }
    pub fn policy(&self) -> Option<&'static Policy> {
        self.at.map(|at| self.graph.state(at))
    }

    /// The object's fields say something else now.
    pub fn hear(&mut self, told: Vec<Option<Told>>) {
        self.told = told;
    }

    /// A generation was seen; it is judged when no handler runs.
    pub fn saw_generation(&mut self, generation: i64) {
        self.generation = generation;
    }

    /// The object is being deleted. `true`: a running handler is to be dropped now.
    pub fn saw_deletion(&mut self) -> bool {
        if std::mem::replace(&mut self.deleting, true) {
            return false;
        }
        let Some(deletion) = self.graph.deletion() else {
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

    /// Something changed that a state may wait for, by any of these names; it is noticed `after` a time.
    pub fn saw_change(&mut self, what: &[Watch], after: Duration, now: Now) {
        let Some(policy) = self.policy() else { return };
        // A failed run keeps its backoff, and an effect that may happen once has no second run.
        let deaf = self.attempts > 0 || policy.effects == Effects::Once;
        if !deaf && what.iter().any(|what| policy.wait.watch.contains(what)) {
            let at = now.elapsed + after;
            self.due = Some(self.due.map_or(at, |due| due.min(at)));
        }
    }

    /// The object was let go, and its deletion is still to be seen.
    pub fn rest(&mut self) {
        (self.finished, self.due) = (false, None);
    }

    /// What to do now. Takes the edges that belong to the runtime, one a call.
    pub fn decide(&mut self, now: Now) -> Do {
        // Before the end: a machine that is over elsewhere takes its deletion path all the same.
        if let Some(to) = self.leave.take() {
            self.enter(to, now);
            return Do::Entered;
        }
        if self.finished {
            return Do::Finish;
        }
        if let Some(until) = self.rests_until(now) {
            return Do::Wait(until);
        }
        let Some(policy) = self.policy() else {
            return Do::Wait(None);
        };
        if let (Some((_, to)), Some(end)) = (policy.timeout, self.deadline(now))
            && end <= now.elapsed
        {
            self.hops = 0;
            self.enter(to, now);
            return Do::Entered;
        }
        if self.spec_changed() && self.judge(policy, now) {
            return Do::Entered;
        }
        match self.rests_until(now) {
            Some(until) => Do::Wait(until),
            None => Do::Run,
        }
    }

    /// `Some` when nothing is due: until when, if time alone changes that.
    pub fn rests_until(&self, now: Now) -> Option<Option<Duration>> {
        if self.finished || self.leave.is_some() {
            return None;
        }
        if self.at.is_none() || (self.deleting && self.graph.deletion().is_none()) {
            return Some(None);
        }
        let next = [self.due, self.deadline(now)].into_iter().flatten().min();
        let due = next.is_some_and(|at| at <= now.elapsed) || self.spec_changed();
        (!due).then_some(next)
    }

    /// Whether there is a change of the spec to judge now.
    fn spec_changed(&self) -> bool {
        let once = self.policy().is_none_or(|p| p.effects == Effects::Once);
        !self.deleting && !once && self.generation != self.judged
    }

    /// Applies a change of the spec; `true` when the object has entered another state for it.
    fn judge(&mut self, policy: &Policy, now: Now) -> bool {
        self.judged = self.generation;
        self.entries.clear();
        match policy.on_spec_change {
            OnSpecChange::Wake => {
                self.forget_failures();
                self.due = Some(now.elapsed);
            }
            OnSpecChange::Ignore => self.observed = self.generation,
            OnSpecChange::To(state) => {
                self.enter(state, now);
                return true;
            }
        }
        false
    }

    /// A run of the handler begins: it deals with the generation seen last.
    pub fn begin(&mut self) {
        self.due = None;
        self.pinned = self.generation;
        self.judged = self.generation;
    }

    /// The handler says something else than the state's message, from the end of its run on.
    pub fn say(&mut self, message: &str) {
        self.said = Some(message.into());
    }

    /// The handler has set conditions.
    pub fn set_conditions(&mut self, set: Vec<SetCondition>) {
        self.set.extend(set);
    }

    /// What was rendered is stored.
    pub fn written(&mut self) {
        self.set.clear();
        self.stored_attempts = self.attempts;
    }

    /// How a run ended.
    pub fn ended(&mut self, outcome: Outcome, now: Now) {
        let Some(at) = self.at else { return };
        let policy = self.graph.state(at);
        if matches!(outcome, Outcome::Exit(_)) {
            self.observed = self.pinned;
            self.forget_failures();
        }
        if let Some(said) = self.said.take() {
            self.message = Some(said);
        }
        match outcome {
            Outcome::Exit(Exit::To(to)) => {
                if self.leave.is_none() {
                    if self.graph.state(to).kind == Kind::Ready {
                        self.entries.remove(&at);
                    }
                    self.enter(to, now);
                }
            }
            Outcome::Exit(Exit::Stay) => {
                self.runs = self.runs.saturating_add(1);
                (self.hops, self.overdue) = (0, false);
                if self.due.is_none() {
                    self.due = self.poll(policy, now);
                }
            }
            Outcome::Exit(Exit::Done) => self.finished = true,
            Outcome::Interrupted => {
                let timed_out = self.deadline(now).is_some_and(|end| end <= now.elapsed);
                if policy.effects == Effects::Once && self.leave.is_none() && !timed_out {
                    self.enter(policy.resume.unwrap_or(at), now);
                } else if self.leave.is_none() && self.due.is_none() {
                    self.due = Some(now.elapsed);
                }
            }
            // What can be made nowhere is not tried again: the object's own deletion comes next.
            Outcome::Failed(Class::NamespaceTerminating, _) if !policy.deletion_path => {
                self.due = None;
            }
            Outcome::Failed(_, error) if policy.effects == Effects::Once => {
                self.enter(policy.resume.unwrap_or(at), now);
                self.explain(error);
            }
            Outcome::Failed(class, error) => self.failed(policy, class, error, now),
        }
    }

    /// What a state that is left before it is written says of conditions is written with the next one.
    fn pass_conditions(&mut self) {
        let Some(policy) = self.policy().filter(|p| !p.checkpoint) else {
            return;
        };
        self.set.extend(
            policy
                .conditions
                .iter()
                .filter(|(kind, _)| !CORE_CONDITIONS.contains(kind))
                .map(|&(kind, status)| SetCondition {
                    kind,
                    status,
                    reason: policy.name.to_owned(),
                    message: policy.message.to_owned(),
                }),
        );
    }

    fn enter(&mut self, mut to: StateId, now: Now) {
        // Limits lead on at most once a state: a cycle of them ends after as many steps as there are states.
        for _ in self.graph.states() {
            let Some((times, then)) = self.graph.state(to).limit else {
                break;
            };
            let count = self.entries.entry(to).or_default();
            *count = count.saturating_add(1);
            let most = match times {
                Times::Fixed(times) => Some(times),
                Times::Told(field) => match self.told.get(usize::from(field)) {
                    Some(Some(Told::Number(times))) => Some(*times),
                    _ => None,
                },
            };
            if most.is_none_or(|most| *count <= most) {
                break;
            }
            to = then;
        }
        self.hops = self.hops.saturating_add(1);
        let slowed = self.hops >= UNSLOWED_ENTRIES;
        self.at = Some(to);
        self.entry = now.random;
        (self.entered, self.entered_at, self.before) = (now.elapsed, now.time, Duration::ZERO);
        (self.runs, self.attempts, self.message, self.overdue) = (0, 0, None, false);
        self.stored_attempts = 0;
        self.finished = false;
        self.pass_conditions();
        self.due = Some(
            now.elapsed
                + if slowed {
                    Duration::from_secs(1)
                } else {
                    Duration::ZERO
                },
        );
    }
}
