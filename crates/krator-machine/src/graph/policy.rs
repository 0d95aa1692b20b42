//! The part of the description about one state, as data that the engine interprets.
use super::{Period, Recurrence, Retry, StateId, Timeout, Window};
use serde::Serialize;
use std::time::Duration;

/// The part of the description about one state.
///
/// Generated code builds policies as constants; the builder methods are named after the keys of `krator.yaml`. A
/// policy borrows its text and lists, so a graph can also be built at run time.
#[derive(Clone, Copy, Debug)]
pub struct Policy<'g> {
    /// Its name in `.status.state`.
    pub name: &'g str,
    /// Its former names, which stored objects may still have.
    pub renamed_from: &'g [&'g str],
    /// The value of `.status.phase`; `None` for the name, or for no phase.
    pub phase: Option<&'g str>,
    /// The value of `.status.message` until a handler sets another message.
    pub message: &'g str,
    /// Its meaning for users.
    pub kind: StateKind,
    /// The states that its handler may choose.
    pub next: &'g [StateId],
    /// The triggers of further runs of its handler.
    pub wait: Wait<'g>,
    /// The timeout of the state, and its target.
    pub timeout: Option<(Timeout<'g>, StateId)>,
    /// The reaction to failures of its handler.
    pub retry: Retry,
    /// The maximum number of consecutive entries, and the state that objects enter after them.
    pub limit: Option<(Times, StateId)>,
    /// The times in which objects may enter it; `None` if they always may.
    pub during: Option<Window<'g>>,
    /// Whether an entry into it needs an approval.
    pub needs_approval: bool,
    /// Whether its handler may run more than once in a stay.
    pub effects: Effects,
    /// The state that objects enter after an interrupted run, if the handler runs only once.
    pub resume: Option<StateId>,
    /// The reaction to a change of the spec.
    pub on_spec_change: OnSpecChange,
    /// The reaction to a change of some fields of the spec.
    pub on_spec_change_of: &'g [SpecChange<'g>],
    /// The reaction to a deletion.
    pub on_delete: OnDelete,
    /// Whether only deleted objects enter it.
    pub deletion_path: bool,
    /// The conditions of the kind that it sets, each with its status.
    pub conditions: &'g [(&'g str, &'g str)],
    /// Whether the state is stored before its handler runs.
    pub checkpoint: bool,
    /// The file of the handler, for messages; empty if it is unknown.
    pub file: &'g str,
    /// Whether the handler is written.
    pub written: bool,
}

/// The meaning of a state for users and for `kubectl wait`. It determines which standard condition is `True`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum StateKind {
    /// The object is being worked on: `Reconciling` is `True`.
    Working,
    /// The object is as its spec describes: `Ready` is `True`.
    Ready,
    /// The object needs attention: `Stalled` is `True`.
    Failed,
    /// The machine ends in this state: `Reconciling` is `True` until the object is gone.
    Final,
}

/// A number of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// Always this many.
    Fixed(u32),
    /// Read from a field of the object. The number is an index into the values of
    /// [`Engine::saw_field_values`](crate::engine::Engine::saw_field_values).
    FromField(u16),
}

/// The triggers of a further run of a handler that stayed.
#[derive(Clone, Copy, Debug)]
pub struct Wait<'g> {
    /// The handler runs again after this time.
    pub poll: Option<Period>,
    /// The handler runs again when one of these changes.
    pub watch: &'g [Watch],
}

/// A change that a state can wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// Another client changes the labels, the annotations or the status of the object.
    Itself,
    /// Any owned object changes.
    Owned,
    /// Any watched object changes.
    Watched,
    /// An owned or watched object of this kind changes. The kind is written as `group/version.Kind`, for example
    /// `batch/v1.Job`; the core group is omitted: `v1.ConfigMap`.
    Kind(&'static str),
}

/// Whether a handler may run more than once in one stay in its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effects {
    /// It may run more than once: after a crash, an error or a trigger.
    Idempotent,
    /// It runs at most once.
    Once,
}

/// The effect of a change of the spec on an object in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnSpecChange {
    /// The handler runs again.
    Wake,
    /// Nothing, except that `observedGeneration` is updated.
    Ignore,
    /// The object enters this state.
    To(StateId),
}

/// The effect of a change of some fields of the spec on an object in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpecChange<'g> {
    /// The paths of the fields: those of the [`SpecDigest`](crate::spec_digest::SpecDigest)s of the machine.
    pub of: &'g [&'g str],
    /// The effect of their change.
    pub does: OnSpecChange,
}

