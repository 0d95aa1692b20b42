//! The state graph, with defaults filled in and everything inherited resolved.

use std::collections::BTreeSet;
use std::time::Duration;

use super::{Allow, Gate, Period, StateId, Timeout};
use crate::finding::{Span, Spanned};
use crate::names::{ConditionName, StateName};

use super::FieldPath;
use super::resource::ObjectKind;

/// The parts of `machine` that belong to the whole graph. The rest is resolved into the states that inherit it.
#[derive(Debug, Clone, PartialEq)]
pub struct Machine {
    /// The mapping under `machine`.
    pub span: Span,
    /// The state of a new object.
    pub initial: Spanned<StateId>,
    /// The state of a deleted object; with it, objects carry a finalizer.
    pub deletion: Option<Spanned<StateId>>,
    /// The states at which the deletion path begins: `deletion` and the states that `onDelete` names.
    pub deletion_entries: BTreeSet<StateId>,
}

/// A state.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// Its name; the span is the key's.
    pub name: Spanned<StateName>,
    /// The purpose of the state.
    pub doc: Option<Spanned<String>>,
    /// The value of `.status.phase`; see [`Self::shown_phase`].
    pub phase: Option<Spanned<String>>,
    /// `.status.message` on entry.
    pub message: Option<Spanned<String>>,
    /// The kind of the state.
    pub kind: Spanned<StateKind>,
    /// States that the handler may choose.
    pub next: Vec<Next>,
    /// Present when the handler may stay; `ready` and `failed` states have it by default.
    pub wait: Option<Wait>,
    /// The transition after a time.
    pub timeout: Option<Timeout>,
    /// The policy after a handler's error; none in a state with `effects: once`, which goes to `resume`.
    pub retry: Option<Retry>,
    /// The reactions to changes of some fields of the spec: the first of these with a changed field decides.
    pub on_spec_change_of: Vec<SpecChange>,
    /// The reaction to any other change of the spec.
    pub on_spec_change: Spanned<OnSpecChange>,
    /// The reaction to deletion.
    pub on_delete: Spanned<OnDelete>,
    /// The number of times that the handler may run.
    pub effects: Spanned<Effects>,
    /// The state that a restarted operator enters, if another.
    pub resume: Option<Spanned<StateId>>,
    /// The number of times that the state may be entered.
    pub limit: Option<Limit>,
    /// The times in which the state may be entered.
    pub gate: Option<Gate>,
    /// Conditions set on entry besides Ready, Reconciling and Stalled.
    pub conditions: Vec<ConditionSetting>,
    /// The three conditions that every state has.
    pub standard_conditions: StandardConditions,
    /// Whether `.status` is written before the handler runs.
    pub checkpoint: Spanned<bool>,
    /// Earlier names.
    pub renamed_from: Vec<Spanned<StateName>>,
    /// Set if no object can enter the state; the span is that of the word.
    pub legacy: Option<Span>,
    /// Cluster in diagrams.
    pub group: Option<Spanned<String>>,
    /// The accepted findings of the state.
    pub allow: Vec<Allow>,
    /// Whether the state is on the deletion path: reached from `deletion` or from a state that `onDelete` names.
    pub on_deletion_path: bool,
    /// Some edge of the state failed to parse and was reported, so rules must not conclude anything from missing edges.
    pub lacks_edges: bool,
}

