//! An oracle: it reads the history of a kind's objects from a watch, and finds violations of the description's graph.
//! It depends on the language, but not on the runtime.

mod approvals;
mod journal;
mod moves;
mod planted;
mod spec_changes;
mod status;

pub use journal::Journal;

use super::kstatus::{Reading, reading};
use crate::cluster::watch::Event;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use krator::model::{Effects, Kind, StateId, StateKind};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The maximum difference between two readings of the same moment: the runtime's clock is accurate to about two
/// seconds, and timestamps in objects have no fractions.
const TOLERANCE: SignedDuration = SignedDuration::from_secs(3);

/// Judges the objects of one kind.
pub struct Oracle {
    kind: Kind,
    finalizer: String,
    /// By uid.
    objects: BTreeMap<String, History>,
    /// By uid.
    objects_asks: BTreeMap<String, approvals::Asks>,
    /// All written entries of states, each with the uid of its object and its state.
    entries: HashMap<String, (String, StateId)>,
    /// The start times of operators.
    started: Vec<Timestamp>,
    /// Whether several operators work on the same objects, so that each finds states that another one has entered.
    contested: bool,
    /// Whether the handlers of ready states stay, so that only changes of the spec and deletion lead out of them.
    stays: bool,
    readings: BTreeSet<(StateId, Reading)>,
    /// By uid, findings about objects whose finalizer was removed in a state before the final one. They are reported
    /// only if the handler of the final state did not run: on the deletion path the runtime continues after a failed
    /// write of the status, so the final state need not have been seen.
    released_early: BTreeMap<String, String>,
    findings: Vec<String>,
    /// The number of writes that stored the judgement of a spec change.
    judged: usize,
    journal: Journal,
}

/// The history of one object.
#[derive(Default)]
struct History {
    /// The object after the last write.
    last: Value,
    had_finalizer: bool,
    gone: bool,
    /// The number of operator starts when it was last seen at rest.
    rested: usize,
    /// The spec of each generation.
    specs: BTreeMap<i64, Value>,
}

/// An object after one write.
#[derive(Clone, Copy)]
struct View<'a>(&'a Value);

impl<'a> View<'a> {
    fn text(self, pointer: &str) -> &'a str {
        self.0
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }
    fn number(self, pointer: &str) -> Option<i64> {
        self.0.pointer(pointer).and_then(Value::as_i64)
    }
    fn time(self, pointer: &str) -> Option<Timestamp> {
        self.text(pointer).parse().ok()
    }
    fn uid(self) -> &'a str {
        self.text("/metadata/uid")
    }
    fn name(self) -> &'a str {
        self.text("/metadata/name")
    }
    fn is_deleted(self) -> bool {
        !self.text("/metadata/deletionTimestamp").is_empty()
    }
    fn has_finalizer(self, name: &str) -> bool {
        let all = self.0["metadata"]["finalizers"].as_array();
        all.is_some_and(|all| all.iter().any(|finalizer| finalizer == name))
    }
    fn generation(self) -> i64 {
        self.number("/metadata/generation").unwrap_or_default()
    }
    fn observed(self) -> i64 {
        self.number("/status/observedGeneration").unwrap_or(-1)
    }
    fn entry(self) -> &'a str {
        self.text("/status/entry")
    }
    fn entered_at(self) -> Option<Timestamp> {
        self.time("/status/stateEnteredTime")
    }
    /// The number of entries into a state with a limit.
    fn entries_of(self, state: &str) -> i64 {
        let all = self.0["status"]["entries"].as_array().into_iter().flatten();
        let mut counts = all.filter(|entered| entered["state"] == state);
        counts
            .next()
            .and_then(|entered| entered["count"].as_i64())
            .unwrap_or_default()
    }
    /// The present state, and the one that the object asks to enter.
    fn asked_in(self, kind: &Kind) -> Option<(StateId, StateId)> {
        let state = |pointer| kind.state_named(self.text(pointer));
        Some((state("/status/state")?, state("/status/ask/to")?))
    }
    fn attempts(self) -> i64 {
        self.number("/status/attempts").unwrap_or_default()
    }
    /// The time of the last write by the clock of the API server, if the managed fields have it.
    fn written_at(self) -> Option<Timestamp> {
        let managers = self.0["metadata"]["managedFields"].as_array()?;
        let times = managers.iter().filter_map(|manager| manager["time"].as_str());
        times.filter_map(|time| time.parse().ok()).max()
    }
}

