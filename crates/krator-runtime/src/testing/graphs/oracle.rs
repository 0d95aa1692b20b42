//! Checks the promises that hold under any fault, from the stored objects and the handlers that have run.
mod changes;
mod reports;
mod undisturbed;

use super::{
    edges::{self, leads},
    recorder::{Note, Recorder, Started, Stored},
};
use crate::{
    graph::{Effects, Exit, Graph, Policy, STANDARD_CONDITIONS, StateId, StateKind},
    status::{EntryId, MachineStatus},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

/// A disturbance during a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Disturbance {
    /// Only the events of the case.
    None,
    /// A write has a fault.
    Fault,
    /// A schedule of a search, where the spec may change at any time. With a second process, failures of
    /// both count.
    Schedule { two_processes: bool },
}

/// All problems of a walk.
pub(super) fn judge(graph: &Graph<'_>, recorder: &Recorder, disturbance: Disturbance) -> Vec<String> {
    let notes = recorder.notes();
    let two_processes = disturbance == Disturbance::Schedule { two_processes: true };
    let mut oracle = Oracle {
        graph,
        disturbed: disturbance != Disturbance::None,
        scheduled: matches!(disturbance, Disturbance::Schedule { .. }),
        two_processes,
        uncounted: two_processes,
        now: Duration::ZERO,
        stored: None,
        gone: false,
        attempts: recorder.case.attempts,
        running: None,
        last: None,
        over: false,
        changed: recorder.case.changed_before.is_some(),
        once: BTreeSet::new(),
        unstored: Vec::new(),
        since: BTreeMap::new(),
        conditions: BTreeMap::new(),
        unsure: BTreeMap::new(),
        wrong: Vec::new(),
    };
    for (at, note) in &notes {
        oracle.now = *at;
        oracle.read(note);
    }
    let mut wrong = oracle.wrong;
    wrong.extend(reports::judge(graph, &notes, disturbance));
    wrong.extend(changes::judge(graph, &notes));
    if disturbance == Disturbance::None {
        wrong.extend(undisturbed::judge(graph, &recorder.case, &notes));
    }
    wrong
}

/// Times that differ by at most this are considered equal.
const MOMENT: Duration = Duration::from_millis(50);

struct Oracle<'g> {
    graph: &'g Graph<'g>,
    /// Whether a fault is injected.
    disturbed: bool,
    now: Duration,
    /// Whether a schedule chooses what happens.
    scheduled: bool,
    /// Whether a second process replaces the first.
    two_processes: bool,
    /// Whether the script cannot determine how many failures count.
    uncounted: bool,
    /// The object as stored last.
    stored: Option<Stored>,
    gone: bool,
    /// Consecutive failures in this stay, as the script counts them.
    attempts: u32,
    /// The handler that is running.
    running: Option<Started>,
    /// The handler that was started last.
    last: Option<Started>,
    /// The handler of a final state has ended the machine, or failed.
    over: bool,
    /// The spec has changed.
    changed: bool,
    /// The stays of states whose effects may happen only once.
    once: BTreeSet<EntryId>,
    /// The stays on the deletion path since the last stored one: the deletion continues although writes fail.
    unstored: Vec<(StateId, EntryId)>,
    /// When each stay was stored first.
    since: BTreeMap<EntryId, Duration>,
    /// The conditions that states have set, as they should be stored.
    conditions: BTreeMap<&'g str, &'g str>,
    /// With two processes: the conditions that an unstored state has set since the last write. If the process of that
    /// state is the one that is replaced, they are not stored.
    unsure: BTreeMap<&'g str, &'g str>,
    wrong: Vec<String>,
}

impl<'g> Oracle<'g> {
    fn found(&mut self, holds: bool, otherwise: impl FnOnce() -> String) {
        if !holds {
            self.wrong.push(otherwise());
        }
    }

