//! An operator that dies, as by `kill -9`, before and after the write of every state's status. The next process goes on,
//! and the objects show no more of that than the contract allows.

use super::oracle::Oracle;
use super::session::Session;
use crate::cluster::until;
use crate::operator::OperatorProcess;
use crate::scripted_operator::{Action, Route, ScriptedOperator, prepared, route};
use krator::model::{Kind, State};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long objects may take to come to rest after the last start, or after what the test did to them. Those that rest for so
/// long without having come where they were sent were led away by a kill.
const REST: Duration = Duration::from_secs(60);

/// A state before and after whose write the operator has to die, and how an object comes there.
struct Target<'a> {
    kind: &'a Kind,
    state: &'a State,
    route: Route,
}

impl Target<'_> {
    /// The points at which the operator dies, as the faults of the runtime name them.
    fn points(&self) -> [String; 2] {
        let (kind, state) = (self.kind.resource.kind.as_str(), self.state.name.as_str());
        ["before", "after"].map(|when| format!("{when} {kind} {state}"))
    }
}

/// An operator that dies once at each point that it reaches, and is started again each time.
struct Dying {
    session: Session,
    operator: OperatorProcess,
    faults: Value,
    file: PathBuf,
    deaths: usize,
}

impl Dying {
    fn new(scripted: &ScriptedOperator, mut session: Session) -> Dying {
        let file = scripted.cluster.dir().join("crash.points");
        let faults = json!({"crashes": file});
        Dying {
            operator: session.start(&faults),
            session,
            faults,
            file,
            deaths: 0,
        }
    }

    /// The points at which it has died so far.
    fn hit(&self) -> BTreeSet<String> {
        let text = fs::read_to_string(&self.file).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn is_missing(&self, target: &Target) -> bool {
        let hit = self.hit();
        target.points().iter().any(|point| !hit.contains(point))
    }

    /// Whether the object that was sent to a state has come there, or will not move on. What the test does on the way counts
    /// once that is `done`.
    fn has_settled(&self, target: &Target, name: &str, done: bool) -> bool {
        let mut oracles = self.session.oracles();
        let oracle = oracles.find(|oracle| oracle.kind().resource.kind == target.kind.resource.kind);
        !self.is_missing(target)
            || oracle.is_some_and(|oracle| oracle.has_settled(name, |at| target.route.leaves(at, done)))
    }

    /// Waits, and restarts the operator whenever it has died, until all objects rest and `have_settled`. There are many deaths,
    /// so the time is bounded from one to the next.
    fn settle(&mut self, objects: usize, have_settled: impl Fn(&Dying) -> bool) {
        let mut since = Instant::now();
        let mut died_or_settled = || {
            self.session.follow();
            let died = !self.operator.is_running();
            if died {
                self.deaths += 1;
                self.operator = self.session.start(&self.faults);
                since = Instant::now();
            }
            let seen: usize = self.session.oracles().map(Oracle::objects).sum();
            let restless = self.session.restless();
            let rest = restless.is_empty() && seen >= objects && self.deaths >= self.hit().len();
            let is_late = since.elapsed() >= REST;
            assert!(rest || !is_late, "not at rest after {REST:?}: {restless:?}");
            (died || rest && (is_late || have_settled(self))).then_some(died)
        };
        while until("objects settle, or the operator dies", &mut died_or_settled) {}
    }
}

/// Whether an action leads an object on however busy the machine is: failures take time, in which a state may time out.
fn is_sure(state: &State, action: Action) -> bool {
    action != Action::Fail || state.timeout.is_none()
}

#[test]
fn a_kill_before_or_after_any_status_write_is_survived() {
    let Some(scripted) = &prepared() else { return };
    let kinds = ["Backup", "Postgresql", "Moose"].map(|name| scripted.kind(name));
    let targets: Vec<Target> = kinds
        .iter()
        .flat_map(|kind| kind.state_ids().map(move |(id, state)| (kind, id, state)))
        .map(|(kind, id, state)| {
            let route = route(kind, id, is_sure)
                .unwrap_or_else(|| panic!("no route leads to {}", state.name.as_str()));
            Target { kind, state, route }
        })
        .collect();
    let mut dying = Dying::new(scripted, Session::new(scripted, "crash", &kinds, false));
    let mut created = 0;
    // A kill in a state with `resume` leads an object away from its route, so another round sends new objects to the
    // states that were not reached.
    for round in 1.. {
        let missing: Vec<&Target> = targets.iter().filter(|target| dying.is_missing(target)).collect();
        if missing.is_empty() {
            break;
        }
        assert!(
            round <= 5,
            "these points are not reached: {:?}",
            missing.iter().map(|target| target.points()).collect::<Vec<_>>()
        );
        let name = |target: &Target| format!("{}-{round}", target.state.name.as_str().to_lowercase());
        let object = |target: &&Target| {
            scripted.program.object(
                target.kind,
                &dying.session.namespace,
                &name(target),
                Some(&target.route.script(target.kind)),
            )
        };
        scripted.create(&missing.iter().map(object).collect::<Vec<_>>());
        created += missing.len();
        let have_settled = |dying: &Dying, done| {
            missing
                .iter()
                .all(|target| dying.has_settled(target, &name(target), done))
        };
        dying.settle(created, |dying| have_settled(dying, false));
        for target in &missing {
            let resource = resource(target.kind, &name(target));
            if target.route.has(Action::Change) {
                let change = scripted
                    .program
                    .change(target.kind, round)
                    .expect("its spec may change");
                let patch = ["patch", &resource, "--type=merge", "--patch", &change];
                dying.session.kubectl(&patch).expect("it is there");
            }
            if target.route.has(Action::Delete) {
                dying
                    .session
                    .kubectl(&["delete", "--wait=false", &resource])
                    .expect("it is there");
            }
        }
        dying.settle(created, |dying| have_settled(dying, true));
    }
    dying.settle(created, |_| true);
    let Dying {
        mut session,
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
    let totals = session.judge();
    assert_eq!(totals.objects, created);
    assert!(totals.entries > totals.objects, "{totals:?}");
    // The oracles compare what kstatus reads with the state, so each state has to have been read.
    for oracle in session.oracles() {
        let read: BTreeSet<_> = oracle.readings().iter().map(|(state, _)| *state).collect();
        let all: BTreeSet<_> = oracle.kind().state_ids().map(|(id, _)| id).collect();
        assert_eq!(read, all, "states of {}", oracle.kind().resource.kind.as_str());
    }
}

/// An object of a kind, as an argument of kubectl.
pub fn resource(kind: &Kind, name: &str) -> String {
    let (plural, group) = (kind.resource.plural.as_str(), kind.resource.group.as_str());
    format!("{plural}.{group}/{name}")
}