impl Oracle {
    /// An oracle for one kind of a description.
    pub fn new(kind: &Kind) -> Oracle {
        let (group, plural) = (kind.resource.group.as_str(), kind.resource.plural.as_str());
        Oracle {
            kind: kind.clone(),
            finalizer: format!("{group}/{plural}"),
            objects: BTreeMap::new(),
            objects_asks: BTreeMap::new(),
            entries: HashMap::new(),
            started: Vec::new(),
            contested: false,
            stays: false,
            readings: BTreeSet::new(),
            released_early: BTreeMap::new(),
            findings: Vec::new(),
            judged: 0,
            journal: Journal::new(),
        }
    }

    /// An oracle for objects that several operators work on.
    pub fn contested(kind: &Kind) -> Oracle {
        Oracle {
            contested: true,
            ..Oracle::new(kind)
        }
    }

    /// Declares that the handlers of ready states stay, because of the scripts of the objects.
    pub fn ready_objects_stay(&mut self) {
        self.stays = true;
    }

    /// Records the start of an operator at this time.
    pub fn operator_starts(&mut self, time: Timestamp) {
        self.started.push(time);
    }

    /// Judges the next write.
    pub fn see(&mut self, event: &Event) {
        let now = View(&event.object);
        let mut past = self.objects.remove(now.uid()).unwrap_or_default();
        let before = View(&past.last);
        let mut problems = Vec::new();
        if past.gone {
            problems.push("it is written after its end".to_owned());
        }
        past.specs
            .entry(now.generation())
            .or_insert_with(|| now.0["spec"].clone());
        past.had_finalizer |= now.has_finalizer(&self.finalizer);
        if event.deleted {
            self.judge_end(&past, now, &mut problems);
        } else {
            self.judge_finalizer(before, now, &mut problems);
        }
        if let Some(at) = self.state(now, &mut problems) {
            self.judge_limits(before, now, at, &mut problems);
            self.judge_entry(before, now, at, &mut problems);
            if !event.deleted {
                self.judged += usize::from(before.judged() > 0 && now.judged() > before.judged());
                if let Err(why) = self.judge_spec_change(&past.specs, before, now, at) {
                    problems.push(why);
                }
            }
            if self.kind.state(at).kind.value != StateKind::Working {
                past.rested = self.started.len();
            }
            // The last version of a deleted object is not a write of the operator.
            if !event.deleted {
                self.judge_status(before, now, at, &mut problems);
                self.readings.insert((at, reading(now.0)));
            }
        } else if self.state(before, &mut Vec::new()).is_some() {
            problems.push("its state is lost".to_owned());
        } else if reading(now.0) == Reading::Current {
            problems.push("kstatus takes it for ready before an operator has seen it".to_owned());
        }
        self.judge_ask(now, &mut problems);
        for problem in problems {
            self.report(now, &problem);
        }
        self.note(before, now, event.deleted);
        past.last = event.object.clone();
        past.gone = event.deleted;
        self.objects.insert(now.uid().to_owned(), past);
    }

    /// Judges the starts of handlers, after all writes were seen. Each line is a start: entry, state, uid, and more.
    pub fn check_handler_starts(&mut self, starts: &str) {
        let mut once: BTreeMap<&str, u32> = BTreeMap::new();
        for line in starts.lines() {
            let mut words = line.split(' ');
            let [Some(entry), Some(state), Some(uid)] = [(); 3].map(|()| words.next()) else {
                self.findings.push(format!("a start that cannot be read: {line}"));
                continue;
            };
            if !self.objects.contains_key(uid) {
                continue;
            }
            let Some(id) = self.kind.state_named(state) else {
                self.findings
                    .push(format!("a handler of an unknown state: {line}"));
                continue;
            };
            let policy = self.kind.state(id);
            if self.is_end(id) {
                self.released_early.remove(uid);
            }
            if policy.effects.value == Effects::Once {
                *once.entry(entry).or_default() += 1;
            }
            let known = self
                .entries
                .get(entry)
                .is_some_and(|known| *known == (uid.to_owned(), id));
            if !known && policy.checkpoint.value && !policy.on_deletion_path {
                let problem =
                    format!("the handler of {state} ran for an entry that was never written: {line}");
                self.findings.push(problem);
            }
        }
        self.findings
            .extend(std::mem::take(&mut self.released_early).into_values());
        for (entry, times) in once.into_iter().filter(|(_, times)| *times > 1) {
            let problem = format!("a handler that may run once has run {times} times for the entry {entry}");
            self.findings.push(problem);
        }
    }

