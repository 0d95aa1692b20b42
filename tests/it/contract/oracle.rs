//! An oracle: from the history of a kind's objects, as a watch tells it, and the graph of its description it says what
//! the runtime did that it should not have. It knows the language and nothing of the runtime.

mod moves;
mod planted;
mod status;

use super::kstatus::{Reading, reading};
use crate::cluster::watch::Event;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use krator::model::{Effects, Kind, StateId, StateKind};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// How far apart clocks are that tell the same time: the machine's is good to about two seconds, and stamps leave out
/// fractions.
const TOLERANCE: SignedDuration = SignedDuration::from_secs(3);

/// Judges the objects of one kind.
pub struct Oracle {
    kind: Kind,
    finalizer: String,
    objects: BTreeMap<String, Past>,
    /// All entries of states that were written: of which object, and into which state.
    entries: HashMap<String, (String, StateId)>,
    /// When an operator was started.
    started: Vec<Timestamp>,
    /// Whether several operators work on the same objects, so that one meets entries that are not its own.
    contested: bool,
    readings: BTreeSet<(StateId, Reading)>,
    /// Objects that were let go in a state before the last one. A status that cannot be written stops nothing on the
    /// deletion path, so the handler of the last one may have run all the same: it tells.
    released_early: BTreeMap<String, String>,
    findings: Vec<String>,
}

/// What is known of an object.
#[derive(Default)]
struct Past {
    /// As the last write left it.
    last: Value,
    was_held: bool,
    gone: bool,
    /// How many operators had been started when it was last seen at rest.
    rested: usize,
}

/// An object as one write left it.
#[derive(Clone, Copy)]
struct Sight<'a>(&'a Value);

impl<'a> Sight<'a> {
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
        self.time("/status/stateEnteredAt")
    }
    fn attempts(self) -> i64 {
        self.number("/status/attempts").unwrap_or_default()
    }
    /// When it was written, by the API server's clock; nothing where that does not say.
    fn written_at(self) -> Option<Timestamp> {
        let managers = self.0["metadata"]["managedFields"].as_array()?;
        let times = managers.iter().filter_map(|manager| manager["time"].as_str());
        times.filter_map(|time| time.parse().ok()).max()
    }
}

impl Oracle {
    /// For a kind of a description.
    pub fn new(kind: &Kind) -> Oracle {
        let (group, plural) = (kind.resource.group.as_str(), kind.resource.plural.as_str());
        Oracle {
            kind: kind.clone(),
            finalizer: format!("{group}/{plural}"),
            objects: BTreeMap::new(),
            entries: HashMap::new(),
            started: Vec::new(),
            contested: false,
            readings: BTreeSet::new(),
            released_early: BTreeMap::new(),
            findings: Vec::new(),
        }
    }

    /// The same, where several operators work on the same objects.
    pub fn contested(kind: &Kind) -> Oracle {
        Oracle {
            contested: true,
            ..Oracle::new(kind)
        }
    }

    /// An operator is started at that time.
    pub fn operator_starts(&mut self, time: Timestamp) {
        self.started.push(time);
    }

    /// The next thing that happened.
    pub fn see(&mut self, event: &Event) {
        let now = Sight(&event.object);
        let mut past = self.objects.remove(now.uid()).unwrap_or_default();
        let before = Sight(&past.last);
        let mut said = Vec::new();
        if past.gone {
            said.push("it is written after its end".to_owned());
        }
        past.was_held |= now.has_finalizer(&self.finalizer);
        if event.deleted {
            self.judge_end(&past, now, &mut said);
        } else {
            self.judge_finalizer(before, now, &mut said);
        }
        if let Some(at) = self.state(now, &mut said) {
            self.judge_entry(before, now, at, &mut said);
            if self.kind.state(at).kind.value != StateKind::Working {
                past.rested = self.started.len();
            }
            // What deletion leaves of an object is not written by the operator.
            if !event.deleted {
                self.judge_status(before, now, at, &mut said);
                self.readings.insert((at, reading(now.0)));
            }
        } else if self.state(before, &mut Vec::new()).is_some() {
            said.push("its state is lost".to_owned());
        } else if reading(now.0) == Reading::Current {
            said.push("kstatus takes it for ready before an operator has seen it".to_owned());
        }
        for said in said {
            self.note(now, &said);
        }
        past.last = event.object.clone();
        past.gone = event.deleted;
        self.objects.insert(now.uid().to_owned(), past);
    }

