//! Objects that are sent to every state of every kind. A process may be killed, as by `kill -9`, once before and once
//! after the write of each of these states. The next process continues, and the objects show only the effects that the
//! contract allows.

use super::run::Deployment;
use super::world::{Judged, World, description, simulate};
use crate::contract::{Journal, Oracle};
use crate::scripted_operator::{Action, Route, change, route};
use krator::model::{Kind, State};
use std::collections::BTreeSet;
use std::time::Duration;

/// The maximum time until objects come to rest after the last kill. An object that rests for that long elsewhere than
/// at its target was diverted by a kill.
const REST: Duration = Duration::from_secs(60);
/// A kill in a state with `resume` diverts an object from its route, so another round sends new objects to the
/// remaining states.
const ROUNDS: usize = 10;

/// The kinds whose states have routes that take seconds.
pub const KINDS: [&str; 4] = ["Backup", "Moose", "Order", "Postgresql"];
/// The kinds among them whose objects come to rest. A moose never does.
pub const RESTING: [&str; 3] = ["Backup", "Order", "Postgresql"];
/// The number of a change that differs from the samples.
pub const CHANGED: usize = 7;

/// A state to which an object is sent, and the route.
pub struct Target {
    pub kind: &'static Kind,
    pub state: &'static State,
    pub route: Route,
}

impl Target {
    /// The name of the object for this state in a round.
    pub fn name(&self, round: usize) -> String {
        format!("{}-{round}", self.state.name.as_str().to_lowercase())
    }

    /// The writes to the object of a round until it reached the state; `None` if it has not.
    pub fn way<'a>(&self, journal: &'a Journal, round: usize) -> Option<&'a [String]> {
        let object = format!("{} {}", self.kind.resource.kind.as_str(), self.name(round));
        let writes = journal.get(&object)?;
        let comes = |write: &String| write.split(' ').any(|word| word == self.state.name.as_str());
        Some(&writes[..=writes.iter().position(comes)?])
    }

    /// The points at which the process is killed, in the notation of the network.
    fn points(&self) -> [String; 2] {
        let (kind, state) = (self.kind.resource.kind.as_str(), self.state.name.as_str());
        ["before", "after"].map(|when| format!("{when} {kind} {state}"))
    }

    fn is_missing(&self, world: &World) -> bool {
        let killed = world.network.killed();
        self.points().iter().any(|point| !killed.contains(point))
    }

    /// Whether the object of a round has reached the state, or will not move. Actions of the test on the route count
    /// once they are `done`.
    pub fn has_settled(&self, oracle: &Oracle, round: usize, done: bool) -> bool {
        self.way(oracle.journal(), round).is_some()
            || oracle.has_settled(&self.name(round), |at| self.route.leaves(at, done))
    }

    /// The oracle that judges objects of the kind.
    pub fn oracle<'a>(&self, mut oracles: impl Iterator<Item = &'a Oracle>) -> &'a Oracle {
        let found = oracles.find(|oracle| oracle.kind().resource.kind == self.kind.resource.kind);
        found.expect("an oracle of each kind")
    }
}

/// The results of a walk.
pub struct Walked {
    pub judged: Judged,
    /// The number of kills.
    pub kills: usize,
    /// The writes to each object.
    pub journal: Journal,
}

/// The states of these kinds that have a route.
pub fn targets(kinds: &[&str]) -> Vec<Target> {
    let all = description().kinds.iter();
    let meant = all.filter(|kind| kinds.contains(&kind.resource.kind.as_str()));
    let states = meant.flat_map(|kind| kind.state_ids().map(move |(id, state)| (kind, id, state)));
    let sent = states.filter_map(|(kind, id, state)| {
        let route = route(kind, id, |_, _| true)?;
        Some(Target { kind, state, route })
    });
    sent.collect()
}

/// Sends objects to all states of these kinds, and kills processes around all writes of the states if `killed`.
pub fn walked(seed: u64, kinds: &[&str], killed: bool) -> Walked {
    simulate(walk(seed, targets(kinds), killed))
}

async fn walk(seed: u64, targets: Vec<Target>, killed: bool) -> Walked {
    let mut world = World::begin(seed, Deployment::Alone, &[]).await;
    let rounds = if killed {
        world.network.kill_around_writes();
        ROUNDS
    } else {
        1
    };
    let mut created = 0;
    for round in 1..=rounds {
        let missing: Vec<&Target> = targets
            .iter()
            .filter(|target| target.is_missing(&world))
            .collect();
        if missing.is_empty() {
            break;
        }
        let name = |target: &Target| target.name(round);
        for target in &missing {
            let script = target.route.script(target.kind);
            world.create(target.kind, &name(target), Some(&script)).await;
        }
        created += missing.len();
        let have_settled = |world: &World, done| {
            missing.iter().all(|target| {
                let oracle = target.oracle(world.oracles().iter());
                if killed {
                    let leaves = |at| target.route.leaves(at, done);
                    !target.is_missing(world) || oracle.has_settled(&name(target), leaves)
                } else {
                    target.has_settled(oracle, round, done)
                }
            })
        };
        settle(&mut world, created, |world| have_settled(world, false)).await;
        for target in &missing {
            if target.route.has(Action::Change) {
                let patch = change(target.kind, CHANGED).expect("its spec may change");
                world.patch(target.kind, &name(target), patch).await;
            }
            if target.route.has(Action::Delete) {
                world.delete(target.kind, &name(target)).await;
            }
        }
        settle(&mut world, created, |world| have_settled(world, true)).await;
    }
    let missing: Vec<&Target> = targets
        .iter()
        .filter(|target| killed && target.is_missing(&world))
        .collect();
    for target in missing {
        world.find(format!("these points are not reached: {:?}", target.points()));
    }
    // The oracles compare the kstatus reading with the state, so a reading in each state is needed.
    for target in &targets {
        let oracle = target.oracle(world.oracles().iter());
        let read: BTreeSet<_> = oracle.readings().iter().map(|(state, _)| *state).collect();
        let id = target.kind.state_named(target.state.name.as_str());
        if !id.is_some_and(|id| read.contains(&id)) {
            world.find(format!(
                "{} was never seen in {}",
                target.kind.resource.kind.as_str(),
                target.state.name.as_str()
            ));
        }
    }
    let kills = world.network.killed().len();
    let journals = world.oracles().iter().flat_map(Oracle::journal);
    let journal = journals
        .map(|(object, writes)| (object.clone(), writes.clone()))
        .collect();
    Walked {
        judged: world.end().await,
        kills,
        journal,
    }
}

/// Waits until all objects rest and `have_settled`, or there is no progress.
async fn settle(world: &mut World, objects: usize, have_settled: impl Fn(&World) -> bool) {
    let rest = |world: &World| {
        let seen: usize = world.oracles().iter().map(Oracle::objects).sum();
        world.restless().is_empty() && seen >= objects
    };
    loop {
        let kills = world.network.killed().len();
        if world
            .wait_for(REST, |world| rest(world) && have_settled(world))
            .await
        {
            return;
        }
        if world.network.killed().len() == kills {
            break;
        }
    }
    if !rest(world) {
        let restless = world.restless();
        world.find(format!("these have not come to rest: {restless:?}"));
    }
}
