//! Records the events of one walk, in order. The world and the handlers write the record, the oracle reads it.
use super::{
    case::{Case, Goal},
    edges::{resumed, within_limits},
};
use crate::{
    engine,
    graph::{Exit, Graph, StateId},
    lock::Lock as _,
    status::{EntryId, MachineStatus},
};
use std::{collections::BTreeMap, sync::Mutex, time::Duration};
use tokio::{sync::Notify, time::Instant};

/// One event.
#[derive(Clone, Debug)]
pub(super) enum Note {
    /// This object was stored.
    Stored(Box<Stored>),
    /// The object is gone.
    Gone,
    /// An entry into a state was reported, with the names of the states.
    Moved {
        from: Option<String>,
        to: String,
        entry: EntryId,
        cause: engine::Cause,
    },
    /// A handler started.
    Started(Started),
    /// A handler ended; `None` if it returned an error.
    Ended(Option<Exit>),
    /// A handler was dropped at an await point.
    Dropped,
    /// The process died. The next one begins with the stored object.
    Died,
}

/// The object as stored.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stored {
    pub generation: i64,
    pub deleting: bool,
    /// Whether the finalizer is set.
    pub held: bool,
    /// The fields of the spec that the graph distinguishes, by their paths.
    pub spec: BTreeMap<String, u32>,
    /// The state that the status names.
    pub state: Option<StateId>,
    pub status: Option<MachineStatus>,
}

/// A handler at its start, with the data of its context.
#[derive(Clone, Debug)]
pub(super) struct Started {
    pub state: StateId,
    pub entry: EntryId,
    pub attempt: u32,
    pub in_state_for: Duration,
    pub deleting: bool,
}

/// The record of one walk.
pub(super) struct Recorder {
    pub case: Case,
    disturbed: bool,
    origin: Instant,
    notes: Mutex<Vec<(Duration, Note)>>,
    /// Notified when the process has to die.
    pub dies: Notify,
    /// Notified with each note: the goal may be reached.
    pub reached: Notify,
}

impl Note {
    /// The line of the note in messages.
    pub fn describe(&self, graph: &Graph<'_>) -> String {
        match self {
            Note::Stored(stored) => {
                let status = stored.status.as_ref();
                let state = status.and_then(|s| s.state.as_deref()).unwrap_or("nothing");
                let entry = status.and_then(|s| s.entry).map(|entry| entry.to_string());
                let entry = entry.unwrap_or_default();
                let attempts = status.and_then(|s| s.attempts).unwrap_or_default();
                let (held, deleting) = (stored.held, stored.deleting);
                let (generation, spec) = (stored.generation, stored.spec.values().collect::<Vec<_>>());
                let observed = status.and_then(|s| s.observed_generation).unwrap_or_default();
                format!(
                    "stored: {state} {entry}, attempts {attempts}, held {held}, deleting {deleting}, generation {generation} \
                     of {observed}, spec {spec:?}"
                )
            }
            Note::Gone => "gone".to_owned(),
            Note::Moved {
                from,
                to,
                entry,
                cause,
            } => format!("reported: {from:?} to {to}, {entry}, {cause:?}"),
            Note::Started(started) => {
                format!("{} runs, {}", graph.state(started.state).name, started.entry)
            }
            Note::Ended(exit) => format!("ended: {exit:?}"),
            Note::Dropped => "dropped".to_owned(),
            Note::Died => "the process dies".to_owned(),
        }
    }
}

impl Recorder {
    /// `disturbed` means that a fault is injected.
    pub fn new(case: Case, disturbed: bool) -> Self {
        Self {
            case,
            disturbed,
            origin: Instant::now(),
            notes: Mutex::default(),
            dies: Notify::new(),
            reached: Notify::new(),
        }
    }

    pub fn notes(&self) -> Vec<(Duration, Note)> {
        self.notes.locked().clone()
    }

