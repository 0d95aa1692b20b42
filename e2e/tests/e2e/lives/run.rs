//! Leads all lives in one cluster: objects are created, changed and deleted according to their lives, and the
//! operator's clock is moved forward when no other progress is possible.

use super::NAMESPACE;
use super::life::Life;
use super::offspring;
use super::recorder::{Collection, Recorder, Write};
use crate::cluster::{Cluster, until};
use crate::probes::{ask, logged_address};
use crate::scripted_operator::{Action, Files, Program};
use krator::model::{Description, State, StateKind};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// The seconds by which the clock is moved: more than any timeout and any backoff in a state that objects leave in this
/// way.
const TURN: u64 = 5 * 60 * 60;

/// The number of lives at once. The operator drops events when too many wait to be published.
const AT_ONCE: usize = 24;

/// All writes, and the events at the end.
pub struct Seen {
    pub writes: Vec<Write>,
    pub events: Vec<Value>,
}

/// Leads all lives in a cluster, from the creation of the objects until all of them and their children are gone.
pub fn lead(cluster: &Cluster, program: &Program, lives: &[Life]) -> Seen {
    cluster.kubectl(&["create", "namespace", NAMESPACE]);
    let kinds = &program.description.kinds;
    let owned = kinds.iter().flat_map(|kind| &kind.owns);
    let collections: BTreeSet<Collection> = kinds
        .iter()
        .map(Collection::of)
        .chain(owned.map(|owned| Collection::of_owned(&owned.kind.value)))
        .collect();
    let recorder = Recorder::start(cluster, collections);
    let files = Files::new(cluster, "lives");
    let page = ["--metrics-bind-address=127.0.0.1:0", "--metrics-secure=false"];
    let mut operator = program.start(cluster, NAMESPACE, &files, &page, &[]);
    let log = || fs::read_to_string(&files.log).unwrap_or_default();
    let page = logged_address(log, "serving metrics");

    let mut read = 0;
    for lives in lives.chunks(AT_ONCE) {
        let objects: Vec<Value> = lives
            .iter()
            .map(|life| program.object(life.kind, NAMESPACE, &life.name, Some(&life.script())))
            .collect();
        let list = json!({"apiVersion": "v1", "kind": "List", "items": objects});
        cluster.apply(&list.to_string(), &[]);
        let mut led: BTreeMap<&str, Led> = lives.iter().map(|life| (&*life.name, Led::new(life))).collect();
        let mut children = BTreeMap::<String, BTreeSet<String>>::new();
        until("these lives are led", || {
            assert!(operator.is_running(), "it ended by itself");
            let news = recorder.since(read);
            read += news.len();
            for write in &news {
                if may_stay(&program.description, write) {
                    let of_name = children.entry(write.text("/metadata/name").to_owned());
                    of_name.or_default().insert(write.text("/kind").to_owned());
                }
                if let Some(led) = led.get_mut(write.text("/metadata/name")) {
                    led.see(write);
                }
            }
            for led in led.values_mut() {
                let there = children
                    .get(&offspring::name(&led.life.name))
                    .map_or(0, BTreeSet::len);
                led.has_children = there == led.life.kind.owns.len();
                led.act(&recorder, program);
            }
            if led.values().all(|led| led.is_gone || led.waits_for_time()) {
                if led.values().all(|led| led.is_gone) {
                    return Some(());
                }
                led.values_mut().for_each(|led| led.turned_at = led.attempts);
                turn(&page);
            }
            None
        });
    }
    until("the children are gone", || {
        (recorder.present() == 0).then_some(())
    });
    // At its end the operator publishes the delayed events.
    assert_eq!(operator.terminate().code(), Some(0));
    Seen {
        writes: recorder.since(0),
        events: recorder.list(&Collection::of_events()),
    }
}

/// Whether an object has come to rest: an object of a described kind has to be in a state of rest, because children
/// have machines, too.
fn may_stay(description: &Description, write: &Write) -> bool {
    let mut kinds = description.kinds.iter();
    let Some(kind) = kinds.find(|kind| kind.resource.kind.as_str() == write.text("/kind")) else {
        return true;
    };
    // A builtin kind may have the same name.
    let is_of_kind = write
        .text("/apiVersion")
        .starts_with(kind.resource.group.as_str());
    let state = kind.state_named(write.text("/status/state"));
    !is_of_kind || is_observed(write) && state.is_some_and(|id| is_rest(kind.state(id)))
}