    /// Panics if there are findings.
    pub fn assert_clean(&self) {
        let kind = self.kind.resource.kind.as_str();
        let first: Vec<&String> = self.findings.iter().take(20).collect();
        assert!(
            first.is_empty(),
            "the oracle found {} things about {kind}: {first:#?}",
            self.findings.len()
        );
    }

    /// The findings so far.
    pub fn findings(&self) -> &[String] {
        &self.findings
    }

    /// The kind of the judged objects.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// The number of objects that were seen.
    pub fn objects(&self) -> usize {
        self.objects.len()
    }

    /// The number of entries of states that were written.
    pub fn entries(&self) -> usize {
        self.entries.len()
    }

    /// Whether an object of this name was seen.
    pub fn has_seen(&self, name: &str) -> bool {
        self.objects.values().any(|past| View(&past.last).name() == name)
    }

    /// Whether each object is at rest, and the operator has handled its latest generation.
    pub fn has_caught_up(&self) -> bool {
        let mut all = self.objects.values();
        all.all(|past| past.gone || self.settled_in(View(&past.last)).is_some())
    }

    /// Whether an object of this name is gone, or at rest in a state that it does not leave by itself.
    pub fn has_settled(&self, name: &str, leaves: impl Fn(StateId) -> bool) -> bool {
        let mut named = self.objects.values().map(|past| (past, View(&past.last)));
        let found = named.find(|(_, last)| last.name() == name);
        found.is_some_and(|(past, last)| {
            let rests = !last.is_deleted() && self.settled_in(last).is_some_and(|at| !leaves(at));
            past.gone || rests
        })
    }

    /// The ready, failed or final state of an object whose latest generation the operator has handled.
    fn settled_in(&self, object: View) -> Option<StateId> {
        let is_observed = object.generation() == object.observed();
        self.rests_in(object).filter(|_| is_observed)
    }

    /// The ready, failed or final state of an object.
    fn rests_in(&self, object: View) -> Option<StateId> {
        let at = self.kind.state_named(object.text("/status/state"))?;
        (self.kind.state(at).kind.value != StateKind::Working).then_some(at)
    }

    /// The number of writes that stored the judgement of a spec change.
    pub fn judged(&self) -> usize {
        self.judged
    }

    /// The statuses of objects by kstatus, with their states.
    pub fn readings(&self) -> &BTreeSet<(StateId, Reading)> {
        &self.readings
    }

    /// The existing objects that were in no ready, failed or final state since the last start of an operator, or whose
    /// deletion was not handled.
    pub fn restless(&self) -> Vec<String> {
        let is_restless = |past: &&History| {
            let last = View(&past.last);
            let at = self.kind.state_named(last.text("/status/state"));
            let is_noticed = at.is_none_or(|at| self.kind.state(at).on_deletion_path);
            let has_rested = past.rested >= self.started.len() || self.rests_in(last).is_some();
            !past.gone && (!has_rested || (last.is_deleted() && !is_noticed))
        };
        let described = |past: &History| {
            let last = View(&past.last);
            format!("{} in {}", last.name(), last.text("/status/state"))
        };
        let restless = self.objects.values().filter(is_restless);
        restless.map(described).collect()
    }

    fn report(&mut self, object: View, problem: &str) {
        let (kind, name) = (self.kind.resource.kind.as_str(), object.name());
        let status = &object.0["status"];
        self.findings
            .push(format!("{kind} {name}: {problem}; its status: {status}"));
    }

    /// The state of an object, if it has one.
    fn state(&self, object: View, problems: &mut Vec<String>) -> Option<StateId> {
        let name = object.text("/status/state");
        let found = self.kind.state_named(name);
        if found.is_none() && !name.is_empty() {
            problems.push(format!("there is no state {name}"));
        }
        found
    }

    fn judge_finalizer(&mut self, before: View, now: View, problems: &mut Vec<String>) {
        let (held, holds) = (
            before.has_finalizer(&self.finalizer),
            now.has_finalizer(&self.finalizer),
        );
        let has_deletion = self.kind.machine.deletion.is_some();
        let runs = !now.text("/status/state").is_empty();
        if runs && has_deletion && !holds && !now.is_deleted() {
            problems.push("it has a state and no finalizer".to_owned());
        }
        if holds && !has_deletion {
            problems.push("it has a finalizer that nobody will remove".to_owned());
        }
        if holds && !held && before.is_deleted() {
            problems.push("the finalizer was added while it was being deleted".to_owned());
        }
        if held && !holds {
            self.judge_release(now, problems);
        }
    }

