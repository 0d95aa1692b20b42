//! The state graph as data. It identifies states by number rather than by type, so one copy of the code that interprets
//! it serves every machine, and compile time hardly grows with the number of states.
//!
//! A graph borrows its parts. In generated code it is a constant; a graph that is built at run time borrows from the
//! owner of its states.
mod recurrence;
mod retry;
mod policy;

pub use policy::{Effects, OnDelete, OnSpecChange, Policy, SpecChange, StateKind, Times, Watch};
pub use recurrence::{Period, Recurrence, Text, Timeout, Window};
pub use retry::Retry;

use std::time::Duration;

/// The number of a state in its machine, counted from 0 in the order of the description.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StateId(pub u16);

/// The result of a successful run of a handler: a `Transition` without its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The object enters this state.
    To(StateId),
    /// The object stays until the wait of its state is over.
    Stay,
    /// The machine has ended.
    Done,
}

/// An objective for the time in which objects get from one state to another.
#[derive(Clone, Copy, Debug)]
pub struct Objective {
    /// The state in which the time begins.
    pub from: StateId,
    /// The state in which it ends.
    pub to: StateId,
    /// The maximum time.
    pub within: Duration,
}

impl Objective {
    /// Objects that enter the state `from` should enter the state `to` within this time.
    pub const fn new(from: StateId, to: StateId, within: Duration) -> Self {
        Self { from, to, within }
    }
}

/// The maximum number of objects of the kind in a set of states.
#[derive(Clone, Copy, Debug)]
pub struct Limit<'g> {
    /// Its name in messages.
    pub name: &'g str,
    /// The states. Moves among them need no place.
    pub states: &'g [StateId],
    /// The maximum number of objects in them.
    pub at_most: u32,
    /// The field whose values have separate counts: an index into the values of
    /// [`Engine::saw_field_values`](crate::engine::Engine::saw_field_values). `None` if all objects count together.
    pub per: Option<u16>,
}

impl<'g> Limit<'g> {
    /// At most this many objects are in these states.
    pub const fn new(name: &'g str, states: &'g [StateId], at_most: u32) -> Self {
        Self {
            name,
            states,
            at_most,
            per: None,
        }
    }
    /// The objects are counted separately for each value of a field.
    pub const fn per_field(mut self, field: u16) -> Self {
        self.per = Some(field);
        self
    }
    /// Whether an object needs a place of the limit to go from one state to another. A `from` of `None` is outside.
    pub fn is_entered(&self, from: Option<StateId>, to: StateId) -> bool {
        self.states.contains(&to) && !from.is_some_and(|from| self.states.contains(&from))
    }
}

/// The states of a machine, and the properties of the machine as a whole.
#[derive(Clone, Copy, Debug)]
pub struct Graph<'g> {
    /// All states, in the order of their numbers.
    pub states: &'g [Policy<'g>],
    /// The state that new objects enter.
    pub initial: StateId,
    /// The state that deleted objects enter.
    pub deletion: Option<StateId>,
    /// The finalizer that keeps a deleted object until its machine has ended.
    pub finalizer: &'g str,
    /// The types of the conditions that handlers set.
    pub conditions: &'g [&'g str],
    /// The objectives for the times between states.
    pub objectives: &'g [Objective],
    /// The limits for the numbers of objects in sets of states.
    pub limits: &'g [Limit<'g>],
    /// Whether any state has a phase.
    names_phases: bool,
}

