//! One edge to be taken: how an object gets to its beginning, what the handlers do, and how one sees that it was taken.
use crate::{Effects, Exit, Graph, OnDelete, OnSpecChange, Period, Policy, StateId, Times, Told, Watch};
use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

/// How an object leaves a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Code(Exit),
    TimesOut,
    Fails,
    FailsForGood,
    IsFull,
    Deleted,
    Changes,
    SeesChanges,
    Restarts,
}

/// What a handler does.
#[derive(Clone, Copy, Debug)]
pub(super) enum Answer {
    Exit(Exit),
    Fail,
    FailForGood,
    /// Goes on until it is dropped.
    Hang,
    /// Stays so many times, if the state may, and goes on for ever then.
    Linger {
        stays: usize,
    },
    /// The process dies after this time.
    Die(Duration),
    /// Somebody deletes the object; then it takes this time to choose its way.
    BeDeleted(Duration, Exit),
    /// Somebody changes the spec; then it stays.
    SeeChange,
    /// What the state waits for changes; then it stays.
    SeeWatched(Watch),
}

/// How one sees that an edge was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// The handler of the state where it leads was started.
    Started(StateId),
    /// The same, of the state itself, without leaving it.
    Again,
    /// The generation was taken notice of, and the handler has not run for it.
    Observed(i64),
    /// The object rests.
    Rest,
    Gone,
}

#[derive(Clone, Debug)]
pub(super) struct Case {
    pub graph: &'static Graph,
    pub name: String,
    /// From a state in which an object can be found to the one whose edge is taken.
    pub route: Vec<StateId>,
    /// Found with this status: it had been stored, but for an object that is new.
    pub is_new: bool,
    pub answers: BTreeMap<StateId, Answer>,
    pub goal: Goal,
    pub entries: BTreeMap<String, u32>,
    pub attempts: u32,
    /// The spec was changed while no operator looked.
    pub changed_before: bool,
    pub deleted_before: bool,
    /// How often the handler of the last state of the route runs, where that is known.
    pub runs: Option<u32>,
    /// How long the object is in that state, where that is known: at least, at most.
    pub stays: Option<(Duration, Duration)>,
}

/// A state is found with a status of its own unless a restart goes elsewhere.
fn is_found(policy: &Policy) -> bool {
    policy.resume.is_none()
}

impl Case {
    /// The cases of one edge.
    pub fn all(graph: &'static Graph, from: StateId, way: Way, to: Option<StateId>) -> Vec<Self> {
        let goal = to.map_or(Goal::Gone, Goal::Started);
        let case = |answer, goal| Self::new(graph, from, way, answer, goal);
        let mut cases = Vec::new();
        match way {
            Way::Code(Exit::Stay) => cases.extend(Self::staying(graph, from)),
            Way::Code(exit) => cases.extend(case(Answer::Exit(exit), goal).map(|case| Self {
                runs: Some(1),
                ..case
            })),
            Way::TimesOut => cases.extend(Self::timing_out(graph, from, goal)),
            Way::Fails => cases.extend(Self::failing(graph, from, goal)),
            Way::FailsForGood => cases.extend(case(Answer::FailForGood, goal).map(|case| Self {
                runs: Some(1),
                ..case
            })),
            Way::IsFull => cases.extend(Self::filling(graph, from, goal)),
            Way::Deleted => cases.extend(Self::deleting(graph, from, goal)),
            Way::Changes | Way::SeesChanges => cases.extend(Self::changing(graph, from, way, goal)),
            Way::Restarts => {
                let goal = if to == Some(from) { Goal::Again } else { goal };
                cases.extend(case(Answer::Die(Duration::from_secs(1)), goal));
            }
        }
        let arriving: Vec<_> = cases.iter().filter_map(Self::arriving).collect();
        cases.extend(arriving);
        cases
    }

    /// The same of an object that is not found in the state, but new, or just come into a state that is not stored.
    fn arriving(&self) -> Option<Self> {
        let found = [
            self.changed_before,
            self.deleted_before,
            self.is_new,
            self.attempts > 0,
        ];
        let [from] = self.route[..] else { return None };
        // What is not stored begins anew in another process.
        let begins_anew = self.goal == Goal::Again && !self.graph.state(from).checkpoint;
        if found.contains(&true) || begins_anew {
            return None;
        }
        if from == self.graph.initial() {
            let name = format!("{}, of a new object", self.name);
            return Some(Self {
                name,
                is_new: true,
                ..self.clone()
            });
        }
        if self.graph.state(from).checkpoint {
            return None;
        }
        let (before, answer) = before(self.graph, from).find(|(before, _)| *before != from)?;
        let mut answers = self.answers.clone();
        answers.insert(before, answer);
        Some(Self {
            name: format!("{}, on the way", self.name),
            route: vec![before, from],
            answers,
            ..self.clone()
        })
    }

