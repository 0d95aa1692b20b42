//! One replay: an object, its processes, and the events at the points that the schedule chooses.
use super::{Choices, Kind};
use crate::{
    actor::{Actor, Step},
    error::{Error, Result},
    graph::{Effects, Exit, Graph, OnSpecChange, StateId, StateKind, Watch},
    local::{FOREVER, FaultKind, Handle},
    lock::Lock as _,
    machine::Context,
    testing::graphs::{
        case::{Case, Goal, on_change_of},
        oracle::{self, Disturbance},
        recorder::{Note, Recorder},
        scripted::{Plan, Role, Scripted},
        walk,
        witness::{self, Witnessed},
    },
    world::{WorkQueue, World as _},
};
use futures::{FutureExt as _, future::BoxFuture};
use jiff::Timestamp;
use std::{
    collections::BTreeMap,
    pin::pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
};
use tokio::{
    sync::Notify,
    time::{sleep, sleep_until},
};

/// A process that takes this many steps, or waits this often, is in an endless loop.
const STEPS: usize = 40;
const WAITS: usize = 4;

/// One replay.
struct Search {
    choices: Arc<Choices>,
    runs: AtomicUsize,
    most_runs: usize,
    /// Whether the process that takes over runs. In this time, nothing is chosen.
    is_twin: AtomicBool,
    /// Whether another object has the place that this one asks for.
    is_full: AtomicBool,
    /// Notified when the process has to be frozen in a write, and when it continues.
    freezes: Notify,
    thaws: Notify,
    /// Notified when enough handlers have run.
    enough: Notify,
    /// The events that another client or process may cause, and the paths of the fields that it may edit.
    events: Vec<EventKind>,
    watched_fields: Vec<String>,
    /// The number of edits of the spec.
    edits: AtomicUsize,
    /// The last event of another client, and the number of notes before it.
    event: Mutex<Option<(EventKind, usize)>>,
}

/// An event that another client or process causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EventKind {
    /// An edit of the field with this number among those that the graph distinguishes, or of another field.
    SpecEdit(Option<u8>),
    Deletion,
    ChildChange,
    Twin,
}

/// The events that may happen to objects of a graph, the twin last.
fn events(graph: &Graph<'_>) -> Vec<EventKind> {
    let fields = (0..).zip(graph.watched_fields()).map(|(number, _)| Some(number));
    let edits = std::iter::once(None).chain(fields).map(EventKind::SpecEdit);
    let others = [EventKind::Deletion, EventKind::ChildChange, EventKind::Twin];
    edits.chain(others).collect()
}

/// The path of the edited field; `None` if the graph does not distinguish it.
fn edited<'g>(graph: &Graph<'g>, field: Option<u8>) -> Option<&'g str> {
    graph.watched_fields().get(usize::from(field?)).copied()
}

const FAULTS: [FaultKind; 4] = [
    FaultKind::DiesBefore,
    FaultKind::DiesAfter,
    FaultKind::AnotherClientIsFaster,
    FaultKind::AnswerIsLost,
];

impl Search {
    fn choose(&self, kind: Kind, of: usize) -> usize {
        if self.is_twin.load(Relaxed) {
            return 0;
        }
        self.choices.choose(kind, of)
    }

    /// Lets another client act, or not. Another process can take over only at a write.
    fn event(&self, recorder: &Recorder, outside: &Handle<Scripted>, at_write: bool) -> Option<EventKind> {
        let of = self.events.len() - usize::from(!at_write);
        let event = *self
            .events
            .get(self.choose(Kind::Event, of + 1).checked_sub(1)?)?;
        match event {
            EventKind::SpecEdit(field) => {
                self.edits.fetch_add(1, Relaxed);
                let path = field.and_then(|field| self.watched_fields.get(usize::from(field)));
                outside.update_spec(|object| object.change(path.map(String::as_str)));
            }
            EventKind::Deletion => outside.delete(),
            EventKind::ChildChange => outside.changed(Watch::Owned),
            EventKind::Twin => {}
        }
        let after = recorder.notes().len();
        *self.event.locked() = Some((event, after));
        Some(event)
    }
}

impl Plan for Search {
    fn before_write<'a>(
        &'a self,
        _: usize,
        role: &'a Role,
        graph: &'a Graph<'_>,
    ) -> BoxFuture<'a, Option<FaultKind>> {
        async move {
            match self.event(&role.recorder, &role.outside, true) {
                Some(EventKind::Twin) => {
                    self.freezes.notify_one();
                    self.thaws.notified().await;
                }
                Some(_) => role.look(graph),
                None => {}
            }
            let fault = self.choose(Kind::Fault, FAULTS.len() + 1).checked_sub(1)?;
            FAULTS.get(fault).copied()
        }
        .boxed()
    }

    fn has_place(&self) -> bool {
        let has_place = self.choose(Kind::Event, 2) == 0;
        if !has_place {
            self.is_full.store(true, Relaxed);
        }
        has_place
    }

    fn act<'a>(
        &'a self,
        state: StateId,
        _: usize,
        cx: &'a mut Context<'_, Scripted>,
    ) -> BoxFuture<'a, Result<Exit>> {
        act(self, state, cx).boxed()
    }
}