    pub fn note(&self, note: Note) {
        self.notes.locked().push((self.origin.elapsed(), note));
        self.reached.notify_one();
    }

    /// Notes the stored object, if it has changed.
    pub fn saw(&self, stored: Option<Stored>) {
        let is_known = self.notes.locked().iter().rev().find_map(|(_, note)| match note {
            Note::Stored(last) => Some(stored.as_ref() == Some(&**last)),
            Note::Gone => Some(stored.is_none()),
            _ => None,
        });
        if is_known != Some(true) {
            self.note(stored.map_or(Note::Gone, |stored| Note::Stored(Box::new(stored))));
        }
    }

    /// The state whose handler was started last.
    pub fn last_started(&self) -> Option<StateId> {
        self.notes.locked().iter().rev().find_map(|(_, note)| match note {
            Note::Started(started) => Some(started.state),
            _ => None,
        })
    }

    /// Whether a handler runs for the first time in this stay.
    pub fn is_first(&self, entry: EntryId) -> bool {
        let notes = self.notes.locked();
        let mut starts = notes
            .iter()
            .filter(|(_, note)| matches!(note, Note::Started(started) if started.entry == entry));
        starts.nth(1).is_none()
    }

    /// The number of starts of the handler of a state.
    pub fn starts(&self, state: StateId) -> usize {
        let notes = self.notes.locked();
        let starts = notes
            .iter()
            .filter(|(_, note)| matches!(note, Note::Started(started) if started.state == state));
        starts.count()
    }

    /// Whether the object has reached the goal of the case.
    pub fn arrived(&self, graph: &Graph<'_>) -> bool {
        let case = &self.case;
        let Some(from) = case.route.last().copied() else {
            return true;
        };
        // Changes before the start of the operator take effect before any handler runs.
        let (mut runs, enough) = (
            0,
            usize::from(case.changed_before.is_none() && case.runs != Some(0)),
        );
        let (mut died, mut deleting, mut stored_in) = (false, false, Vec::new());
        // An edge from a state to itself is taken when the state is entered again, not when its handler runs again.
        let mut stay = None;
        self.notes.locked().iter().any(|(_, note)| match note {
            Note::Died => {
                died = true;
                false
            }
            Note::Gone => case.goal == Goal::Gone,
            Note::Stored(stored) => {
                deleting = stored.deleting;
                let status = stored.status.as_ref();
                stored_in.extend(stored.state);
                if enough == 0 && stay.is_none() {
                    stay = status.and_then(|status| status.entry);
                }
                let seen = status.and_then(|status| status.observed_generation);
                seen.is_some_and(|seen| case.goal == Goal::Observed(seen))
            }
            Note::Started(start) => {
                let (before, is_anew) = (runs, stay != Some(start.entry));
                if start.state == from {
                    runs += 1;
                    stay = Some(start.entry);
                }
                let reached = match case.goal {
                    Goal::Again => before > 0 && start.state == from,
                    Goal::Started(to) => start.state == to && before >= enough && is_anew,
                    Goal::Observed(_) | Goal::Rest | Goal::Gone => false,
                };
                // A new process may resume in another state, and its entries count. On the deletion path, which
                // continues although writes fail, a write whose response was lost is attributed to another process.
                let is_new_process =
                    died || (self.disturbed && deleting && graph.state(start.state).deletion_path);
                let to = match case.goal {
                    Goal::Started(to) => Some(to),
                    _ => None,
                };
                let mut found = stored_in
                    .iter()
                    .filter_map(|found: &StateId| graph.state(*found).resume);
                let leads = |at: StateId| within_limits(graph, at).contains(&start.state);
                let resumes = found.any(|at| resumed(graph, at).into_iter().any(leads));
                reached || (is_new_process && resumes) || (died && is_anew && to.is_some_and(leads))
            }
            Note::Moved { .. } | Note::Ended(_) | Note::Dropped => false,
        })
    }
}