    fn read(&mut self, note: &Note) {
        match note {
            Note::Stored(stored) => self.read_stored(stored),
            Note::Gone => {
                let held = self.stored.as_ref().is_some_and(|stored| stored.held);
                let must_end = self.graph.deletion.is_some();
                self.found(!held || !must_end || self.over, || {
                    "the object is gone before its machine was over".to_owned()
                });
                self.gone = true;
            }
            Note::Started(started) => self.read_start(started),
            Note::Ended(exit) => {
                self.running = None;
                let is_final = self.last.as_ref().map(|last| self.graph.state(last.state).kind);
                self.over = is_final == Some(StateKind::Final) && matches!(exit, Some(Exit::Done) | None);
                self.attempts = if exit.is_none() { self.attempts + 1 } else { 0 };
            }
            Note::Dropped => self.running = None,
            Note::Moved { .. } => {}
            Note::Died => {
                self.running = None;
                let status = self.stored.as_ref().and_then(|stored| stored.status.clone());
                // The next process continues the stored stay.
                if let (Some(last), Some(entry)) = (&mut self.last, status.as_ref().and_then(|s| s.entry)) {
                    last.entry = entry;
                }
                self.attempts = status.as_ref().and_then(|s| s.attempts).unwrap_or(0);
                self.conditions = self
                    .graph
                    .own_conditions()
                    .into_iter()
                    .filter_map(|kind| Some((kind, known(&condition(status.as_ref()?, kind)?)?)))
                    .collect();
            }
        }
    }

    fn read_start(&mut self, started: &Started) {
        let policy = self.graph.state(started.state);
        let name = policy.name;
        self.found(policy.written, || {
            format!("the handler of {name} runs, which nobody has written")
        });
        self.found(!self.gone, || {
            format!("the handler of {name} runs for an object that is gone")
        });
        self.found(self.running.is_none(), || format!("two handlers at once: {name}"));
        let Some(stored) = self.stored.clone() else { return };
        self.found(
            !self.graph.takes_finalizer() || stored.deleting || stored.held,
            || format!("the handler of {name} runs before the finalizer is set"),
        );
        self.found(!stored.deleting || policy.deletion_path, || {
            format!("the handler of {name} is started for an object that is being deleted")
        });
        self.found(stored.deleting == started.deleting, || {
            format!(
                "the handler of {name} is told `deleting() == {}`",
                started.deleting
            )
        });
        let status = stored.status.unwrap_or_default();
        let is_stored = status.entry == Some(started.entry);
        // On the deletion path a handler runs even if the status cannot be written.
        let may_be_ahead = !policy.checkpoint || (policy.deletion_path && self.disturbed);
        self.found(is_stored || may_be_ahead, || {
            format!("the handler of {name} runs before its state is stored")
        });
        if is_stored {
            let since = self.since.get(&started.entry).copied().unwrap_or_default();
            let (reported, actual) = (started.in_state_for, self.now.saturating_sub(since));
            // A fault may delay the write, but not the entry itself.
            let is_right = reported + MOMENT >= actual && (self.disturbed || reported <= actual + MOMENT);
            self.found(is_right, || {
                format!("the handler of {name} is told that it is there for {reported:?}, not {actual:?}")
            });
            self.found(status.state.as_deref() == Some(name), || {
                format!("the handler of {name} runs in the state {:?}", status.state)
            });
        }
        // The stay is new unless a handler has run in it, or the object was found in it.
        let is_new = match &self.last {
            Some(last) => last.entry != started.entry,
            None => !is_stored,
        };
        if is_new {
            self.enter(policy, is_stored);
            if !is_stored && self.disturbed && policy.deletion_path {
                self.unstored.push((started.state, started.entry));
            }
            self.attempts = 0;
        }
        let may_run = policy.effects != Effects::Once || self.once.insert(started.entry);
        self.found(may_run, || {
            format!("the handler of {name} runs twice for one entry")
        });
        // A write whose response was lost is attributed to another process, and steps after it without a write are
        // repeated.
        let stored = status.attempts.unwrap_or(0);
        let goes_back = self.disturbed && !policy.checkpoint && is_stored;
        if goes_back && started.attempt == stored + 1 {
            self.attempts = stored;
        }
        let (attempts, uncounted) = (self.attempts, self.uncounted);
        self.found(uncounted || started.attempt == attempts + 1, || {
            format!(
                "the handler of {name} is told that this is attempt {}, after {attempts} failures",
                started.attempt
            )
        });
        // If a state need not be stored before its handler runs, the last failure may be missing when a write fails.
        if !may_be_ahead || (is_stored && !self.disturbed) {
            self.found(uncounted || stored == attempts, || {
                format!("the handler of {name} runs with {stored} attempts stored, after {attempts} failures")
            });
        }
        self.over = false;
        self.last = Some(started.clone());
        self.running = Some(started.clone());
    }