impl State {
    /// The names under which objects may be stored in the state: its own, and its former ones.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let former = self.renamed_from.iter().map(|name| name.as_str());
        std::iter::once(self.name.as_str()).chain(former)
    }

    /// Whether the state had this name before, by its `renamedFrom`.
    pub fn was(&self, name: &str) -> bool {
        self.renamed_from.iter().any(|former| former.as_str() == name)
    }

    /// Whether each entry into the state has to be approved.
    pub fn needs_approval(&self) -> bool {
        self.gate.as_ref().is_some_and(|gate| gate.approval.is_some())
    }

    /// Whether `allow` of the state silences a rule.
    pub fn allows(&self, rule: &str) -> bool {
        self.allow.iter().any(|allow| allow.rule.value == rule)
    }

    /// Whether the handler may stay.
    pub fn may_stay(&self) -> bool {
        self.wait.is_some()
    }

    /// Whether the state needs handwritten work: in a ready or failed state without outgoing edges objects rest, and a
    /// final state ends the machine.
    pub fn has_work(&self) -> bool {
        match self.kind.value {
            StateKind::Working => true,
            StateKind::Ready | StateKind::Failed => !self.next.is_empty(),
            StateKind::Final => false,
        }
    }

    /// All reactions to changes of the spec, at their places in the description.
    pub fn on_any_spec_change(&self) -> impl Iterator<Item = Spanned<OnSpecChange>> {
        let of_fields = self.on_spec_change_of.iter().map(|change| change.does);
        of_fields.chain([self.on_spec_change])
    }

    /// The reaction to a change of this field alone.
    pub fn on_change_of(&self, path: &FieldPath) -> Spanned<OnSpecChange> {
        let concerns = |change: &&SpecChange| change.of.iter().any(|of| of.value.covers(path));
        let decides = self.on_spec_change_of.iter().find(concerns);
        decides.map_or(self.on_spec_change, |change| change.does)
    }

    /// The value of `.status.phase` in a kind that has phases: by default the name of the state.
    pub fn shown_phase(&self) -> &str {
        self.phase
            .as_ref()
            .map_or(self.name.as_str(), |phase| phase.as_str())
    }

    /// The phase, if it differs from the name of the state.
    pub fn own_phase(&self) -> Option<&str> {
        Some(self.shown_phase()).filter(|phase| *phase != self.name.as_str())
    }
}

/// The kind of a state, which gives its conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StateKind {
    /// The operator is at work; the object is not ready yet.
    Working,
    /// The object matches its spec.
    Ready,
    /// The operator cannot continue without a change from outside.
    Failed,
    /// The end of the machine: the object is removed.
    Final,
}

impl StateKind {
    /// The word of the language.
    pub fn as_str(self) -> &'static str {
        match self {
            StateKind::Working => "working",
            StateKind::Ready => "ready",
            StateKind::Failed => "failed",
            StateKind::Final => "final",
        }
    }
}

/// A state that the handler may choose.
#[derive(Debug, Clone, PartialEq)]
pub struct Next {
    /// The state.
    pub to: Spanned<StateId>,
    /// Label of the edge.
    pub when: Option<Spanned<String>>,
}

/// The waiting of a handler that may stay in the state: the causes for its next run.
#[derive(Debug, Clone, PartialEq)]
pub struct Wait {
    /// The mapping; for a default, the state's name.
    pub span: Span,
    /// The time from one run to the next.
    pub poll: Option<Spanned<Period>>,
    /// The sources whose changes run the handler again; owned and watched objects by default.
    pub watch: Vec<Spanned<WatchSource>>,
    /// Whether the description has `wait`; otherwise it is the default for the kind of state.
    pub is_written: bool,
}

/// A source of changes that wake a waiting handler.
#[derive(Debug, Clone, PartialEq)]
pub enum WatchSource {
    /// The object itself: labels, annotations, or status that other clients write.
    Itself,
    /// All of `owns`.
    Owned,
    /// All of `watches`.
    Watched,
    /// One kind of these.
    Kind(ObjectKind),
}

/// The policy after a handler's error.
#[derive(Debug, Clone, PartialEq)]
pub struct Retry {
    /// The number of retries; always [`RetryLimit::Unlimited`] without `then`, except in `final` states.
    pub limit: Spanned<RetryLimit>,
    /// The first delay.
    pub initial: Spanned<Duration>,
    /// The factor between one delay and the next.
    pub factor: Spanned<f64>,
    /// The longest delay.
    pub max: Spanned<Duration>,
    /// The state after the limit; a `final` state has none: exceeding its limit ends the machine.
    pub then: Option<Spanned<StateId>>,
}

/// The number of retries of a failing handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryLimit {
    /// Without limit.
    Unlimited,
    /// This many retries.
    Times(u32),
}

/// A reaction to a change of the spec.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnSpecChange {
    /// Run the handler of the current state again.
    Wake,
    /// Does nothing.
    Ignore,
    /// Go to the state, or enter it anew.
    Enter(StateId),
}

/// A reaction to changes of some fields of the spec.
#[derive(Debug, Clone, PartialEq)]
pub struct SpecChange {
    /// The fields; none is an item of a list.
    pub of: Vec<Spanned<FieldPath>>,
    /// The reaction to their change.
    pub does: Spanned<OnSpecChange>,
}

/// The reaction to deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OnDelete {
    /// Whether to wait for the end of a running handler instead of interrupting it.
    pub waits: bool,
    /// The state that a deleted object goes to; none without `deletion`, and on the deletion path itself.
    pub to: Option<StateId>,
}