/// The effect of the deletion of an object on a running handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDelete {
    /// The handler is dropped at its next await point.
    Interrupt,
    /// The handler runs to its end.
    Wait,
    /// The handler is dropped, and the object enters this state instead of the machine's deletion state.
    To(StateId),
}

impl OnDelete {
    /// The state that a deleted object enters instead of the machine's deletion state.
    pub const fn to(self) -> Option<StateId> {
        match self {
            Self::To(state) => Some(state),
            Self::Interrupt | Self::Wait => None,
        }
    }
}

impl<'g> Policy<'g> {
    /// A working state without transitions.
    pub const fn new(name: &'g str) -> Self {
        Self {
            name,
            renamed_from: &[],
            phase: None,
            message: "",
            kind: StateKind::Working,
            next: &[],
            wait: Wait {
                poll: None,
                watch: &[],
            },
            timeout: None,
            retry: Retry::DEFAULT,
            limit: None,
            during: None,
            needs_approval: false,
            effects: Effects::Idempotent,
            resume: None,
            on_spec_change: OnSpecChange::Wake,
            on_spec_change_of: &[],
            on_delete: OnDelete::Interrupt,
            deletion_path: false,
            conditions: &[],
            checkpoint: true,
            file: "",
            written: true,
        }
    }
    /// Former names of the state: an object whose status stores one of them is in this state.
    pub const fn renamed_from(mut self, names: &'g [&'g str]) -> Self {
        self.renamed_from = names;
        self
    }
    /// The value of `.status.phase`. If any state of the graph has a phase, the phase of other states is their name;
    /// otherwise there is no such field.
    pub const fn phase(mut self, phase: &'g str) -> Self {
        self.phase = Some(phase);
        self
    }
    /// The value of `.status.message` when the state is entered.
    pub const fn message(mut self, message: &'g str) -> Self {
        self.message = message;
        self
    }
    /// The meaning of the state.
    pub const fn kind(mut self, kind: StateKind) -> Self {
        self.kind = kind;
        self
    }
    /// The states that the handler may choose.
    pub const fn next(mut self, next: &'g [StateId]) -> Self {
        self.next = next;
        self
    }
    /// Runs the handler again this long after it stayed.
    pub const fn poll(mut self, every: Duration) -> Self {
        self.wait.poll = Some(Period::Fixed(every));
        self
    }
    /// Runs the handler again after the time in a field.
    pub const fn poll_from_field(mut self, field: u16) -> Self {
        self.wait.poll = Some(Period::FromField(field));
        self
    }
    /// Runs the handler again when one of these changes.
    pub const fn watch(mut self, what: &'g [Watch]) -> Self {
        self.wait.watch = what;
        self
    }
    /// The object enters the state `to` after it has been in this one for `after`.
    pub const fn timeout(mut self, after: Duration, to: StateId) -> Self {
        self.timeout = Some((Timeout::After(Period::Fixed(after)), to));
        self
    }
    /// The object enters the state `to` after the time in a field, or at that time.
    pub const fn timeout_from_field(mut self, field: u16, to: StateId) -> Self {
        self.timeout = Some((Timeout::After(Period::FromField(field)), to));
        self
    }
    /// The object enters the state `to` at the first of these starts after its entry. A missed start is made up for
    /// until `deadline` after it, or without a time limit if there is no deadline.
    pub const fn timeout_at(mut self, starts: Recurrence<'g>, deadline: Option<Period>, to: StateId) -> Self {
        self.timeout = Some((Timeout::At(starts, deadline), to));
        self
    }
    /// The retries after errors of the handler.
    pub const fn retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }
    /// The state may be entered `times` times; after that, the object enters `then` instead.
    pub const fn limit(mut self, times: u32, then: StateId) -> Self {
        self.limit = Some((Times::Fixed(times), then));
        self
    }
    /// Like [`limit`](Self::limit), with the number from a field.
    pub const fn limit_from_field(mut self, field: u16, then: StateId) -> Self {
        self.limit = Some((Times::FromField(field), then));
        self
    }
    /// Objects enter the state only within a window. After a handler or a timeout has chosen the state, they wait in
    /// the state before it; deletions, changes of the spec, failures and limits do not wait.
    pub const fn during(mut self, window: Window<'g>) -> Self {
        self.during = Some(window);
        self
    }
    /// Entries into the state have to be approved, by an annotation with the [id of the ask](crate::status::Ask::id).
    /// The same entries wait as for a [window](Self::during).
    pub const fn needs_approval(mut self) -> Self {
        self.needs_approval = true;
        self
    }
    /// The handler runs at most once in one stay.
    pub const fn once(mut self) -> Self {
        self.effects = Effects::Once;
        self
    }
    /// An operator that starts and finds an object in this state moves it to the state `at`.
    pub const fn resume(mut self, at: StateId) -> Self {
        self.resume = Some(at);
        self
    }
    /// The effects of changes of some fields. The first item with a changed field applies and, without one,
    /// [`on_spec_change`](Self::on_spec_change).
    pub const fn on_spec_change_of(mut self, changes: &'g [SpecChange<'g>]) -> Self {
        self.on_spec_change_of = changes;
        self
    }
    /// The states that a change of the spec may lead to.
    pub fn spec_change_targets(&self) -> impl Iterator<Item = StateId> + use<'g> {
        let of_fields = self.on_spec_change_of.iter().map(|change| change.does);
        let all = of_fields.chain([self.on_spec_change]);
        all.filter_map(|does| match does {
            OnSpecChange::To(state) => Some(state),
            OnSpecChange::Wake | OnSpecChange::Ignore => None,
        })
    }
    /// The effect of a change of the spec.
    pub const fn on_spec_change(mut self, does: OnSpecChange) -> Self {
        self.on_spec_change = does;
        self
    }
    /// The effect of the deletion of the object.
    pub const fn on_delete(mut self, does: OnDelete) -> Self {
        self.on_delete = does;
        self
    }
    /// Only deleted objects enter this state.
    pub const fn deletion_path(mut self) -> Self {
        self.deletion_path = true;
        self
    }
    /// The conditions that are set when the state is entered, as pairs of type and status.
    pub const fn conditions(mut self, conditions: &'g [(&'g str, &'g str)]) -> Self {
        self.conditions = conditions;
        self
    }
    /// The status is not written before the handler runs.
    pub const fn no_checkpoint(mut self) -> Self {
        self.checkpoint = false;
        self
    }
    /// The file of the handler, and whether it is written: `State::WRITTEN`. An object stays in a state whose handler
    /// is not written until the timeout, a change of the spec or its deletion ends the stay.
    pub const fn handler(mut self, file: &'g str, written: bool) -> Self {
        (self.file, self.written) = (file, written);
        self
    }
    /// The message of the status if the handler is not written.
    pub fn not_written(&self) -> Option<String> {
        let (name, file) = (self.name, self.file);
        (!self.written).then(|| match file {
            "" => format!("the handler of {name} is not written"),
            _ => format!("the handler of {name} is not written: {file}"),
        })
    }
    /// Whether the state has work that only a handler can do: ready or failed states without exits rest, and final
    /// states end.
    pub const fn has_work(&self) -> bool {
        match self.kind {
            StateKind::Working => true,
            StateKind::Ready | StateKind::Failed => !self.next.is_empty(),
            StateKind::Final => false,
        }
    }
    /// Marks the states of a machine that deleted objects enter: all states that can be reached from `deletion`, or
    /// from a state that [`on_delete`](Self::on_delete) names. For machines that are written by hand.
    ///
    /// # Panics
    ///
    /// If `initial` is one of them, because a deleted object would begin again. In a constant, this is a compile error.
    pub const fn on_deletion_path<const N: usize>(
        mut states: [Self; N],
        initial: StateId,
        deletion: Option<StateId>,
    ) -> [Self; N] {
        if let Some(StateId(deletion)) = deletion {
            states[deletion as usize].deletion_path = true;
            let mut i = 0;
            while i < N {
                if let Some(StateId(to)) = states[i].on_delete.to() {
                    states[to as usize].deletion_path = true;
                }
                i += 1;
            }
        }
        // Each round marks at least one more state, unless all are marked.
        let mut round = 0;
        while round < N {
            let mut i = 0;
            while i < N {
                let from = states[i];
                if from.deletion_path {
                    let mut n = 0;
                    while n < from.next.len() {
                        states[from.next[n].0 as usize].deletion_path = true;
                        n += 1;
                    }
                    if let Some((_, StateId(to))) = from.timeout {
                        states[to as usize].deletion_path = true;
                    }
                    if let Some((_, StateId(to))) = from.limit {
                        states[to as usize].deletion_path = true;
                    }
                    if let Some(StateId(to)) = from.retry.then {
                        states[to as usize].deletion_path = true;
                    }
                    if let Some(StateId(to)) = from.resume {
                        states[to as usize].deletion_path = true;
                    }
                }
                i += 1;
            }
            round += 1;
        }
        assert!(
            !states[initial.0 as usize].deletion_path,
            "the deletion path leads back to the initial state"
        );
        states
    }
}
