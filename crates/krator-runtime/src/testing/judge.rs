//! What may never happen to an object, whatever goes wrong: read from what was stored and which handlers ran.
use super::{
    case::{Case, Goal},
    stage::{Note, Stage, Started, Stored},
    witness::Fault,
};
use crate::{
    Effects, Exit, Graph, Kind, MachineStatus, OnSpecChange, Policy, StateId, graph::CORE_CONDITIONS,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

/// Everything that is wrong with a walk.
pub(super) fn judge(stage: &Stage, fault: Option<Fault>) -> Vec<String> {
    let notes = stage.notes();
    let mut judge = Judge {
        graph: stage.case.graph,
        disturbed: fault.is_some(),
        now: Duration::ZERO,
        stored: None,
        gone: false,
        attempts: stage.case.attempts,
        running: None,
        last: None,
        over: false,
        once: BTreeSet::new(),
        since: BTreeMap::new(),
        conditions: BTreeMap::new(),
        wrong: Vec::new(),
    };
    for (at, note) in &notes {
        judge.now = *at;
        judge.read(note);
    }
    let mut wrong = judge.wrong;
    if fault.is_none() {
        wrong.extend(undisturbed(&stage.case, &notes));
    }
    wrong
}

/// Times are told apart by more than this.
const MOMENT: Duration = Duration::from_millis(50);

struct Judge {
    graph: &'static Graph,
    disturbed: bool,
    now: Duration,
    stored: Option<Stored>,
    gone: bool,
    /// Failures in a row of this stay, as the script counts them.
    attempts: u32,
    /// The handler that runs.
    running: Option<Started>,
    /// The handler that was started last, and how it ended.
    last: Option<Started>,
    /// A handler of a final state has said that the machine is over, or failed.
    over: bool,
    /// Entries of effects that may happen once.
    once: BTreeSet<String>,
    /// When entries were stored first.
    since: BTreeMap<String, Duration>,
    /// Conditions that states set, as they should be stored.
    conditions: BTreeMap<&'static str, &'static str>,
    wrong: Vec<String>,
}

impl Judge {
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
                let must_end = self.graph.deletion().is_some();
                self.found(!held || !must_end || self.over, || {
                    "the object is gone before its machine was over".to_owned()
                });
                self.gone = true;
            }
            Note::Started(started) => self.read_start(started),
            Note::Ended(exit) => {
                self.running = None;
                let is_final = self.last.as_ref().map(|last| self.graph.state(last.state).kind);
                self.over = is_final == Some(Kind::Final) && matches!(exit, Some(Exit::Done) | None);
                self.attempts = if exit.is_none() { self.attempts + 1 } else { 0 };
            }
            Note::Dropped => self.running = None,
            Note::Died => {
                self.running = None;
                let status = self.stored.as_ref().and_then(|stored| stored.status.clone());
                self.attempts = status.as_ref().and_then(|s| s.attempts).unwrap_or(0);
                self.conditions = self
                    .graph
                    .own_conditions()
                    .into_iter()
                    .filter_map(|kind| Some((kind, known(&condition(status.as_ref()?, kind)?)?)))
                    .collect();
                // Found with nothing stored, it enters the first state, if only to leave it for its deletion.
                let first = self.graph.state(self.graph.initial());
                if status.is_none_or(|status| status.state.is_none()) && !first.checkpoint {
                    self.enter(first);
                }
            }
        }
    }

    fn read_start(&mut self, started: &Started) {
        let policy = self.graph.state(started.state);
        let name = policy.name;
        self.found(!self.gone, || {
            format!("the handler of {name} runs for an object that is gone")
        });
        self.found(self.running.is_none(), || format!("two handlers at once: {name}"));
        let Some(stored) = self.stored.clone() else { return };
        self.found(
            self.graph.deletion().is_none() || stored.deleting || stored.held,
            || format!("the handler of {name} runs before the finalizer is set"),
        );
        self.found(!stored.deleting || policy.deletion_path, || {
            format!("the handler of {name} is started for an object that is being deleted")
        });
        self.found(stored.deleting == started.deleting, || {
            format!(
                "the handler of {name} is told that the object is being deleted: {}",
                started.deleting
            )
        });
        let status = stored.status.unwrap_or_default();
        let is_stored = status.entry.as_ref() == Some(&started.entry);
        // What is on its way out does not wait for its status.
        let may_be_ahead = !policy.checkpoint || (policy.deletion_path && self.disturbed);
        self.found(is_stored || may_be_ahead, || {
            format!("the handler of {name} runs before its state is stored")
        });
        if is_stored {
            let since = self.since.get(&started.entry).copied().unwrap_or_default();
            let (told, is) = (started.in_state_for, self.now.saturating_sub(since));
            // What is stored late was entered before.
            let is_right = told + MOMENT >= is && (self.disturbed || told <= is + MOMENT);
            self.found(is_right, || {
                format!("the handler of {name} is told that it is there for {told:?}, not {is:?}")
            });
            self.found(status.state.as_deref() == Some(name), || {
                format!("the handler of {name} runs in the state {:?}", status.state)
            });
        }
        // It is new unless a handler ran for it, or it was found.
        let is_new = match &self.last {
            Some(last) => last.entry != started.entry,
            None => !is_stored,
        };
        if is_new {
            self.enter(policy);
            self.attempts = 0;
        }
        let may_run = policy.effects != Effects::Once || self.once.insert(started.entry.clone());
        self.found(may_run, || {
            format!("the handler of {name} runs twice for one entry")
        });
        let attempts = self.attempts;
        self.found(started.attempt == attempts + 1, || {
            format!(
                "the handler of {name} is told that this is attempt {}, after {attempts} failures",
                started.attempt
            )
        });
        if is_stored || !may_be_ahead {
            let stored = status.attempts.unwrap_or(0);
            self.found(stored == attempts, || {
                format!("the handler of {name} runs with {stored} attempts stored, after {attempts} failures")
            });
        }
        self.over = false;
        self.last = Some(started.clone());
        self.running = Some(started.clone());
    }

    /// The conditions that a state sets, on entry.
    fn enter(&mut self, policy: &Policy) {
        let own = policy
            .conditions
            .iter()
            .filter(|(kind, _)| !CORE_CONDITIONS.contains(kind));
        self.conditions.extend(own.copied());
    }

    fn read_stored(&mut self, now: &Stored) {
        if let Some(entry) = now.status.as_ref().and_then(|status| status.entry.clone()) {
            self.since.entry(entry).or_insert(self.now);
        }
        let Some(before) = self.stored.replace(now.clone()) else {
            return;
        };
        if before.held && !now.held {
            self.found(
                now.deleting && (self.over || self.graph.deletion().is_none()),
                || "the finalizer is lost".to_owned(),
            );
        }
        if before.generation != now.generation {
            // A change of the spec, or the deletion, begins to count anew.
            self.attempts = 0;
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
                .push(format!("the state `{name}` is stored, which is none"));
        };
        let policy = self.graph.state(state);
        if status.entry == former.entry {
            self.found(status.state == former.state, || {
                format!("{name} is stored without an entry of its own")
            });
            self.found(status.state_entered_at == former.state_entered_at, || {
                format!("stateEnteredAt of {name} moves")
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
        self.found(status.phase.as_deref() == Some(policy.phase), || {
            format!("the phase of {name} is {:?}", status.phase)
        });
        let failures = match &self.last {
            Some(last) if status.entry.as_ref() == Some(&last.entry) => Some(self.attempts),
            _ if status.entry != former.entry => Some(0),
            _ => None,
        };
        let attempts = status.attempts.unwrap_or(0);
        if let Some(failures) = failures {
            self.found(attempts == failures, || {
                format!("{attempts} attempts of {name} are stored after {failures} failures")
            });
        }
        self.read_conditions(policy, status, &former);
    }

    /// A state that is stored for the first time.
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
            .is_some_and(|last| status.entry.as_ref() == Some(&last.entry));
        if !known {
            self.enter(policy);
        }
        self.found(leads(self.graph, from).contains(&state), || {
            format!("the graph has no way from {:?} to {name}", former.state)
        });
        self.found(status.state_entered_at >= former.state_entered_at, || {
            format!("{name} was entered before the state before it")
        });
        let count = |status: &MachineStatus| status.entries.get(name).copied().unwrap_or(0);
        self.found(count(status) <= count(former) + 1, || {
            format!("one entry of {name} counts as {}", count(status) - count(former))
        });
        self.found(policy.limit.is_none() || count(status) > 0, || {
            format!("an entry of {name} is not counted")
        });
    }

    fn read_conditions(&mut self, policy: &Policy, status: &MachineStatus, former: &MachineStatus) {
        let retrying = status.attempts > Some(0) && policy.kind != Kind::Failed;
        let of_kind = match policy.kind {
            Kind::Working | Kind::Final => "Reconciling",
            Kind::Ready => "Ready",
            Kind::Failed => "Stalled",
        };
        let is_true = if retrying { "Reconciling" } else { of_kind };
        let mut expected: BTreeMap<&str, String> = CORE_CONDITIONS
            .iter()
            .map(|kind| (*kind, if *kind == is_true { "True" } else { "False" }.to_owned()))
            .collect();
        let own = policy
            .conditions
            .iter()
            .filter(|(kind, _)| CORE_CONDITIONS.contains(kind) && !retrying);
        for (kind, said) in own {
            let kept = || condition(former, kind).unwrap_or_else(|| "Unknown".to_owned());
            expected.insert(
                kind,
                if *said == "keep" {
                    kept()
                } else {
                    (*said).to_owned()
                },
            );
        }
        for kind in self.graph.own_conditions() {
            let said = self.conditions.get(kind).copied().unwrap_or("Unknown");
            expected.insert(kind, said.to_owned());
        }
        for (kind, said) in expected {
            let stored = condition(status, kind);
            self.found(stored.as_ref() == Some(&said), || {
                format!(
                    "the condition {kind} is {stored:?} in {}, not {said}",
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
    Some(found.status.clone())
}

fn known(status: &str) -> Option<&'static str> {
    ["True", "False", "Unknown"]
        .into_iter()
        .find(|known| *known == status)
}

/// Where one edge leads from a state, or a few where states on the way are not stored, or full.
fn leads(graph: &Graph, from: Option<StateId>) -> BTreeSet<StateId> {
    let Some(from) = from else {
        return passing(graph, BTreeSet::from([graph.initial()]));
    };
    passing(graph, edges_of(graph, from))
}

fn edges_of(graph: &Graph, from: StateId) -> BTreeSet<StateId> {
    let policy = graph.state(from);
    let mut to: BTreeSet<StateId> = policy.next.iter().copied().collect();
    to.extend(policy.timeout.map(|(_, to)| to));
    to.extend(policy.retry.then);
    to.extend(policy.resume);
    if let OnSpecChange::To(state) = policy.on_spec_change {
        to.insert(state);
    }
    if !policy.deletion_path {
        to.extend(policy.on_delete.to().or(graph.deletion()));
        // A restarted operator looks first, and sees the deletion then.
        to.extend(policy.resume.and_then(|looks| graph.state(looks).on_delete.to()));
    }
    to
}

fn passing(graph: &Graph, reached: BTreeSet<StateId>) -> BTreeSet<StateId> {
    let (mut all, mut next) = (reached.clone(), Vec::from_iter(reached));
    while let Some(at) = next.pop() {
        let policy = graph.state(at);
        let mut on: BTreeSet<StateId> = policy.limit.map(|(_, then)| then).into_iter().collect();
        if !policy.checkpoint {
            on.extend(edges_of(graph, at));
        }
        next.extend(on.into_iter().filter(|state| all.insert(*state)));
    }
    all
}

/// What holds where nothing goes wrong: this way and no other, no handler more often than needed, and in time.
fn undisturbed(case: &Case, notes: &[(Duration, Note)]) -> Vec<String> {
    let mut wrong = Vec::new();
    let starts = notes.iter().filter_map(|(at, note)| match note {
        Note::Started(started) => Some((*at, started)),
        _ => None,
    });
    let starts: Vec<_> = starts.collect();
    let mut entered: Vec<(StateId, &str)> = starts.iter().map(|(_, s)| (s.state, s.entry.as_str())).collect();
    entered.dedup();
    let names = |ids: &mut dyn Iterator<Item = StateId>| -> Vec<&str> {
        ids.map(|id| case.graph.state(id).name).collect()
    };
    let way = names(&mut entered.iter().map(|(state, _)| *state));
    let from = case.route.last().copied();
    let skipped = case.runs == Some(0) || (case.changed_before && case.leaves());
    let mut expected = case.route.clone();
    if skipped {
        expected.pop();
    }
    if let Goal::Started(to) = case.goal {
        expected.push(to);
    }
    let expected = names(&mut expected.into_iter());
    if way != expected {
        wrong.push(format!("the way is {way:?}, not {expected:?}"));
    }
    let runs = starts
        .iter()
        .filter(|(_, start)| Some(start.state) == from)
        .count();
    let again = usize::from(matches!(case.goal, Goal::Started(to) if Some(to) == from));
    if let Some(expected) = case.runs
        && runs.checked_sub(again) != usize::try_from(expected).ok()
    {
        wrong.push(format!("the handler runs {runs} times, not {expected}"));
    }
    if let Some((least, most)) = case.stays {
        let first = starts.iter().find(|(_, start)| Some(start.state) == from);
        let begins = first.map_or(Duration::ZERO, |(at, _)| *at);
        let ends = notes.last().map_or(Duration::ZERO, |(at, _)| *at);
        let took = ends.saturating_sub(begins);
        if took < least || took > most + MOMENT {
            wrong.push(format!("it takes {took:?}, not {least:?} to {most:?}"));
        }
    }
    wrong
}