    /// Records the conditions that a state sets when it is entered.
    fn enter(&mut self, policy: &Policy<'g>, is_stored: bool) {
        let own = policy
            .conditions
            .iter()
            .filter(|(kind, _)| !STANDARD_CONDITIONS.contains(kind));
        let may_be_lost = self.two_processes && !is_stored;
        let conditions = if may_be_lost {
            &mut self.unsure
        } else {
            &mut self.conditions
        };
        conditions.extend(own.copied());
    }

    fn read_stored(&mut self, now: &Stored) {
        if let Some(entry) = now.status.as_ref().and_then(|status| status.entry) {
            self.since.entry(entry).or_insert(self.now);
        }
        let Some(before) = self.stored.replace(now.clone()) else {
            return;
        };
        if before.held && !now.held {
            self.found(
                now.deleting && (self.over || self.graph.deletion.is_none()),
                || "the finalizer is lost".to_owned(),
            );
        }
        if before.generation != now.generation {
            // A change of the spec, or the deletion, resets the number of consecutive failures.
            self.attempts = 0;
            self.changed = true;
            // Only the process can determine whether a failure precedes the change or follows it.
            self.uncounted |= self.scheduled;
        }
        let (Some(status), former) = (&now.status, before.status.unwrap_or_default()) else {
            return;
        };
        if *status == former {
            return;
        }
        let name = status.state.as_deref().unwrap_or_default();
        let Some(state) = now.state else {
            return self
                .wrong
                .push(format!("the stored state `{name}` does not exist"));
        };
        let policy = self.graph.state(state);
        if status.entry == former.entry {
            self.found(status.state == former.state, || {
                format!("{name} is stored without an entry of its own")
            });
            self.found(status.state_entered_time == former.state_entered_time, || {
                format!("stateEnteredTime of {name} moves")
            });
        } else {
            self.read_entry(state, status, (before.state, &former));
        }
        self.found(status.observed_generation >= former.observed_generation, || {
            format!(
                "observedGeneration falls from {:?} to {:?}",
                former.observed_generation, status.observed_generation
            )
        });
        self.found(status.phase.as_deref() == self.graph.phase_of(policy), || {
            format!("the phase of {name} is {:?}", status.phase)
        });
        let failures = match &self.last {
            Some(last) if status.entry == Some(last.entry) => Some(self.attempts),
            _ if status.entry != former.entry => Some(0),
            _ => None,
        };
        let attempts = status.attempts.unwrap_or(0);
        if let Some(failures) = failures.filter(|_| !self.uncounted) {
            self.found(attempts == failures, || {
                format!("{attempts} attempts of {name} are stored after {failures} failures")
            });
        }
        self.read_conditions(policy, status, &former);
    }

    /// The states that can be stored next after `from`.
    fn leads(&self, from: Option<StateId>) -> BTreeSet<StateId> {
        match self.scheduled {
            true => edges::leads_at_any_time(self.graph, from, self.disturbed),
            false => leads(self.graph, from, self.disturbed),
        }
    }