/// Whether the operator has observed the object's spec.
fn is_observed(write: &Write) -> bool {
    write.object["status"]["observedGeneration"] == write.object["metadata"]["generation"]
}

fn is_rest(state: &State) -> bool {
    matches!(state.kind.value, StateKind::Ready | StateKind::Failed)
}

/// Moves the operator's clock forward.
fn turn(page: &str) {
    let headers = [
        ("Host", page),
        ("krator-dev", "1"),
        ("Content-Type", "application/json"),
    ];
    let body = json!({"seconds": TURN}).to_string();
    let (status, said) = ask("POST", page, "/dev/clock", &headers, &body);
    assert_eq!(status, 200, "{said}");
}

/// The progress of a life.
struct Led<'a> {
    life: &'a Life<'a>,
    /// The number of steps that the object has taken.
    taken: usize,
    /// The entry of the state that the object is in.
    entry: String,
    /// Whether the action for this state was taken.
    has_acted: bool,
    attempts: u64,
    /// Whether the operator has observed the object's spec, as it does after the first run in a state of rest.
    is_observed: bool,
    /// Whether its handlers have applied all its children. Otherwise the children that exist at its end would depend on
    /// chance.
    has_children: bool,
    /// The number of failures of the handler when the clock was last moved.
    turned_at: u64,
    is_gone: bool,
}

impl<'a> Led<'a> {
    fn new(life: &'a Life<'a>) -> Led<'a> {
        Led {
            life,
            taken: 0,
            entry: String::new(),
            has_acted: true,
            attempts: 0,
            is_observed: false,
            has_children: false,
            turned_at: 0,
            is_gone: false,
        }
    }

    /// Processes a write to the object.
    fn see(&mut self, write: &Write) {
        self.is_gone = write.deleted;
        self.attempts = write.object["status"]["attempts"].as_u64().unwrap_or(0);
        self.is_observed = is_observed(write);
        let entry = write.text("/status/entry");
        if entry == self.entry {
            return;
        }
        let first = if self.entry.is_empty() { 0 } else { self.taken + 1 };
        entry.clone_into(&mut self.entry);
        let states = self
            .life
            .steps
            .iter()
            .map(|(state, _)| *state)
            .chain([self.life.end]);
        let name = |id| self.life.kind.state(id).name.as_str();
        let mut ahead = states.enumerate().skip(first);
        if let Some((at, _)) = ahead.find(|(_, state)| name(*state) == write.text("/status/state")) {
            (self.taken, self.has_acted, self.turned_at) = (at, false, 0);
        }
    }

    /// The action in the present state of the object. At the end the object is deleted, unless it was deleted before.
    fn action(&self) -> Option<Action> {
        let is_deleted = |(_, action): &(_, Action)| *action == Action::Delete;
        match self.life.steps.get(self.taken) {
            Some((_, action)) => Some(*action),
            None if self.life.steps.iter().any(is_deleted) => None,
            None if self.life.kind.state(self.life.end).kind.value == StateKind::Final => None,
            None => Some(Action::Delete),
        }
    }

    /// Changes or deletes the object, if that is the next step.
    fn act(&mut self, recorder: &Recorder, program: &Program) {
        let states = self
            .life
            .steps
            .iter()
            .map(|(state, _)| *state)
            .chain([self.life.end]);
        let state = states.skip(self.taken).map(|id| self.life.kind.state(id)).next();
        let is_settled = self.is_observed || !state.is_some_and(is_rest);
        if self.has_acted || !is_settled || !self.has_children {
            return;
        }
        self.has_acted = true;
        let (kind, name) = (self.life.kind, &self.life.name);
        let collection = Collection::of(kind);
        match self.action() {
            Some(Action::Change) => {
                let change = program.change(kind, self.taken + 1).expect("its spec may change");
                recorder.merge(&collection, name, &change);
            }
            Some(Action::Delete) => recorder.delete(&collection, name),
            _ => {}
        }
    }

    /// Whether the object makes no progress until its state times out, or its handler is retried.
    fn waits_for_time(&self) -> bool {
        match self.action() {
            Some(Action::Hang) => !self.entry.is_empty() && self.has_children,
            Some(Action::Fail) => self.attempts > self.turned_at,
            _ => false,
        }
    }
}

impl Drop for Led<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() && !self.is_gone {
            let Led {
                life,
                taken,
                entry,
                attempts,
                ..
            } = self;
            eprintln!(
                "{}: {taken} of {:?}, entry {entry:?}, {attempts} attempts",
                life.name,
                life.script()
            );
        }
    }
}
