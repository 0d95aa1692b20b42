//! `kill -9` before and after the write of every state's status: the next process goes on, and nobody can tell but by
//! what the contract allows.

use super::court::Court;
use super::five::{Five, Route, prepared, route};
use crate::cluster::until;
use crate::operator::Operator;
use krator::model::{Kind, State};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long objects may take to come to rest after the last start.
const REST: Duration = Duration::from_secs(60);
/// After so long without a kill, objects at rest count as staying there: only time can tell.
const SETTLED: Duration = Duration::from_secs(2);

/// A state, and how objects come there.
struct Target<'a> {
    kind: &'a Kind,
    state: &'a State,
    route: Route,
}

impl Target<'_> {
    /// The points at which the operator dies for it.
    fn points(&self) -> [String; 2] {
        let (kind, state) = (self.kind.resource.kind.as_str(), self.state.name.as_str());
        ["before", "after"].map(|when| format!("{when} {kind} {state}"))
    }
}

/// An operator that dies at each point once, and is started again.
struct Dying {
    court: Court,
    operator: Operator,
    faults: Value,
    file: PathBuf,
    deaths: usize,
    started: Instant,
}

impl Dying {
    fn new(five: &'static Five, mut court: Court) -> Dying {
        let file = five.cluster.dir().join("crash.points");
        let faults = json!({"crashes": file});
        Dying {
            operator: court.start(&faults),
            court,
            faults,
            file,
            deaths: 0,
            started: Instant::now(),
        }
    }

    /// The points at which it has died.
    fn hit(&self) -> BTreeSet<String> {
        let text = fs::read_to_string(&self.file).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn is_missing(&self, target: &Target) -> bool {
        let hit = self.hit();
        target.points().iter().any(|point| !hit.contains(point))
    }

    /// Until all objects rest, and nothing has died for a while; or until `enough`.
    fn settle(&mut self, objects: usize, enough: impl Fn(&Dying) -> bool) {
        let mut calm = Instant::now();
        until("objects come to rest between the kills", || {
            self.court.follow();
            if !self.operator.is_running() {
                self.deaths += 1;
                self.operator = self.court.start(&self.faults);
                self.started = Instant::now();
            }
            let seen: usize = self.court.oracles().map(|oracle| oracle.seen().0).sum();
            let restless = self.court.restless();
            if !restless.is_empty() || seen < objects || self.deaths < self.hit().len() {
                calm = Instant::now();
                assert!(
                    self.started.elapsed() < REST,
                    "not at rest after {REST:?}: {restless:?}"
                );
            }
            (calm.elapsed() > SETTLED || enough(self)).then_some(())
        });
    }
}

#[test]
fn a_kill_before_or_after_any_status_write_is_survived() {
    let Some(five) = prepared() else { return };
    let kinds = ["Backup", "Postgresql", "Moose"].map(|name| five.kind(name));
    let targets: Vec<Target> = kinds
        .iter()
        .flat_map(|kind| kind.state_ids().map(move |(id, state)| (kind, id, state)))
        .map(|(kind, id, state)| {
            let route = route(kind, id).unwrap_or_else(|| panic!("no way leads to {}", state.name.as_str()));
            Target { kind, state, route }
        })
        .collect();
    let mut dying = Dying::new(five, Court::new(five, "crash", &kinds, false));
    let mut created = 0;
    // A kill leads objects elsewhere when they were in a state that resumes elsewhere; others are sent after them.
    for round in 1.. {
        let missing: Vec<&Target> = targets.iter().filter(|target| dying.is_missing(target)).collect();
        if missing.is_empty() {
            break;
        }
        assert!(
            round <= 5,
            "no way to {:?}",
            missing.iter().map(|target| target.points()).collect::<Vec<_>>()
        );
        let name = |target: &Target| format!("{}-{round}", target.state.name.as_str().to_lowercase());
        let object = |target: &&Target| {
            five.object(
                target.kind,
                &dying.court.namespace,
                &name(target),
                Some(&target.route.script),
            )
        };
        five.create(&missing.iter().map(object).collect::<Vec<_>>());
        created += missing.len();
        dying.settle(created, |_| false);
        for target in &missing {
            let resource = resource(target.kind, &name(target));
            if target.route.is_changed {
                let change = five.change(target.kind, round).expect("its spec may change");
                let patch = ["patch", &resource, "--type=merge", "--patch", &change];
                dying.court.kubectl(&patch).expect("it is there");
            }
            if target.route.is_deleted {
                dying
                    .court
                    .kubectl(&["delete", "--wait=false", &resource])
                    .expect("it is there");
            }
        }
        dying.settle(created, |dying| {
            targets.iter().all(|target| !dying.is_missing(target))
        });
    }
    dying.settle(created, |_| false);
    let Dying {
        mut court,
        operator,
        deaths,
        ..
    } = dying;
    assert_eq!(operator.terminate().code(), Some(0));

    assert_eq!(
        deaths,
        2 * targets.len(),
        "it died where it should, and nowhere else"
    );
    let (seen, entries) = court.judge();
    assert_eq!(seen, created);
    assert!(entries > seen, "{entries} entries of {seen} objects");
    // The oracle has held kstatus's reading of each of them to what the state is.
    for oracle in court.oracles() {
        let read: BTreeSet<_> = oracle.readings().iter().map(|(state, _)| *state).collect();
        let all: BTreeSet<_> = oracle.kind().state_ids().map(|(id, _)| id).collect();
        assert_eq!(read, all, "states of {}", oracle.kind().resource.kind.as_str());
    }
}

/// How kubectl names an object of a kind.
pub fn resource(kind: &Kind, name: &str) -> String {
    let (plural, group) = (kind.resource.plural.as_str(), kind.resource.group.as_str());
    format!("{plural}.{group}/{name}")
}