    /// What handlers told of their starts, a line each: entry, state, uid, and more.
    pub fn hear(&mut self, starts: &str) {
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
                let said = format!("the handler of {state} ran for an entry that was never written: {line}");
                self.findings.push(said);
            }
        }
        self.findings
            .extend(std::mem::take(&mut self.released_early).into_values());
        for (entry, times) in once.into_iter().filter(|(_, times)| *times > 1) {
            let said = format!("a handler that may run once has run {times} times for the entry {entry}");
            self.findings.push(said);
        }
    }

    /// Panics with what was found.
    pub fn assert_clean(&self) {
        let kind = self.kind.resource.kind.as_str();
        let first: Vec<&String> = self.findings.iter().take(20).collect();
        assert!(
            first.is_empty(),
            "the oracle found {} things about {kind}: {first:#?}",
            self.findings.len()
        );
    }

    /// What was found so far.
    pub fn findings(&self) -> &[String] {
        &self.findings
    }

    /// The kind that it judges.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// How many objects were seen, and how many entries of states were written.
    pub fn seen(&self) -> (usize, usize) {
        (self.objects.len(), self.entries.len())
    }

    /// Whether an object of that name was seen.
    pub fn knows(&self, name: &str) -> bool {
        self.objects.values().any(|past| Sight(&past.last).name() == name)
    }

    /// What kstatus read of objects in which state.
    pub fn readings(&self) -> &BTreeSet<(StateId, Reading)> {
        &self.readings
    }

    /// Objects that are not gone and have been in no ready, failed or final state since the last start of an operator.
    pub fn restless(&self) -> Vec<String> {
        let rests = |past: &Past| {
            let at = self.kind.state_named(Sight(&past.last).text("/status/state"));
            at.is_some_and(|at| self.kind.state(at).kind.value != StateKind::Working)
        };
        let restless = self
            .objects
            .values()
            .filter(|past| !past.gone && past.rested < self.started.len() && !rests(past));
        let described = |past: &Past| {
            let sight = Sight(&past.last);
            format!("{} in {}", sight.name(), sight.text("/status/state"))
        };
        restless.map(described).collect()
    }

    fn note(&mut self, object: Sight, said: &str) {
        let (kind, name) = (self.kind.resource.kind.as_str(), object.name());
        let status = &object.0["status"];
        self.findings
            .push(format!("{kind} {name}: {said}; its status: {status}"));
    }

    /// The state that an object is in.
    fn state(&self, object: Sight, said: &mut Vec<String>) -> Option<StateId> {
        let name = object.text("/status/state");
        let found = self.kind.state_named(name);
        if found.is_none() && !name.is_empty() {
            said.push(format!("there is no state {name}"));
        }
        found
    }

    fn judge_finalizer(&mut self, before: Sight, now: Sight, said: &mut Vec<String>) {
        let (held, holds) = (
            before.has_finalizer(&self.finalizer),
            now.has_finalizer(&self.finalizer),
        );
        let has_deletion = self.kind.machine.deletion.is_some();
        let runs = !now.text("/status/state").is_empty();
        if runs && has_deletion && !holds && !now.is_deleted() {
            said.push("it has a state and no finalizer".to_owned());
        }
        if holds && !has_deletion {
            said.push("it has a finalizer that nobody will take away".to_owned());
        }
        if holds && !held && before.is_deleted() {
            said.push("the finalizer was added while it was being deleted".to_owned());
        }
        if held && !holds {
            self.judge_release(now, said);
        }
    }

    /// An object is let go only where the deletion path ends.
    fn judge_release(&mut self, now: Sight, said: &mut Vec<String>) {
        if !now.is_deleted() {
            return said.push("the finalizer was taken from an object that lives".to_owned());
        }
        let at = self.kind.state_named(now.text("/status/state"));
        if !at.is_some_and(|at| self.is_end(at)) {
            let (kind, name) = (self.kind.resource.kind.as_str(), now.name());
            let said = format!(
                "{kind} {name}: the finalizer was lost before the deletion path had ended; its status: {}",
                now.0["status"]
            );
            self.released_early.insert(now.uid().to_owned(), said);
        }
    }

    /// Whether the deletion path ends in a state.
    fn is_end(&self, at: StateId) -> bool {
        let state = self.kind.state(at);
        state.on_deletion_path && state.kind.value == StateKind::Final
    }

    fn judge_end(&mut self, past: &Past, now: Sight, said: &mut Vec<String>) {
        if past.was_held && self.kind.machine.deletion.is_some() {
            self.judge_release(now, said);
        }
    }

    /// Into each entry the object comes once, by an edge.
    fn judge_entry(&mut self, before: Sight, now: Sight, at: StateId, said: &mut Vec<String>) {
        if now.entry().is_empty() {
            return said.push("it is in a state without an entry".to_owned());
        }
        if before.entry() == now.entry() {
            if before.text("/status/state") != now.text("/status/state") {
                said.push("its state changed without a new entry".to_owned());
            }
            return;
        }
        let known = self
            .entries
            .insert(now.entry().to_owned(), (now.uid().to_owned(), at));
        if known.is_some() {
            said.push("an older state has replaced a newer one: its entry was there before".to_owned());
        }
        if let Err(why) = self.judge_move(before, now, at) {
            said.push(why);
        }
    }
}