    /// `None`: nothing that an operator does brings an object there.
    fn new(graph: &'static Graph, from: StateId, way: Way, answer: Answer, goal: Goal) -> Option<Self> {
        let (is_new, mut answers, route) = route(graph, from)?;
        answers.insert(from, answer);
        let start = graph.state(*route.first()?);
        Some(Self {
            graph,
            name: format!("{}, {way:?}", graph.state(from).name),
            route,
            is_new,
            answers,
            goal,
            entries: BTreeMap::new(),
            attempts: 0,
            changed_before: false,
            deleted_before: start.deletion_path,
            runs: None,
            stays: None,
        })
    }

    fn staying(graph: &'static Graph, from: StateId) -> Vec<Self> {
        let policy = graph.state(from);
        let way = Way::Code(Exit::Stay);
        let stay = Answer::Exit(Exit::Stay);
        let after = timeout(graph, policy);
        let mut cases = Vec::new();
        match poll(graph, policy).filter(|poll| after.is_none_or(|after| *poll < after)) {
            Some(poll) => cases.extend(Self::new(graph, from, way, stay, Goal::Again).map(|case| Self {
                runs: Some(2),
                stays: Some((poll, poll)),
                ..case
            })),
            None => {
                let leaves = policy.timeout.filter(|_| after.is_some());
                let goal = leaves.map_or(Goal::Rest, |(_, to)| Goal::Started(to));
                cases.extend(Self::new(graph, from, way, stay, goal).map(|case| Self {
                    runs: Some(1),
                    stays: after.map(|after| (after, after)),
                    ..case
                }));
            }
        }
        for what in policy.wait.watch {
            let case = Self::new(graph, from, way, Answer::SeeWatched(*what), Goal::Again);
            cases.extend(case.map(|case| Self {
                runs: Some(2),
                stays: Some((Duration::ZERO, Duration::ZERO)),
                name: format!("{}, {what:?} changes", policy.name),
                ..case
            }));
        }
        cases
    }

    fn timing_out(graph: &'static Graph, from: StateId, goal: Goal) -> Vec<Self> {
        let policy = graph.state(from);
        let Some(after) = timeout(graph, policy) else {
            return Vec::new();
        };
        let exactly = |case| Self {
            stays: Some((after, after)),
            ..case
        };
        let linger = Answer::Linger { stays: 1 };
        let mut cases: Vec<_> = Self::new(graph, from, Way::TimesOut, linger, goal)
            .map(exactly)
            .into_iter()
            .collect();
        if is_found(policy) {
            let halfway = Self::new(graph, from, Way::TimesOut, Answer::Die(after / 2), goal).map(exactly);
            cases.extend(halfway.map(|case| Self {
                name: format!("{}, restarted halfway", case.name),
                ..case
            }));
        }
        cases
    }

    fn failing(graph: &'static Graph, from: StateId, goal: Goal) -> Option<Self> {
        let policy = graph.state(from);
        let case = Self::new(graph, from, Way::Fails, Answer::Fail, goal)?;
        if policy.effects == Effects::Once {
            return Some(Self {
                runs: Some(1),
                ..case
            });
        }
        let limit = policy.retry.limit?;
        // Only the last few of many retries, as many as there is time for.
        let time = timeout(graph, policy).unwrap_or(Duration::MAX);
        let delays = |before: u32| -> Duration {
            (before + 1..=limit)
                .map(|failures| full_delay(policy, failures))
                .sum()
        };
        let is_stored = case.route.len() == 1 && !case.is_new;
        let few = limit.saturating_sub(5)..=if is_stored { limit } else { 0 };
        let before = few.into_iter().find(|before| delays(*before) < time)?;
        let most = delays(before);
        Some(Self {
            attempts: before,
            runs: Some(limit - before + 1),
            stays: Some((most.mul_f64(0.9), most)),
            ..case
        })
    }

