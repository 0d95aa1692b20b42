//! The state graph as a static table. It knows ids, not types: one copy of the code that reads it serves all
//! machines, and a machine of a thousand states costs the compiler a constant.
use std::time::Duration;

/// The number of a state in its machine, in the order of the description.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StateId(pub u16);

/// All states of a machine, and what holds of the machine as a whole.
#[derive(Debug)]
pub struct Graph {
    states: &'static [Policy],
    initial: StateId,
    deletion: Option<StateId>,
    finalizer: &'static str,
    conditions: &'static [&'static str],
}

/// What the description says of one state. Built by generated code; the builder's methods are named after the
/// keys of the language.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    pub(crate) name: &'static str,
    pub(crate) renamed_from: &'static [&'static str],
    pub(crate) phase: &'static str,
    pub(crate) message: &'static str,
    pub(crate) kind: Kind,
    pub(crate) next: &'static [StateId],
    pub(crate) wait: Wait,
    pub(crate) timeout: Option<(Period, StateId)>,
    pub(crate) retry: Retry,
    pub(crate) limit: Option<(Times, StateId)>,
    pub(crate) effects: Effects,
    pub(crate) resume: Option<StateId>,
    pub(crate) on_spec_change: OnSpecChange,
    pub(crate) on_delete: OnDelete,
    pub(crate) deletion_path: bool,
    pub(crate) conditions: &'static [(&'static str, &'static str)],
    pub(crate) checkpoint: bool,
}

/// What a state means to people and to `kubectl wait`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// On the way to something.
    Working,
    /// As wanted.
    Ready,
    /// Somebody has to look.
    Failed,
    /// The machine ends here.
    Final,
}

/// A time: always the same, or told by a field of the object, by its place in [`Machine::told`](crate::Machine::told).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Period {
    /// Always this.
    Fixed(Duration),
    /// What this field says.
    Told(u16),
}

/// A number: always the same, or told by a field of the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// Always this.
    Fixed(u32),
    /// What this field says.
    Told(u16),
}

/// When a handler that stayed runs again.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    /// After this time.
    pub poll: Option<Period>,
    /// When one of these changes.
    pub watch: &'static [Watch],
}

/// What a waiting state listens to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// Labels, annotations or status of the object, changed by others.
    Itself,
    /// Any owned object.
    Owned,
    /// Any watched object.
    Watched,
    /// Owned or watched objects of this kind, as `group/version.Kind`.
    Kind(&'static str),
}

/// What happens after a handler's error.
#[derive(Clone, Copy, Debug)]
pub struct Retry {
    /// Failures in a row that are tried again; `None`: no limit.
    pub limit: Option<u32>,
    /// The delay after the first failure.
    pub initial: Duration,
    /// Each delay is so many times the one before.
    pub factor: f64,
    /// No delay is longer.
    pub max: Duration,
    /// Where the object goes when the limit is passed.
    pub then: Option<StateId>,
}

/// Whether a handler may run again for the same entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effects {
    /// It may: after a crash, an error, or a wake-up.
    Idempotent,
    /// At most once per entry.
    Once,
}

/// What a change of the spec does to an object in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnSpecChange {
    /// Runs the handler again.
    Wake,
    /// Nothing, but `observedGeneration` moves.
    Ignore,
    /// The object enters this state.
    To(StateId),
}

/// What deletion does to a running handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDelete {
    /// It is dropped at its next await.
    Interrupt,
    /// It may end.
    Wait,
    /// It is dropped, and the object goes to this state instead of the machine's.
    To(StateId),
}

impl OnDelete {
    /// The state that it names.
    pub(crate) const fn to(self) -> Option<StateId> {
        match self {
            Self::To(state) => Some(state),
            Self::Interrupt | Self::Wait => None,
        }
    }
}

impl Retry {
    /// Without a limit, from a second, doubling, to five minutes.
    pub const DEFAULT: Self = Self {
        limit: None,
        initial: Duration::from_secs(1),
        factor: 2.0,
        max: Duration::from_secs(300),
        then: None,
    };