impl<'g> Graph<'g> {
    /// A graph of these states. New objects enter `initial`, deleted ones `deletion`. `finalizer` is the finalizer
    /// that keeps a deleted object until its machine has ended, as `group/plural`.
    pub const fn new(
        states: &'g [Policy<'g>],
        initial: StateId,
        deletion: Option<StateId>,
        finalizer: &'g str,
    ) -> Self {
        let (mut names_phases, mut i) = (false, 0);
        while i < states.len() {
            names_phases |= states[i].phase.is_some();
            i += 1;
        }
        Self {
            states,
            initial,
            deletion,
            finalizer,
            conditions: &[],
            objectives: &[],
            limits: &[],
            names_phases,
        }
    }
    /// The types of the conditions that handlers set.
    pub const fn conditions(mut self, types: &'g [&'g str]) -> Self {
        self.conditions = types;
        self
    }
    /// The objectives for the times between states, for the metrics.
    pub const fn objectives(mut self, objectives: &'g [Objective]) -> Self {
        self.objectives = objectives;
        self
    }
    /// The limits for the numbers of objects in sets of states.
    pub const fn limits(mut self, limits: &'g [Limit<'g>]) -> Self {
        self.limits = limits;
        self
    }
    /// The name of an objective by its number. It consists of the names of its states, which no other objective has.
    pub fn objective_name(&self, number: usize) -> String {
        let Objective { from, to, .. } = self.objectives[number];
        format!("{}-{}", self.state(from).name, self.state(to).name)
    }
    /// The number of the objective with this name, which may contain former names of its states.
    pub fn objective(&self, name: &str) -> Option<usize> {
        let (from, to) = name.split_once('-')?;
        let (from, to) = (self.find(from)?, self.find(to)?);
        let mut objectives = self.objectives.iter();
        objectives.position(|objective| objective.from == from && objective.to == to)
    }
    /// The policy of a state.
    ///
    /// # Panics
    ///
    /// If the state does not belong to this graph.
    pub const fn state(&self, id: StateId) -> &'g Policy<'g> {
        &self.states[id.0 as usize]
    }
    /// The value of `.status.phase` in a state; `None` if no state of the graph has a phase.
    pub const fn phase_of(&self, policy: &Policy<'g>) -> Option<&'g str> {
        match policy.phase {
            None if self.names_phases => Some(policy.name),
            phase => phase,
        }
    }
    /// The paths of the fields of the spec whose changes states distinguish, sorted and without duplicates.
    pub fn watched_fields(&self) -> Vec<&'g str> {
        let changes = self.states.iter().flat_map(|state| state.on_spec_change_of);
        let mut paths: Vec<&str> = changes.flat_map(|change| change.of).copied().collect();
        paths.sort_unstable();
        paths.dedup();
        paths
    }
    /// Whether objects get the finalizer: if there is a deletion path, unless it has work and none of its handlers with
    /// work is written, because such an object could never be deleted.
    pub fn takes_finalizer(&self) -> bool {
        let mut works = self
            .states
            .iter()
            .filter(|s| s.deletion_path && s.has_work())
            .peekable();
        self.deletion.is_some() && (works.peek().is_none() || works.any(|s| s.written))
    }
    /// The same graph with other policies of its states.
    pub const fn with_states<'h>(&self, states: &'h [Policy<'h>]) -> Graph<'h>
    where
        'g: 'h,
    {
        Graph { states, ..*self }
    }
    /// The state with this name or, without one, the state that had this name before.
    pub fn find(&self, name: &str) -> Option<StateId> {
        let current = self.states.iter().position(|s| s.name == name);
        let former = || self.states.iter().position(|s| s.renamed_from.contains(&name));
        current
            .or_else(former)
            .and_then(|i| u16::try_from(i).ok())
            .map(StateId)
    }
    /// The API group of the objects, as in the finalizer. The annotations that control single objects begin with it.
    pub fn group(&self) -> &'g str {
        self.finalizer.split_once('/').map_or("", |(group, _)| group)
    }
    /// Whether the handler of the state `from` may choose the state `to`.
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
    /// Whether objects may have to wait before they enter a state.
    pub fn has_gate(&self, to: StateId) -> bool {
        let policy = self.state(to);
        let is_limited = || self.limits.iter().any(|limit| limit.states.contains(&to));
        policy.during.is_some() || policy.needs_approval || is_limited()
    }
    /// The types of the conditions besides the standard ones, sorted and without duplicates.
    pub fn own_conditions(&self) -> Vec<&'g str> {
        let of_states = self
            .states
            .iter()
            .flat_map(|s| s.conditions)
            .map(|(kind, _)| *kind);
        let mut types: Vec<&str> = self.conditions.iter().copied().chain(of_states).collect();
        types.retain(|kind| !STANDARD_CONDITIONS.contains(kind) && *kind != PAUSED);
        types.sort_unstable();
        types.dedup();
        types
    }
    /// Whether the machine maintains a condition of this type.
    pub fn sets_condition(&self, kind: &str) -> bool {
        STANDARD_CONDITIONS.contains(&kind) || kind == PAUSED || self.own_conditions().contains(&kind)
    }
}

/// The conditions of every object, which kstatus reads.
pub const STANDARD_CONDITIONS: [&str; 3] = ["Ready", "Reconciling", "Stalled"];

/// The condition of an object that an annotation has paused. Other objects do not have it.
pub const PAUSED: &str = "Paused";