    /// Once too often, and once as often as it may be.
    fn filling(graph: &'static Graph, full: StateId, goal: Goal) -> Vec<Self> {
        let policy = graph.state(full);
        let Some((times, _)) = policy.limit else {
            return Vec::new();
        };
        let times = match times {
            Times::Fixed(times) => times,
            Times::Told(_) => TIMES,
        };
        let Some((from, _)) = before(graph, full).next() else {
            return Vec::new();
        };
        let case = |count, goal, what| {
            let case = Self::new(graph, from, Way::IsFull, Answer::Exit(Exit::To(full)), goal)?;
            Some(Self {
                entries: BTreeMap::from([(policy.name.to_owned(), count)]),
                name: format!("{}, {what}", policy.name),
                runs: Some(1),
                ..case
            })
        };
        let mut cases: Vec<_> = case(times, goal, "entered once too often").into_iter().collect();
        if times > 0 {
            cases.extend(case(
                times - 1,
                Goal::Started(full),
                "entered as often as it may be",
            ));
        }
        cases
    }

    fn deleting(graph: &'static Graph, from: StateId, goal: Goal) -> Vec<Self> {
        let policy = graph.state(from);
        let soon = timeout(graph, policy).map_or(Duration::from_secs(1), |after| {
            (after / 2).min(Duration::from_secs(1))
        });
        let exit = policy.next.first().map_or(Exit::Stay, |next| Exit::To(*next));
        let waits = graph.deletion().is_some() && policy.on_delete == OnDelete::Wait;
        let stays = if waits { soon } else { Duration::ZERO };
        let running = Self::new(graph, from, Way::Deleted, Answer::BeDeleted(soon, exit), goal);
        let mut cases: Vec<_> = running
            .map(|case| Self {
                runs: Some(1),
                stays: Some((stays, stays)),
                ..case
            })
            .into_iter()
            .collect();
        if is_found(policy) {
            let before = Self::new(graph, from, Way::Deleted, Answer::Hang, goal);
            cases.extend(before.map(|case| Self {
                name: format!("{} while no operator looked", case.name),
                deleted_before: true,
                runs: Some(0),
                ..case
            }));
        }
        cases
    }

    fn changing(graph: &'static Graph, from: StateId, way: Way, goal: Goal) -> Vec<Self> {
        let policy = graph.state(from);
        let goal = match policy.on_spec_change {
            OnSpecChange::To(_) => goal,
            OnSpecChange::Wake => Goal::Again,
            OnSpecChange::Ignore => Goal::Observed(2),
        };
        let mut cases = Vec::new();
        if policy.wait.poll.is_some() || !policy.wait.watch.is_empty() {
            let case = Self::new(graph, from, way, Answer::SeeChange, goal);
            cases.extend(case.map(|case| Self {
                runs: Some(if goal == Goal::Again { 2 } else { 1 }),
                stays: Some((Duration::ZERO, Duration::ZERO)),
                ..case
            }));
        }
        if is_found(policy) && goal != Goal::Again {
            let before = Self::new(graph, from, way, Answer::Linger { stays: usize::MAX }, goal);
            cases.extend(before.map(|case| Self {
                name: format!("{} while no operator looked", case.name),
                changed_before: true,
                ..case
            }));
        }
        cases
    }

    /// Whether a new process that finds an object in one of these states looks in `state` first, for what was to
    /// happen there may have happened.
    pub fn looks(&self, found: &[StateId], state: StateId) -> bool {
        let resume = found.iter().filter_map(|found| self.graph.state(*found).resume);
        let deleted = |looks: StateId| self.graph.state(looks).on_delete.to().or(self.graph.deletion());
        let mut resume = resume.flat_map(|looks| [Some(looks), deleted(looks)]);
        resume.any(|looks| looks == Some(state))
    }

    /// Whether arriving means to leave the state, or to enter it anew.
    pub fn leaves(&self) -> bool {
        matches!(self.goal, Goal::Started(_) | Goal::Gone)
    }
}

/// What fields say in these tests.
pub(super) const TIMES: u32 = 3;