    /// At most so many retries, then on to a state.
    pub const fn limit(mut self, limit: u32, then: StateId) -> Self {
        self.limit = Some(limit);
        self.then = Some(then);
        self
    }

    /// At most so many retries; for final states, which end after them.
    pub const fn at_most(mut self, limit: u32) -> Self {
        self.limit = Some(limit);
        self
    }

    /// The first delay, its growth, and its bound.
    pub const fn backoff(mut self, initial: Duration, factor: f64, max: Duration) -> Self {
        self.initial = initial;
        self.factor = factor;
        self.max = max;
        self
    }

    /// The delay after so many failures in a row, shortened by up to a tenth so that objects that failed
    /// together do not come back together. `random` is any number.
    pub(crate) fn delay(&self, failures: u32, random: u64) -> Duration {
        let exponent = i32::try_from(failures.saturating_sub(1)).unwrap_or(i32::MAX);
        let full = (self.initial.as_secs_f64() * self.factor.powi(exponent)).min(self.max.as_secs_f64());
        let part = (random >> 40) as f64 / (1u64 << 24) as f64;
        Duration::from_secs_f64(full * (1.0 - 0.1 * part))
    }
}

impl Policy {
    /// A working state that leads nowhere yet.
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            renamed_from: &[],
            phase: name,
            message: "",
            kind: Kind::Working,
            next: &[],
            wait: Wait {
                poll: None,
                watch: &[],
            },
            timeout: None,
            retry: Retry::DEFAULT,
            limit: None,
            effects: Effects::Idempotent,
            resume: None,
            on_spec_change: OnSpecChange::Wake,
            on_delete: OnDelete::Interrupt,
            deletion_path: false,
            conditions: &[],
            checkpoint: true,
        }
    }
    /// Names that the state had before.
    pub const fn renamed_from(mut self, names: &'static [&'static str]) -> Self {
        self.renamed_from = names;
        self
    }
    /// Shown to people as `.status.phase`.
    pub const fn phase(mut self, phase: &'static str) -> Self {
        self.phase = phase;
        self
    }
    /// `.status.message` on entry.
    pub const fn message(mut self, message: &'static str) -> Self {
        self.message = message;
        self
    }
    /// What the state means.
    pub const fn kind(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }
    /// States that the handler may choose.
    pub const fn next(mut self, next: &'static [StateId]) -> Self {
        self.next = next;
        self
    }
    /// Runs the handler again after this time.
    pub const fn poll(mut self, every: Duration) -> Self {
        self.wait.poll = Some(Period::Fixed(every));
        self
    }
    /// Runs the handler again when a field says.
    pub const fn poll_told(mut self, field: u16) -> Self {
        self.wait.poll = Some(Period::Told(field));
        self
    }
    /// Runs the handler again when one of these changes.
    pub const fn watch(mut self, what: &'static [Watch]) -> Self {
        self.wait.watch = what;
        self
    }
    /// Where the object goes when it has been here for so long.
    pub const fn timeout(mut self, after: Duration, to: StateId) -> Self {
        self.timeout = Some((Period::Fixed(after), to));
        self
    }
    /// Where the object goes when a field says that its time is up.
    pub const fn timeout_told(mut self, field: u16, to: StateId) -> Self {
        self.timeout = Some((Period::Told(field), to));
        self
    }
    /// What happens after an error.
    pub const fn retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }
    /// Where the object goes instead of entering this state once too often.
    pub const fn limit(mut self, times: u32, then: StateId) -> Self {
        self.limit = Some((Times::Fixed(times), then));
        self
    }
    /// The same, as often as a field says.
    pub const fn limit_told(mut self, field: u16, then: StateId) -> Self {
        self.limit = Some((Times::Told(field), then));
        self
    }
    /// The handler runs at most once per entry.
    pub const fn once(mut self) -> Self {
        self.effects = Effects::Once;
        self
    }
    /// Where a restarted operator goes that finds an object in here.
    pub const fn resume(mut self, at: StateId) -> Self {
        self.resume = Some(at);
        self
    }
    /// What a change of the spec does.
    pub const fn on_spec_change(mut self, does: OnSpecChange) -> Self {
        self.on_spec_change = does;
        self
    }
    /// What deletion does.
    pub const fn on_delete(mut self, does: OnDelete) -> Self {
        self.on_delete = does;
        self
    }
    /// The state is one of those that only a deleted object is in.
    pub const fn deletion_path(mut self) -> Self {
        self.deletion_path = true;
        self
    }
    /// Conditions set on entry, as type and status.
    pub const fn conditions(mut self, conditions: &'static [(&'static str, &'static str)]) -> Self {
        self.conditions = conditions;
        self
    }
    /// The status is not written before the handler runs.
    pub const fn no_checkpoint(mut self) -> Self {
        self.checkpoint = false;
        self
    }
}