/// A run of a handler in a search.
async fn act(search: &Search, state: StateId, cx: &Context<'_, Scripted>) -> Result<Exit> {
    if search.runs.fetch_add(1, Relaxed) >= search.most_runs {
        search.enough.notify_one();
        return std::future::pending().await;
    }
    let (role, graph) = (&*cx.object, cx.graph);
    if search.event(&role.recorder, &role.outside, false).is_some() {
        role.look(graph);
    }
    // A handler may be interrupted at an await point.
    tokio::task::yield_now().await;
    let policy = graph.state(state);
    let next = policy.next.iter().map(|to| Some(Exit::To(*to)));
    let stay = (policy.wait.poll.is_some() || !policy.wait.watch.is_empty()).then_some(Some(Exit::Stay));
    let done = (policy.kind == StateKind::Final).then_some(Some(Exit::Done));
    // In states where objects rest, staying is the ordinary answer.
    let rests = policy.kind != StateKind::Working;
    let answers: Vec<Option<Exit>> = if rests {
        done.into_iter().chain(stay).chain(next).chain([None]).collect()
    } else {
        next.chain(stay).chain([None]).collect()
    };
    match answers[search.choose(Kind::Answer, answers.len())] {
        Some(exit) => Ok(exit),
        None => Err(Error::transient("the schedule says so")),
    }
}

/// The reason for the end of a replay.
#[derive(Debug, PartialEq)]
enum End {
    Died,
    Rests,
    Over,
    /// The bounds are reached, so later behaviour is unknown.
    Far,
}

/// An object that is new, or found in a state, without a required event.
fn case(graph: &Graph<'_>, state: Option<StateId>) -> Case {
    Case {
        name: String::new(),
        route: vec![state.unwrap_or(graph.initial)],
        is_new: state.is_none(),
        answers: BTreeMap::new(),
        goal: Goal::Rest,
        entries: BTreeMap::new(),
        attempts: 0,
        changed_before: None,
        deleted_before: state.is_some_and(|state| graph.state(state).deletion_path),
        runs: None,
        stays: None,
    }
}

/// Replays one schedule, and returns the problems.
pub(super) async fn replay(
    graph: &Graph<'_>,
    driven: &Graph<'_>,
    found: Option<StateId>,
    choices: &Arc<Choices>,
) -> Vec<String> {
    let case = case(graph, found);
    let began = Timestamp::UNIX_EPOCH;
    let search = Arc::new(Search {
        choices: Arc::clone(choices),
        runs: AtomicUsize::new(0),
        most_runs: choices.runs(),
        is_twin: AtomicBool::new(false),
        is_full: AtomicBool::new(false),
        freezes: Notify::new(),
        thaws: Notify::new(),
        enough: Notify::new(),
        events: events(graph),
        watched_fields: graph.watched_fields().into_iter().map(str::to_owned).collect(),
        edits: AtomicUsize::new(0),
        event: Mutex::default(),
    });
    let object = walk::found(graph, &case, began);
    let recorder = Recorder::new(case, true);
    let world = witness::world(driven, object, began, recorder, Arc::clone(&search) as _);
    let recorder = &world.hooks.role.recorder;
    let mut end = End::Died;
    while end == End::Died {
        end = live(&world, &search).await;
        if end == End::Died {
            recorder.note(Note::Died);
        }
    }
    let event = *search.event.locked();
    let two_processes = event.is_some_and(|(event, _)| event == EventKind::Twin);
    let disturbance = Disturbance::Schedule { two_processes };
    let mut wrong = oracle::judge(graph, recorder, disturbance);
    if end == End::Rests {
        wrong.extend(lost(graph, &world, &search));
    }
    if !wrong.is_empty() {
        wrong.push(format!(
            "    in the end: {end:?}, after {:?}",
            *search.event.locked()
        ));
        let notes = world.hooks.role.recorder.notes();
        wrong.extend(
            notes
                .iter()
                .map(|(at, note)| format!("    {at:?} {}", note.describe(graph))),
        );
    }
    wrong
}