/// The number of times that a handler may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effects {
    /// Any number of times: again after a crash, an error or a wake.
    Idempotent,
    /// At most once per entry.
    Once,
}

/// The number of times that a state may be entered.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// The number of times.
    pub times: Spanned<Times>,
    /// The state that the object goes to after the limit.
    pub then: Spanned<StateId>,
}

/// A number, or an integer field with the number.
#[derive(Debug, Clone, PartialEq)]
pub enum Times {
    /// The number.
    Number(u32),
    /// An integer field.
    Field(FieldPath),
}

/// A condition that a state sets on entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConditionSetting {
    /// Its type.
    pub name: Spanned<ConditionName>,
    /// Its status.
    pub status: Spanned<ConditionStatus>,
}

/// The status of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConditionStatus {
    /// `"True"`.
    True,
    /// `"False"`.
    False,
    /// `Unknown`.
    Unknown,
}

impl ConditionStatus {
    /// As Kubernetes writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            ConditionStatus::True => "True",
            ConditionStatus::False => "False",
            ConditionStatus::Unknown => "Unknown",
        }
    }
}

/// Ready, Reconciling and Stalled, by the kind of the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StandardConditions {
    /// Ready.
    pub ready: Ready,
    /// Reconciling.
    pub reconciling: bool,
    /// Stalled.
    pub stalled: bool,
}

/// The effect of an entry on the condition Ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ready {
    /// `"True"`.
    True,
    /// `"False"`.
    False,
    /// Leaves it unchanged.
    Keep,
}

impl StandardConditions {
    /// The conditions by which kstatus computes the status of such a state.
    pub fn of(kind: StateKind) -> Self {
        let (ready, reconciling, stalled) = match kind {
            StateKind::Working | StateKind::Final => (Ready::False, true, false),
            StateKind::Ready => (Ready::True, false, false),
            StateKind::Failed => (Ready::False, false, true),
        };
        StandardConditions {
            ready,
            reconciling,
            stalled,
        }
    }
}

/// The time that objects should take from one state to another.
#[derive(Debug, Clone, PartialEq)]
pub struct Objective {
    /// The mapping.
    pub span: Span,
    /// The names of both states joined with a `-`, unique within the kind.
    pub name: String,
    /// The clock starts with an entry into this state.
    pub from: Spanned<StateId>,
    /// The clock stops with an entry into this state.
    pub to: Spanned<StateId>,
    /// The time that an object may take.
    pub within: Spanned<Duration>,
    /// The percentage of objects that should reach the state in time.
    pub objective: Spanned<f64>,
}

/// A requirement on the graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Property {
    /// The mapping.
    pub span: Span,
    /// The requirement.
    pub kind: PropertyKind,
    /// Whether paths may include changes of the spec.
    pub spec_changes: bool,
}

/// The forms of a property.
#[derive(Debug, Clone, PartialEq)]
pub enum PropertyKind {
    /// There is a path from each of these states.
    CanReach {
        /// The start of the paths.
        from: StateSet,
        /// The end of the paths.
        to: Spanned<StateId>,
    },
    /// There is no path.
    Never {
        /// The start of the path.
        from: Spanned<StateId>,
        /// The end of the path.
        to: Spanned<StateId>,
    },
    /// Every path from `initial` to the state passes through another one.
    Only {
        /// The state.
        state: Spanned<StateId>,
        /// The state to pass through.
        through: Spanned<StateId>,
    },
    /// Every path reaches the state.
    LeadsTo {
        /// The state.
        state: Spanned<StateId>,
        /// The start of the paths.
        from: StateSet,
    },
}

impl PropertyKind {
    /// The states that the property names.
    pub fn named(&self) -> Vec<StateId> {
        let set = |from: &StateSet| match from {
            StateSet::All => Vec::new(),
            StateSet::These(states) => states.iter().map(|state| state.value).collect(),
        };
        match self {
            PropertyKind::CanReach { from, to: state } | PropertyKind::LeadsTo { state, from } => {
                let mut named = set(from);
                named.push(state.value);
                named
            }
            PropertyKind::Never { from, to } => vec![from.value, to.value],
            PropertyKind::Only { state, through } => vec![state.value, through.value],
        }
    }
}

/// A set of states.
#[derive(Debug, Clone, PartialEq)]
pub enum StateSet {
    /// `"*"`: all states that objects enter without a deletion, and the others too if the property names one of them.
    All,
    /// The listed states.
    These(Vec<Spanned<StateId>>),
}