impl Graph {
    /// A graph of these states. `finalizer` is what holds a deleted object, as `group/plural`.
    pub const fn new(
        states: &'static [Policy],
        initial: StateId,
        deletion: Option<StateId>,
        finalizer: &'static str,
    ) -> Self {
        Self {
            states,
            initial,
            deletion,
            finalizer,
            conditions: &[],
        }
    }
    /// Conditions that handlers set.
    pub const fn conditions(mut self, types: &'static [&'static str]) -> Self {
        self.conditions = types;
        self
    }
    /// What holds of a state. Panics on an id that is not of this graph.
    pub const fn state(&self, id: StateId) -> &'static Policy {
        &self.states[id.0 as usize]
    }
    /// All states, in the order of their ids.
    pub const fn states(&self) -> &'static [Policy] {
        self.states
    }
    /// Where a new object begins.
    pub const fn initial(&self) -> StateId {
        self.initial
    }
    /// Where a deleted object goes.
    pub const fn deletion(&self) -> Option<StateId> {
        self.deletion
    }
    /// What holds a deleted object until the machine is over.
    pub const fn finalizer(&self) -> &'static str {
        self.finalizer
    }
    /// The state of this name; failing that, the one that used to have it.
    pub fn find(&self, name: &str) -> Option<StateId> {
        let now = self.states.iter().position(|s| s.name == name);
        let then = || self.states.iter().position(|s| s.renamed_from.contains(&name));
        now.or_else(then).and_then(|i| u16::try_from(i).ok()).map(StateId)
    }
    /// Whether code may go from one to the other.
    pub const fn has_edge(&self, from: StateId, to: StateId) -> bool {
        let next = self.states[from.0 as usize].next;
        let mut i = 0;
        while i < next.len() {
            if next[i].0 == to.0 {
                return true;
            }
            i += 1;
        }
        false
    }
    /// The types of conditions beside the core ones, each once, in order.
    pub(crate) fn own_conditions(&self) -> Vec<&'static str> {
        let of_states = self
            .states
            .iter()
            .flat_map(|s| s.conditions)
            .map(|(kind, _)| *kind);
        let mut types: Vec<&str> = self.conditions.iter().copied().chain(of_states).collect();
        types.retain(|kind| !CORE_CONDITIONS.contains(kind));
        types.sort_unstable();
        types.dedup();
        types
    }
    /// Whether a condition of this type is kept by the machine.
    pub(crate) fn sets_condition(&self, kind: &str) -> bool {
        CORE_CONDITIONS.contains(&kind) || self.own_conditions().contains(&kind)
    }
}

/// The conditions that every object has, as kstatus reads them.
pub const CORE_CONDITIONS: [&str; 3] = ["Ready", "Reconciling", "Stalled"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_grow_to_their_bound_and_never_past_it() {
        let retry = Retry::DEFAULT.backoff(Duration::from_secs(1), 2.0, Duration::from_secs(5));
        let full: Vec<_> = (1..=5).map(|n| retry.delay(n, 0).as_secs()).collect();
        assert_eq!(full, [1, 2, 4, 5, 5]);
        assert_eq!(retry.delay(u32::MAX, 0), Duration::from_secs(5));
        assert!(retry.delay(1, u64::MAX) >= Duration::from_millis(900));
    }
}