    /// Checks a stay that is stored for the first time.
    fn read_entry(
        &mut self,
        state: StateId,
        status: &MachineStatus,
        (from, former): (Option<StateId>, &MachineStatus),
    ) {
        let policy = self.graph.state(state);
        let name = policy.name;
        let known = self
            .last
            .as_ref()
            .is_some_and(|last| status.entry == Some(last.entry));
        if !known {
            self.enter(policy, true);
        }
        self.found(self.leads(from).contains(&state), || {
            format!("the graph has no edge from {:?} to {name}", former.state)
        });
        let asked = former.ask.as_ref().is_some_and(|ask| ask.to == name);
        let may_enter = from.is_none_or(|from| {
            edges::leads_without_asking(self.graph, from, self.disturbed).contains(&state)
        });
        self.found(asked || may_enter, || {
            format!("{name} is entered, and nothing was stored that asks for a place in it")
        });
        self.found(status.state_entered_time >= former.state_entered_time, || {
            format!("{name} was entered before the state before it")
        });
        let count = |status: &MachineStatus| status.entries.get(name).copied().unwrap_or(0);
        let unstored = std::mem::take(&mut self.unstored);
        let passed = unstored
            .iter()
            .filter(|(at, entry)| *at == state && status.entry != Some(*entry));
        let before = count(former) + passed.map(|_| 1).sum::<u32>();
        self.found(count(status) <= before + 1, || {
            format!("one entry of {name} counts as {}", count(status) - before)
        });
        // A change of the spec resets the counts, even between the entry and its first write.
        self.found(
            policy.limit.is_none() || count(status) > 0 || self.changed,
            || format!("an entry of {name} is not counted"),
        );
    }

    fn read_conditions(&mut self, policy: &Policy<'_>, status: &MachineStatus, former: &MachineStatus) {
        // Apart from its texts, a state whose handler is not written looks like a failed one.
        let shown_kind = if policy.written {
            policy.kind
        } else {
            StateKind::Failed
        };
        let stalled = status
            .conditions
            .iter()
            .find(|condition| condition.kind == "Stalled");
        let says_so = stalled.is_some_and(|stalled| stalled.reason == "NotWritten");
        self.found(says_so != policy.written, || {
            format!("the object in {} says {stalled:?}", policy.name)
        });
        let retrying = status.attempts > Some(0) && shown_kind != StateKind::Failed;
        let of_kind = match shown_kind {
            StateKind::Working | StateKind::Final => "Reconciling",
            StateKind::Ready => "Ready",
            StateKind::Failed => "Stalled",
        };
        let is_true = if retrying { "Reconciling" } else { of_kind };
        let mut expected: BTreeMap<&str, String> = STANDARD_CONDITIONS
            .iter()
            .map(|kind| (*kind, if *kind == is_true { "True" } else { "False" }.to_owned()))
            .collect();
        let own = policy
            .conditions
            .iter()
            .filter(|(kind, _)| STANDARD_CONDITIONS.contains(kind) && !retrying);
        for (kind, set) in own {
            let kept = || condition(former, kind).unwrap_or_else(|| "Unknown".to_owned());
            expected.insert(kind, if *set == "keep" { kept() } else { (*set).to_owned() });
        }
        for kind in self.graph.own_conditions() {
            let unsure = self.unsure.remove_entry(kind);
            let is_set = unsure.filter(|(_, set)| condition(status, kind).as_deref() == Some(set));
            self.conditions.extend(is_set);
            let set = self.conditions.get(kind).copied().unwrap_or("Unknown");
            expected.insert(kind, set.to_owned());
        }
        for (kind, expected) in expected {
            let stored = condition(status, kind);
            self.found(stored.as_ref() == Some(&expected), || {
                format!(
                    "the condition {kind} is {stored:?} in {}, not {expected}",
                    policy.name
                )
            });
        }
    }
}

fn condition(status: &MachineStatus, kind: &str) -> Option<String> {
    let found = status
        .conditions
        .iter()
        .find(|condition| condition.kind == kind)?;
    Some(found.status.clone().into_owned())
}

fn known(status: &str) -> Option<&'static str> {
    ["True", "False", "Unknown"]
        .into_iter()
        .find(|known| *known == status)
}