    /// The finalizer may be removed only where the deletion path ends.
    fn judge_release(&mut self, now: View, problems: &mut Vec<String>) {
        if !now.is_deleted() {
            return problems.push("the finalizer was removed from an object that is not deleted".to_owned());
        }
        let at = self.kind.state_named(now.text("/status/state"));
        if !at.is_some_and(|at| self.is_end(at)) {
            let (kind, name) = (self.kind.resource.kind.as_str(), now.name());
            let problem = format!(
                "{kind} {name}: the finalizer was lost before the deletion path had ended; its status: {}",
                now.0["status"]
            );
            self.released_early.insert(now.uid().to_owned(), problem);
        }
    }

    /// Whether the deletion path ends in this state.
    fn is_end(&self, at: StateId) -> bool {
        let state = self.kind.state(at);
        state.on_deletion_path && state.kind.value == StateKind::Final
    }

    fn judge_end(&mut self, past: &History, now: View, problems: &mut Vec<String>) {
        // The API server ignores a finalizer that is added after the deletion has begun. The object has no state then.
        let was_overtaken = now.has_finalizer(&self.finalizer) && !now.is_deleted();
        if was_overtaken && now.text("/status/state").is_empty() {
            return;
        }
        if past.had_finalizer && self.kind.machine.deletion.is_some() {
            self.judge_release(now, problems);
        }
    }

    /// An object enters each entry only once, and only by an edge.
    fn judge_entry(&mut self, before: View, now: View, at: StateId, problems: &mut Vec<String>) {
        if now.entry().is_empty() {
            return problems.push("it is in a state without an entry".to_owned());
        }
        self.judge_counts(before, now, problems);
        if before.entry() == now.entry() {
            if before.text("/status/state") != now.text("/status/state") {
                problems.push("its state changed without a new entry".to_owned());
            }
            return;
        }
        let known = self
            .entries
            .insert(now.entry().to_owned(), (now.uid().to_owned(), at));
        if known.is_some() {
            problems.push("an older state has replaced a newer one: its entry was there before".to_owned());
        }
        if let Err(why) = self.judge_move(before, now, at) {
            problems.push(why);
        }
    }

    /// An object with an ask enters the states of a limit only if there is a place. Objects that entered in another way
    /// are counted, too. Several independent operators count separately.
    fn judge_limits(&self, before: View, now: View, at: StateId, problems: &mut Vec<String>) {
        let Some((from, asked)) = before.asked_in(&self.kind).filter(|_| !self.contested) else {
            return;
        };
        let entered = before.entry() != now.entry() && asked == at;
        let limits = self.kind.limits.iter();
        for limit in limits.filter(|limit| entered && limit.counts(at) && !limit.counts(from)) {
            let pointer = limit
                .per
                .as_ref()
                .map(|path| path.value.to_string().replace('.', "/"));
            let value = |object: View| pointer.as_ref().map(|pointer| object.text(pointer).to_owned());
            let others = self
                .objects
                .values()
                .filter(|past| !past.gone)
                .map(|past| View(&past.last));
            let there = others.filter(|other| {
                let state = self.kind.state_named(other.text("/status/state"));
                // The machine of a deleted object without the finalizer has ended.
                let has_ended = other.is_deleted() && !other.has_finalizer(&self.finalizer);
                state.is_some_and(|state| limit.counts(state)) && !has_ended && value(*other) == value(now)
            });
            let names: Vec<&str> = there.map(View::name).collect();
            if names.len() >= limit.at_most.value as usize {
                let name = &limit.name.value;
                problems.push(format!("the limit {name} let it in beside {}", names.join(", ")));
            }
        }
    }

    /// Each entry into a state with a limit is counted once. It is not seen if the object left the state before a
    /// write.
    fn judge_counts(&self, before: View, now: View, problems: &mut Vec<String>) {
        for state in self.kind.states.iter().filter(|state| state.limit.is_some()) {
            let name = state.name.as_str();
            let more = now.entries_of(name) - before.entries_of(name);
            if more > i64::from(before.entry() != now.entry()) {
                problems.push(format!("{name} is counted {more} times more than it was entered"));
            }
        }
    }
}
