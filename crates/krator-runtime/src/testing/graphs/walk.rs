//! One walk of an object: from the state in which an operator finds it over one edge, through any number of processes.
use super::{
    case::{Case, Goal, field_values},
    oracle::{self, Disturbance},
    recorder::{Note, Recorder},
    script::Script,
    scripted::{Scripted, TestObject, TestSpec, stored_digests},
    witness::{self, Witnessed},
};
use crate::{
    actor::{Actor, Step},
    graph::{Graph, StateId},
    local::{FOREVER, Fault, LocalStatus},
    machine::{Edit, Object as _},
    status::{EntryId, MachineStatus},
    world::World as _,
};
use futures::FutureExt as _;
use jiff::Timestamp;
use std::{sync::Arc, time::Duration};
use tokio::time::{sleep, sleep_until};

/// An object that takes this many steps is in an endless loop.
const MANY_STEPS: usize = 1_000;

/// The maximum number of notes in a failure.
const MANY_NOTES: usize = 40;

/// The result of a walk.
pub(super) struct Walked {
    /// The number of writes at which a fault is possible.
    pub writes: usize,
    pub wrong: Vec<String>,
}

/// The reason why a process has stopped.
#[derive(Debug, PartialEq)]
enum End {
    Arrived,
    Died,
    Rests,
    Over,
    Spins,
    Hangs,
}

impl End {
    /// The reason why an object does not arrive: its place, what is due there, and the missing event.
    fn missed(&self, graph: &Graph<'_>, recorder: &Recorder, stored: Option<&TestObject>) -> String {
        let name = |state: StateId| format!("`{}`", graph.state(state).name);
        let started = recorder.last_started().map(name);
        let stored = stored.and_then(|object| object.seen(graph).state).map(name);
        let at = started.or(stored).unwrap_or_else(|| "no state".to_owned());
        let is = match self {
            End::Arrived | End::Died | End::Over => format!("was in {at} last, is gone"),
            End::Rests => format!("rests in {at}, nothing is due"),
            End::Spins => format!("took {MANY_STEPS} steps, is in {at} with more due"),
            End::Hangs => format!("is in {at}, whose handler does not end, nothing else is due"),
        };
        let missed = match recorder.case.goal {
            Goal::Started(to) => format!("reached {}", name(to)),
            Goal::Again => "ran its handler again".to_owned(),
            Goal::Observed(generation) => format!("observed generation {generation}"),
            Goal::Rest => "rested".to_owned(),
            Goal::Gone => "was gone".to_owned(),
        };
        format!("the object does not arrive: it {is}, and it never {missed}")
    }
}

pub(super) async fn walk(graph: &Graph<'_>, case: &Case, fault: Option<Fault>) -> Walked {
    // Read only once, because the real time passes between two readings.
    let began = Timestamp::now();
    let world = witness::world(
        graph,
        found(graph, case, began),
        began,
        Recorder::new(case.clone(), fault.is_some()),
        Arc::new(Script(fault)),
    );
    let recorder = &world.hooks.role.recorder;
    let mut end = End::Died;
    while end == End::Died {
        end = live(&world).await;
        if end == End::Died {
            recorder.note(Note::Died);
        }
    }
    let arrived = match (&end, case.goal) {
        (End::Arrived, _) | (End::Rests, Goal::Rest) => true,
        (End::Over, _) => recorder.arrived(graph),
        _ => false,
    };
    let disturbance = fault.map_or(Disturbance::None, |_| Disturbance::Fault);
    let mut wrong = oracle::judge(graph, recorder, disturbance);
    if !arrived {
        wrong.push(end.missed(graph, recorder, world.handle.stored().as_deref()));
    }
    if !wrong.is_empty() {
        let fault = fault.map_or_else(String::new, |fault| format!(" ({fault:?})"));
        wrong.insert(0, format!("{}{fault}:", case.name));
        let notes = recorder.notes();
        let line = |(at, note): &(Duration, Note)| format!("    {at:?} {}", note.describe(graph));
        wrong.extend(notes.iter().take(MANY_NOTES).map(line));
        if let Some(more) = notes.len().checked_sub(MANY_NOTES).filter(|more| *more > 0) {
            wrong.push(format!("    and {more} more"));
        }
    }
    Walked {
        writes: world.hooks.writes.into_inner(),
        wrong,
    }
}

/// One process, from the stored object to its end.
async fn live(world: &Witnessed<'_>) -> End {
    let (graph, recorder) = (world.hooks.graph, &world.hooks.role.recorder);
    let queue = &world.handle.0.queue;
    let Some(stored) = world.handle.stored() else {
        return End::Over;
    };
    // The queue of a process that has died is lost.
    drop(queue.take());
    if !Actor::<Scripted>::is_responsible_for(graph, &stored) {
        return End::Over;
    }
    let mut actor = Actor::<Scripted>::new(graph, stored, None, world.now());
    let life = async {
        for _ in 0..MANY_STEPS {
            let step = actor.step(world, queue).await;
            world.hooks.look();
            if recorder.arrived(graph) {
                return End::Arrived;
            }
            match step {
                Step::Again => {}
                Step::Over => return End::Over,
                Step::Wait(until) => {
                    if !wait(&mut actor, world, until).await {
                        return End::Rests;
                    }
                }
            }
        }
        End::Spins
    };
    let arrival = async {
        while !recorder.arrived(graph) {
            recorder.reached.notified().await;
        }
    };
    tokio::select! {
        biased;
        () = recorder.dies.notified() => End::Died,
        () = arrival => End::Arrived,
        end = life => end,
        () = sleep(FOREVER) => End::Hangs,
    }
}

/// Waits for the next step like the dispatcher: observations that need no step only change the time of the next one.
/// Returns whether there will be one.
async fn wait(actor: &mut Actor<'_, Scripted>, world: &Witnessed<'_>, mut until: Option<Duration>) -> bool {
    let queue = &world.handle.0.queue;
    loop {
        match until {
            None if queue.arrived().now_or_never().is_none() => return false,
            None => {}
            Some(due) => tokio::select! {
                () = queue.arrived() => {}
                () = sleep_until(world.instant(due)) => return true,
            },
        }
        match actor.receive(queue.take(), world.now()) {
            Step::Wait(next) => until = next,
            Step::Again | Step::Over => return true,
        }
    }
}

/// The object at the start of the first process.
pub(super) fn found(graph: &Graph<'_>, case: &Case, began: Timestamp) -> TestObject {
    let start = case.route.first().map(|at| graph.state(*at));
    let paths = graph.watched_fields().into_iter();
    let spec = TestSpec {
        field_values: field_values(graph),
        fields: paths.map(|path| (path.to_owned(), 0)).collect(),
    };
    let digests = stored_digests(&spec.fields);
    let mut object = TestObject::new("test", spec);
    if case.deleted_before {
        object.edit(Edit::Delete);
        object.edit(Edit::Finalizer(graph.finalizer, true));
    }
    let status = MachineStatus {
        state: start.map(|policy| policy.name.to_owned()),
        entry: Some(EntryId::new(0xff)),
        state_entered_time: Some(began),
        attempts: Some(case.attempts),
        entries: case.entries.clone(),
        observed_generation: Some(1),
        spec_digests: (!digests.is_empty()).then(|| Box::new(digests)),
        ..MachineStatus::default()
    };
    if !case.is_new {
        object.edit(Edit::Status(LocalStatus {
            fields: (),
            machine: status,
        }));
    }
    if let Some(changed) = case.changed_before {
        object.edit(Edit::Generation(2));
        object.change(changed);
    }
    object
}