/// What the fields of the object say, each another while; those that limits name say a number.
pub(super) fn told(graph: &Graph) -> Vec<Option<Told>> {
    let mut told = Vec::new();
    let mut say = |field: u16, what| {
        let field = usize::from(field);
        if told.len() <= field {
            told.resize(field + 1, None);
        }
        told[field] = Some(what);
    };
    for policy in graph.states() {
        let periods = [policy.wait.poll, policy.timeout.map(|(period, _)| period)];
        for period in periods.into_iter().flatten() {
            if let Period::Told(field) = period {
                say(field, Told::For(Duration::from_secs(60 * (u64::from(field) + 1))));
            }
        }
    }
    for policy in graph.states() {
        if let Some((Times::Told(field), _)) = policy.limit {
            say(field, Told::Number(TIMES));
        }
    }
    told
}

fn while_of(graph: &Graph, period: Period) -> Option<Duration> {
    match period {
        Period::Fixed(after) => Some(after),
        Period::Told(field) => match told(graph).get(usize::from(field)).copied().flatten()? {
            Told::For(after) => Some(after),
            Told::Number(seconds) => Some(Duration::from_secs(u64::from(seconds))),
            Told::At(_) => None,
        },
    }
}

pub(super) fn timeout(graph: &Graph, policy: &Policy) -> Option<Duration> {
    while_of(graph, policy.timeout?.0)
}

fn poll(graph: &Graph, policy: &Policy) -> Option<Duration> {
    while_of(graph, policy.wait.poll?)
}

/// The delay after so many failures, without jitter.
fn full_delay(policy: &Policy, failures: u32) -> Duration {
    let retry = policy.retry;
    let exponent = i32::try_from(failures - 1).unwrap_or(i32::MAX);
    let seconds = retry.initial.as_secs_f64() * retry.factor.powi(exponent);
    Duration::from_secs_f64(seconds.min(retry.max.as_secs_f64()))
}

pub(super) fn ids(graph: &Graph) -> impl Iterator<Item = StateId> + use<> {
    (0..u16::try_from(graph.states().len()).unwrap_or(u16::MAX)).map(StateId)
}

fn by_code(graph: &Graph, from: StateId) -> impl Iterator<Item = (Answer, StateId)> + use<> {
    let next = graph.state(from).next.iter();
    next.map(|to| (Answer::Exit(Exit::To(*to)), *to))
}

/// States that an object can be found in and whose code leads to another, and what their handlers do for it.
fn before(graph: &'static Graph, to: StateId) -> impl Iterator<Item = (StateId, Answer)> {
    let found = ids(graph).filter(|id| is_found(graph.state(*id)));
    found.flat_map(move |id| {
        let edges = by_code(graph, id).filter(move |(_, next)| *next == to);
        edges.map(move |(answer, _)| (id, answer))
    })
}

/// Edges that a script can take, those of code first.
fn edges(graph: &Graph, from: StateId) -> Vec<(Answer, StateId)> {
    let policy = graph.state(from);
    let mut edges: Vec<_> = by_code(graph, from).collect();
    edges.extend(policy.timeout.map(|(_, to)| (Answer::Hang, to)));
    edges.extend(policy.retry.then.map(|to| (Answer::FailForGood, to)));
    if let (OnSpecChange::To(to), Some(_)) = (policy.on_spec_change, policy.wait.poll) {
        edges.push((Answer::SeeChange, to));
    }
    edges
}

type Route = (bool, BTreeMap<StateId, Answer>, Vec<StateId>);

/// The shortest way to a state from one that an object can be found in, and what the handlers on it do.
fn route(graph: &Graph, to: StateId) -> Option<Route> {
    if is_found(graph.state(to)) {
        return Some((false, BTreeMap::new(), vec![to]));
    }
    let mut before: BTreeMap<StateId, Option<(StateId, Answer)>> = BTreeMap::new();
    let starts = ids(graph).filter(|id| is_found(graph.state(*id)) || *id == graph.initial());
    let mut next: VecDeque<StateId> = starts.collect();
    before.extend(next.iter().map(|start| (*start, None)));
    while let Some(at) = next.pop_front().filter(|_| !before.contains_key(&to)) {
        for (answer, reached) in edges(graph, at) {
            before.entry(reached).or_insert_with(|| {
                next.push_back(reached);
                Some((at, answer))
            });
        }
    }
    let (mut answers, mut route) = (BTreeMap::new(), vec![to]);
    while let Some((at, answer)) = *before.get(route.last()?)? {
        answers.insert(at, answer);
        route.push(at);
    }
    route.reverse();
    let is_new = !is_found(graph.state(*route.first()?));
    Some((is_new, answers, route))
}
