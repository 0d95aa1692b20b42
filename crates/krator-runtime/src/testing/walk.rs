//! One walk of an object: from where it is found over one edge, through any number of processes.
use super::{
    case::{Case, Goal, told},
    judge,
    scripted::{Paper, PaperStatus, Scripted},
    stage::{Note, Stage},
    witness::{Fault, Witness},
};
use crate::{
    Machine, MachineStatus,
    actor::{Actor, Step},
    local::Memory,
    world::World as _,
};
use futures::FutureExt as _;
use jiff::Timestamp;
use std::{
    sync::{Arc, atomic::AtomicUsize},
    time::Duration,
};
use tokio::time::{sleep, sleep_until};

/// Steps after which an object is taken to go round in circles.
const MANY_STEPS: usize = 10_000;

/// The time after which nothing more is to be expected: on a stopped clock it costs nothing.
const FOREVER: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// What a walk came to.
pub(super) struct Walked {
    /// Writes that can go wrong.
    pub writes: usize,
    pub wrong: Vec<String>,
}

/// Why a process did nothing more.
#[derive(Debug, PartialEq)]
enum End {
    Arrived,
    Died,
    Rests,
    Over,
    Spins,
    Hangs,
}

pub(super) async fn walk<M: Machine>(case: &Case, fault: Option<Fault>) -> Walked {
    let stage = Arc::new(Stage::new(case.clone()));
    let world = Witness::<M> {
        memory: Memory::new(paper(case), Arc::new(())),
        stage: Arc::clone(&stage),
        fault,
        writes: AtomicUsize::new(0),
    };
    world.look();
    let mut end = End::Died;
    while end == End::Died {
        end = live(&world).await;
        if end == End::Died {
            stage.note(Note::Died);
        }
    }
    let arrived = match (&end, case.goal) {
        (End::Arrived, _) | (End::Rests, Goal::Rest) => true,
        (End::Over, _) => stage.arrived(),
        _ => false,
    };
    let mut wrong = judge::judge(&stage, fault);
    if !arrived {
        wrong.push(format!("it does not arrive: {end:?}"));
    }
    if !wrong.is_empty() {
        let what = fault.map_or_else(String::new, |fault| format!(" ({fault:?})"));
        wrong.insert(0, format!("{}{what}:", case.name));
        let graph = case.graph;
        wrong.extend(
            stage
                .notes()
                .iter()
                .map(|(at, note)| format!("    {at:?} {}", note.told(graph))),
        );
    }
    Walked {
        writes: world.writes.into_inner(),
        wrong,
    }
}

/// One process, from what is stored to its end.
async fn live<M: Machine>(world: &Witness<M>) -> End {
    let (stage, mailbox) = (&world.stage, &world.memory.handle.mailbox);
    let Some(stored) = world.memory.handle.stored() else {
        return End::Over;
    };
    // Nobody hears what was said to another process.
    drop(mailbox.take());
    if !Actor::<Scripted<M>>::concerns(&stored) {
        return End::Over;
    }
    let mut actor = Actor::<Scripted<M>>::new(stored, None, world.now());
    let life = async {
        for _ in 0..MANY_STEPS {
            let step = actor.step(world, mailbox).await;
            world.look();
            if stage.arrived() {
                return End::Arrived;
            }
            match step {
                Step::Again => {}
                Step::Over => return End::Over,
                Step::Wait(None) if mailbox.arrived().now_or_never().is_some() => {}
                Step::Wait(None) => return End::Rests,
                Step::Wait(Some(until)) => tokio::select! {
                    () = mailbox.arrived() => {}
                    () = sleep_until(world.origin() + until) => {}
                },
            }
        }
        End::Spins
    };
    let arrival = async {
        while !stage.arrived() {
            stage.reached.notified().await;
        }
    };
    tokio::select! {
        biased;
        () = stage.dies.notified() => End::Died,
        () = arrival => End::Arrived,
        end = life => end,
        () = sleep(FOREVER) => End::Hangs,
    }
}

/// The object as it is found.
fn paper(case: &Case) -> Paper {
    let start = case.route.first().map(|at| case.graph.state(*at));
    let status = MachineStatus {
        state: start.map(|policy| policy.name.to_owned()),
        entry: Some("00000000000000ff".to_owned()),
        state_entered_at: Some(Timestamp::now()),
        attempts: Some(case.attempts),
        entries: case.entries.clone(),
        observed_generation: Some(1),
        ..MachineStatus::default()
    };
    Paper {
        version: 1,
        generation: if case.changed_before { 2 } else { 1 },
        deleting: case.deleted_before,
        held: case.deleted_before,
        label: 0,
        told: told(case.graph),
        status: (!case.is_new).then_some(PaperStatus(status)),
    }
}
