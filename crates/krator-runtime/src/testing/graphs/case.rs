//! One edge to be taken: the path of an object to its source, the behaviour of the handlers, and the evidence that it
//! was taken.
mod by_cause;
mod route;

pub(super) use route::{field_values, timeout};

use super::edges::within_limits;
use crate::graph::{Exit, Graph, OnSpecChange, Policy, Retry, SpecChange, StateId, Times, Watch};
use route::{Route, before, route};
use std::{collections::BTreeMap, time::Duration};

/// The reason why an object leaves a state, or an event while it stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The handler ends its run with this result.
    Code(Exit),
    /// The timeout passes.
    TimesOut,
    /// The handler fails more often than its `retry` allows.
    Fails,
    /// The handler returns a permanent error.
    FailsForGood,
    /// The state is entered more often than its `limit` allows.
    ExceedsLimit,
    /// The object is deleted.
    Deleted,
    /// The spec changes, and the object enters another state or enters this one again.
    Changes,
    /// The spec changes, and the object stays.
    SeesChanges,
    /// The field of the spec at this path changes, and the object enters another state or enters this one again.
    ChangesOf(&'static str),
    /// The field of the spec at this path changes, and the object stays.
    SeesChangesOf(&'static str),
    /// The operator restarts.
    Restarts,
}

/// The action of a handler.
#[derive(Clone, Copy, Debug)]
pub(super) enum Action {
    Exit(Exit),
    Fail,
    FailForGood,
    /// Runs until it is dropped.
    Hang,
    /// Stays this many times, if the state allows that, and then runs until it is dropped.
    Linger {
        stays: usize,
    },
    /// The process dies after this time.
    Die(Duration),
    /// Another client deletes the object; then the handler takes this long to end.
    BeDeleted(Duration, Exit),
    /// Another client changes the spec, the field at this path or another one; then the handler stays.
    SeeChange(Option<&'static str>),
    /// An object that the state waits for changes; then the handler stays.
    SeeWatched(Watch),
}

/// The evidence that an edge was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// The handler of the state that the edge leads to was started.
    Started(StateId),
    /// The handler of the state itself was started again.
    Again,
    /// The status has this `observedGeneration`, without another run of the handler.
    Observed(i64),
    /// The object rests.
    Rest,
    /// The object is gone.
    Gone,
}

#[derive(Clone, Debug)]
pub(super) struct Case {
    pub name: String,
    /// The states from one in which an operator can find an object to the one whose edge is taken.
    pub route: Vec<StateId>,
    /// Whether the object is new. Otherwise the first state of the route is stored.
    pub is_new: bool,
    pub answers: BTreeMap<StateId, Action>,
    pub goal: Goal,
    /// The stored entries of states that have a limit.
    pub entries: BTreeMap<String, u32>,
    /// The stored number of consecutive failures.
    pub attempts: u32,
    /// The field of the spec that was changed while no operator was running.
    pub changed_before: Option<Option<&'static str>>,
    /// The object was deleted while no operator was running.
    pub deleted_before: bool,
    /// The number of runs of the handler of the last state of the route, if it is known.
    pub runs: Option<u32>,
    /// The shortest and the longest time of the object in that state, if they are known.
    pub stays: Option<(Duration, Duration)>,
}

/// Whether an operator that starts can find an object in the state, because it does not resume in another one.
fn is_found(policy: &Policy<'_>) -> bool {
    policy.resume.is_none() || !policy.written
}

/// A time in which a handler can do something before the timeout of its state passes.
fn soon(graph: &Graph<'_>, policy: &Policy<'_>) -> Duration {
    let second = Duration::from_secs(1);
    timeout(graph, policy).map_or(second, |after| half(after).min(second))
}

/// The effect of a change of the field at this path, or of any other field. The path of an object covers the fields
/// in it.
pub(super) fn on_change_of(policy: &Policy<'_>, changed: Option<&str>) -> OnSpecChange {
    let concerns =
        |change: &&SpecChange<'_>| changed.is_some_and(|path| change.of.iter().any(|of| covers(of, path)));
    let mut changes = policy.on_spec_change_of.iter();
    changes
        .find(concerns)
        .map_or(policy.on_spec_change, |change| change.does)
}

/// Whether a change of the field at `path` is one of the field at `of`.
pub(super) fn covers(of: &str, path: &str) -> bool {
    path.strip_prefix(of)
        .is_some_and(|below| below.is_empty() || below.starts_with('.'))
}

/// Half of a time, in whole milliseconds, which is the resolution of timers.
fn half(time: Duration) -> Duration {
    Duration::from_millis(u64::try_from(time.as_millis() / 2).unwrap_or(u64::MAX))
}

impl Case {
    /// The cases of one edge.
    pub fn all(graph: &Graph<'_>, from: StateId, cause: Cause, to: Option<StateId>) -> Vec<Self> {
        if !graph.state(from).written {
            return Self::without_handler(graph, from, cause, to);
        }
        let goal = to.map_or(Goal::Gone, Goal::Started);
        let case = |answer, goal| Self::new(graph, from, cause, answer, goal);
        let mut cases = Vec::new();
        match cause {
            Cause::Code(Exit::Stay) => cases.extend(Self::staying(graph, from)),
            Cause::Code(exit) => cases.extend(case(Action::Exit(exit), goal).map(|case| case.runs(1))),
            Cause::TimesOut => cases.extend(Self::timing_out(graph, from, goal)),
            Cause::Fails => cases.extend(Self::failing(graph, from, goal)),
            Cause::FailsForGood => {
                cases.extend(case(Action::FailForGood, goal).map(|case| case.runs(1)));
            }
            Cause::ExceedsLimit => cases.extend(Self::filling(graph, from, goal)),
            Cause::Deleted => cases.extend(Self::deleting(graph, from, goal)),
            Cause::Changes | Cause::SeesChanges => {
                cases.extend(Self::changing(graph, from, cause, (None, goal)));
            }
            Cause::ChangesOf(path) | Cause::SeesChangesOf(path) => {
                cases.extend(Self::changing(graph, from, cause, (Some(path), goal)));
            }
            // A state that is not stored is entered again by the next process, regardless of `resume`.
            Cause::Restarts if !graph.state(from).checkpoint && !is_found(graph.state(from)) => {}
            Cause::Restarts => {
                // A state whose `resume` names itself is entered again.
                let stays = to == Some(from) && is_found(graph.state(from));
                let goal = if stays { Goal::Again } else { goal };
                cases.extend(case(Action::Die(soon(graph, graph.state(from))), goal));
            }
        }
        let arriving: Vec<_> = cases.iter().filter_map(|case| case.arriving(graph)).collect();
        cases.extend(arriving);
        cases.retain(|case| !case.fills_goal(graph));
        cases.retain(|case| match case.route[..] {
            [.., before, from] => case.ends_alike(graph, before, from),
            _ => true,
        });
        cases
    }

    /// The cases of one edge from a state whose handler is not written. An edge that a handler takes is not taken: the
    /// object rests, or the timeout fires.
    fn without_handler(graph: &Graph<'_>, from: StateId, cause: Cause, to: Option<StateId>) -> Vec<Self> {
        let policy = graph.state(from);
        let (after, timeout) = (
            timeout(graph, policy),
            policy.timeout.map(|(_, to)| Goal::Started(to)),
        );
        let stays = |goal| (goal, after.map(|after| (after, after)));
        let changed = match cause {
            Cause::Changes | Cause::SeesChanges => Some(None),
            Cause::ChangesOf(path) | Cause::SeesChangesOf(path) => Some(Some(path)),
            _ => None,
        };
        let does = changed.map(|path| on_change_of(policy, path));
        let (goal, stays) = match (cause, does) {
            (Cause::Code(_) | Cause::Fails | Cause::FailsForGood | Cause::Restarts | Cause::TimesOut, _)
            | (Cause::SeesChanges | Cause::SeesChangesOf(_), Some(OnSpecChange::Wake)) => {
                match timeout.filter(|_| after.is_some()) {
                    Some(goal) => stays(goal),
                    None => (Goal::Rest, None),
                }
            }
            (Cause::SeesChanges | Cause::SeesChangesOf(_), _) => (Goal::Observed(2), None),
            (Cause::Changes | Cause::ChangesOf(_) | Cause::Deleted, _) => {
                (to.map_or(Goal::Gone, Goal::Started), None)
            }
            (Cause::ExceedsLimit, _) => return Vec::new(),
        };
        if let Goal::Started(to) = goal {
            let to = graph.state(to);
            // The next state may react at once to a change that was not handled.
            let is_seen = matches!(cause, Cause::SeesChanges | Cause::SeesChangesOf(_));
            let passes = is_seen && matches!(on_change_of(to, changed.flatten()), OnSpecChange::To(_));
            // After the death of a process in it, the next one may resume in a state where no handler starts.
            let starts = |at: &StateId| graph.state(*at).written;
            let resumes = to
                .resume
                .is_some_and(|at| !within_limits(graph, at).iter().all(starts));
            if !to.written || passes || resumes {
                return Vec::new();
            }
        }
        let case = Self::new(graph, from, cause, Action::Hang, goal);
        let case = case.map(|case| Self {
            changed_before: changed,
            deleted_before: case.deleted_before || cause == Cause::Deleted,
            stays,
            ..case.runs(0).named(", not written")
        });
        case.into_iter().collect()
    }

    /// Whether deletions in `from` and in `before` lead to the same state, if the object is deleted in `from`. An
    /// operator that restarts finds it in `before` if `from` is not stored.
    fn ends_alike(&self, graph: &Graph<'_>, before: StateId, from: StateId) -> bool {
        let is_deleted = matches!(self.answers.get(&from), Some(Action::BeDeleted(..)));
        let on_delete = |state| graph.state(state).on_delete.to();
        !is_deleted || graph.state(from).checkpoint || on_delete(before) == on_delete(from)
    }

    /// The number of changes of the spec before the object reaches `from`.
    fn changes_on_the_way(&self, from: StateId) -> i64 {
        let answers = self.route.iter().filter(|state| **state != from);
        let changes = answers.filter(|state| matches!(self.answers.get(state), Some(Action::SeeChange(_))));
        changes.map(|_| 1).sum()
    }

    /// Whether the goal cannot be entered again, because the route has entered it as often as its limit allows.
    fn fills_goal(&self, graph: &Graph<'_>) -> bool {
        let Goal::Started(to) = self.goal else {
            return false;
        };
        let policy = graph.state(to);
        let Some((Times::Fixed(times), _)) = policy.limit else {
            return false;
        };
        let passed = self.route.iter().filter(|state| **state == to).count();
        let stored = self.entries.get(policy.name).copied().unwrap_or(0);
        passed > 0 && stored.saturating_add(u32::try_from(passed).unwrap_or(u32::MAX)) >= times
    }

    /// The same case for an object that is not found in the state, because it is new or has just entered a state
    /// without a checkpoint.
    fn arriving(&self, graph: &Graph<'_>) -> Option<Self> {
        let found = [
            self.changed_before.is_some(),
            self.deleted_before,
            self.is_new,
            self.attempts > 0,
            self.entries.values().any(|entries| *entries > 0),
        ];
        let [from] = self.route[..] else { return None };
        // A state that is not stored is entered again by another process.
        // A new object has entered its first state once.
        let is_counted = matches!(self.goal, Goal::Started(to) if graph.state(to).limit.is_some());
        let begins_anew = self.goal == Goal::Again && !graph.state(from).checkpoint;
        if found.contains(&true) || begins_anew {
            return None;
        }
        if from == graph.initial && is_counted {
            return None;
        }
        if from == graph.initial {
            return Some(Self {
                is_new: true,
                ..self.clone().named(", of a new object")
            });
        }
        if graph.state(from).checkpoint {
            return None;
        }
        let mut found = before(graph, from).filter(|(before, _)| *before != from);
        let (before, answer) = found.find(|(before, _)| self.ends_alike(graph, *before, from))?;
        let mut answers = self.answers.clone();
        answers.insert(before, answer);
        Some(Self {
            route: vec![before, from],
            answers,
            ..self.clone().named(", on the way")
        })
    }

    /// Returns `None` if an operator cannot lead an object into the state.
    fn new(graph: &Graph<'_>, from: StateId, cause: Cause, answer: Action, goal: Goal) -> Option<Self> {
        let Route {
            is_new,
            mut answers,
            states: route,
        } = route(graph, from)?;
        answers.insert(from, answer);
        let start = graph.state(*route.first()?);
        Some(Self {
            name: format!("{}, {cause:?}", graph.state(from).name),
            route,
            is_new,
            answers,
            goal,
            entries: BTreeMap::new(),
            attempts: 0,
            changed_before: None,
            deleted_before: start.deletion_path,
            runs: None,
            stays: None,
        })
    }

    /// Sets the number of runs of the handler of the last state of the route.
    fn runs(self, runs: u32) -> Self {
        let runs = Some(runs);
        Self { runs, ..self }
    }

    /// Sets the time of the object in that state.
    fn stays(self, least: Duration, most: Duration) -> Self {
        let stays = Some((least, most));
        Self { stays, ..self }
    }

    fn named(mut self, what: &str) -> Self {
        self.name += what;
        self
    }

    /// Whether a timeout of the case may pass before a failed request is repeated.
    pub fn is_hasty(&self, graph: &Graph<'_>) -> bool {
        let entered = self.route.iter().copied().chain(match self.goal {
            Goal::Started(to) => Some(to),
            _ => None,
        });
        let mut timeouts = entered.filter_map(|state| timeout(graph, graph.state(state)));
        timeouts.any(|after| after <= Retry::OF_REQUESTS.initial)
    }
}