/// One process, from the stored object to its end.
async fn live(world: &Witnessed<'_>, search: &Search) -> End {
    let queue = &world.handle.0.queue;
    let life = async {
        let Some(stored) = world.handle.stored() else {
            return End::Over;
        };
        drop(queue.take());
        if !Actor::<Scripted>::is_responsible_for(world.hooks.graph, &stored) {
            return End::Over;
        }
        let mut actor = Actor::<Scripted>::new(world.hooks.graph, stored, None, world.now());
        let mut waits = 0;
        for _ in 0..STEPS {
            let step = {
                let mut step = pin!(actor.step(world, queue));
                loop {
                    tokio::select! {
                        biased;
                        () = search.freezes.notified() => {
                            twin(world, search).await;
                            search.thaws.notify_one();
                        }
                        step = &mut step => break step,
                    }
                }
            };
            world.hooks.look();
            let mut until = match step {
                Step::Again => continue,
                Step::Over => return End::Over,
                Step::Wait(until) => until,
            };
            // Like the dispatcher: observations that need no step only change the time of the next one.
            let is_due = loop {
                let has_queued = queue.arrived().now_or_never().is_some();
                if has_queued {
                    match actor.receive(queue.take(), world.now()) {
                        Step::Wait(next) => until = next,
                        Step::Again | Step::Over => break true,
                    }
                }
                if search
                    .event(&world.hooks.role.recorder, &world.handle, false)
                    .is_none()
                {
                    break false;
                }
                world.hooks.look();
            };
            if is_due {
                continue;
            }
            let Some(until) = until else {
                // The other object leaves, so that this one can enter.
                if search.is_full.swap(false, Relaxed) {
                    continue;
                }
                return End::Rests;
            };
            waits += 1;
            if waits > WAITS {
                break;
            }
            sleep_until(world.instant(until)).await;
        }
        End::Far
    };
    tokio::select! {
        biased;
        () = world.hooks.role.recorder.dies.notified() => End::Died,
        () = search.enough.notified() => End::Far,
        end = life => end,
        () = sleep(FOREVER) => End::Far,
    }
}

/// Another process takes over while the first one is frozen, and takes all steps that are due.
async fn twin(world: &Witnessed<'_>, search: &Search) {
    let Some(stored) = world.handle.stored() else {
        return;
    };
    if !Actor::<Scripted>::is_responsible_for(world.hooks.graph, &stored) {
        return;
    }
    search.is_twin.store(true, Relaxed);
    let queue = WorkQueue::default();
    let mut actor = Actor::<Scripted>::new(world.hooks.graph, stored, None, world.now());
    for _ in 0..STEPS {
        let step = actor.step(world, &queue).await;
        world.hooks.look();
        if step != Step::Again {
            break;
        }
    }
    search.is_twin.store(false, Relaxed);
}

/// The observations that an object at rest has lost: a change of the spec, its deletion, or the change of a child.
fn lost(graph: &Graph<'_>, world: &Witnessed<'_>, search: &Search) -> Vec<String> {
    let mut lost = Vec::new();
    let Some(object) = world.handle.stored() else {
        return lost;
    };
    let stored = object.seen(graph);
    let Some(state) = stored.state else { return lost };
    let (policy, status) = (graph.state(state), stored.status.unwrap_or_default());
    let may_act = policy.effects == Effects::Idempotent && status.attempts.unwrap_or(0) == 0;
    if stored.deleting && graph.deletion.is_some() && !policy.deletion_path {
        lost.push(format!(
            "the deletion is lost: the object rests in {}",
            policy.name
        ));
    }
    if stored.deleting && !graph.takes_finalizer() && !world.hooks.role.recorder.case.deleted_before {
        lost.push(format!(
            "the object cannot be deleted: it rests in {}",
            policy.name
        ));
    }
    if let Some(ask) = &status.ask {
        lost.push(format!(
            "the object rests in {} and asks for {}, where there is a place",
            policy.name, ask.to
        ));
    }
    let notes = world.hooks.role.recorder.notes();
    let rests = !stored.deleting && may_act && policy.written && policy.kind != StateKind::Final;
    if rests && status.observed_generation != Some(stored.generation) {
        lost.push(format!(
            "the change of the spec is lost: generation {} of {:?} in {}",
            stored.generation, status.observed_generation, policy.name
        ));
    }
    let event = *search.event.locked();
    if let Some((event, after)) = event {
        let ran = |note: &(_, Note)| matches!(note.1, Note::Started(_));
        let reacts = match event {
            EventKind::ChildChange => policy.wait.watch.contains(&Watch::Owned),
            // The oracle only determines the combined effect of several edits.
            EventKind::SpecEdit(field) => {
                search.edits.load(Relaxed) == 1
                    && on_change_of(policy, edited(graph, field)) != OnSpecChange::Ignore
            }
            EventKind::Deletion | EventKind::Twin => false,
        };
        if rests && reacts && !notes.iter().skip(after).any(ran) {
            lost.push(format!(
                "{event:?} is lost: no handler ran after it, in {}",
                policy.name
            ));
        }
    }
    lost
}
