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

/// How long objects that are not at rest may go without a write and without a death.
const REST: Duration = Duration::from_secs(60);
/// Objects that have been at rest for so long, without a kill, are taken to stay there. On a busy machine, a run that waits for a
/// second takes more than two.
const SETTLED: Duration = Duration::from_secs(8);

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
    fn new(scripted: &'static ScriptedOperator, mut session: Session) -> Dying {
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

    /// Waits, and restarts the operator whenever it has died, until all objects have been at rest for a while, or until
    /// `is_enough`. How long all of that takes is up to the machine, so the time is bounded from one sign of life to the next.
    fn settle(&mut self, objects: usize, is_enough: impl Fn(&Dying) -> bool) {
        let mut calm = Instant::now();
        let mut alive = Instant::now();
        let mut died_or_rests = || {
            let wrote = self.session.follow() > 0;
            let died = !self.operator.is_running();
            if died {
                self.deaths += 1;
                self.operator = self.session.start(&self.faults);
            }
            if wrote || died {
                alive = Instant::now();
            }
            let seen: usize = self.session.oracles().map(Oracle::objects).sum();
            let restless = self.session.restless();
            if !restless.is_empty() || seen < objects || self.deaths < self.hit().len() {
                calm = Instant::now();
                assert!(
                    alive.elapsed() < REST,
                    "nothing happened for {REST:?}, and these are not at rest: {restless:?}"
                );
            }
            (wrote || died || calm.elapsed() > SETTLED || is_enough(self)).then_some(wrote || died)
        };
        while until("objects come to rest, or something happens", &mut died_or_rests) {}
    }
}

#[test]
fn a_kill_before_or_after_any_status_write_is_survived() {
    let Some(scripted) = prepared() else { return };
    let kinds = ["Backup", "Postgresql", "Moose"].map(|name| scripted.kind(name));
    let targets: Vec<Target> = kinds
        .iter()
        .flat_map(|kind| kind.state_ids().map(move |(id, state)| (kind, id, state)))
        .map(|(kind, id, state)| {
            let route = route(kind, id, |_, _| true)
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
        let hit = dying.hit().len();
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
        dying.settle(created, |_| false);
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
        dying.settle(created, |dying| {
            targets.iter().all(|target| !dying.is_missing(target))
        });
        assert!(
            dying.hit().len() > hit,
            "no object reached any of these points: {:?}",
            missing.iter().map(|target| target.points()).collect::<Vec<_>>()
        );
    }
    dying.settle(created, |_| false);
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
