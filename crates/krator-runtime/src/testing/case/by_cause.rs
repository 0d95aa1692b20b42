//! The cases of the edges with a cause of their own: a stay, a timeout, failures, a limit, a deletion, a change of the spec.
use super::{
    Answer, Case, Cause, Goal, half, is_found, on_change_of,
    route::{LIMIT_FROM_FIELD, before, full_delay, poll, timeout},
    soon,
};
use crate::graph::{Effects, Exit, Graph, OnDelete, OnSpecChange, StateId, Times};
use std::{collections::BTreeMap, time::Duration};

impl Case {
    pub(super) fn staying(graph: &Graph<'_>, from: StateId) -> Vec<Self> {
        let policy = graph.state(from);
        let cause = Cause::Code(Exit::Stay);
        let stay = Answer::Exit(Exit::Stay);
        let after = timeout(graph, policy);
        let mut cases = Vec::new();
        match poll(graph, policy).filter(|poll| after.is_none_or(|after| *poll < after)) {
            Some(poll) => cases.extend(Self::new(graph, from, cause, stay, Goal::Again).map(|case| Self {
                runs: Some(2),
                stays: Some((poll, poll)),
                ..case
            })),
            None => {
                let leaves = policy.timeout.filter(|_| after.is_some());
                let goal = leaves.map_or(Goal::Rest, |(_, to)| Goal::Started(to));
                cases.extend(Self::new(graph, from, cause, stay, goal).map(|case| Self {
                    runs: Some(1),
                    stays: after.map(|after| (after, after)),
                    ..case
                }));
            }
        }
        for what in policy.wait.watch {
            let case = Self::new(graph, from, cause, Answer::SeeWatched(*what), Goal::Again);
            cases.extend(case.map(|case| Self {
                runs: Some(2),
                stays: Some((Duration::ZERO, Duration::ZERO)),
                name: format!("{}, {what:?} changes", policy.name),
                ..case
            }));
        }
        cases
    }

    pub(super) fn timing_out(graph: &Graph<'_>, from: StateId, goal: Goal) -> Vec<Self> {
        let policy = graph.state(from);
        let Some(after) = timeout(graph, policy) else {
            return Vec::new();
        };
        let exactly = |case| Self {
            stays: Some((after, after)),
            ..case
        };
        let linger = Answer::Linger { stays: 1 };
        let mut cases: Vec<_> = Self::new(graph, from, Cause::TimesOut, linger, goal)
            .map(exactly)
            .into_iter()
            .collect();
        if is_found(policy) {
            let halfway =
                Self::new(graph, from, Cause::TimesOut, Answer::Die(half(after)), goal).map(exactly);
            cases.extend(halfway.map(|case| Self {
                name: format!("{}, restarted halfway", case.name),
                ..case
            }));
        }
        cases
    }

    pub(super) fn failing(graph: &Graph<'_>, from: StateId, goal: Goal) -> Option<Self> {
        let policy = graph.state(from);
        let case = Self::new(graph, from, Cause::Fails, Answer::Fail, goal)?;
        if policy.effects == Effects::Once {
            return Some(Self {
                runs: Some(1),
                ..case
            });
        }
        let limit = policy.retry.limit?;
        // Of many retries only the last few are made, as many as fit into the timeout.
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

    /// The state is entered once more than its limit allows, and once as often as it allows.
    pub(super) fn filling(graph: &Graph<'_>, full: StateId, goal: Goal) -> Vec<Self> {
        let policy = graph.state(full);
        let Some((times, _)) = policy.limit else {
            return Vec::new();
        };
        let times = match times {
            Times::Fixed(times) => times,
            Times::FromField(_) => LIMIT_FROM_FIELD,
        };
        let Some((from, _)) = before(graph, full).next() else {
            return Vec::new();
        };
        let case = |count, goal, what| {
            let case = Self::new(
                graph,
                from,
                Cause::ExceedsLimit,
                Answer::Exit(Exit::To(full)),
                goal,
            )?;
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

    pub(super) fn deleting(graph: &Graph<'_>, from: StateId, goal: Goal) -> Vec<Self> {
        let policy = graph.state(from);
        let soon = soon(graph, policy);
        let exit = policy.next.first().map_or(Exit::Stay, |next| Exit::To(*next));
        let waits = graph.deletion().is_some() && policy.on_delete == OnDelete::Wait;
        let stays = if waits { soon } else { Duration::ZERO };
        let running = Self::new(graph, from, Cause::Deleted, Answer::BeDeleted(soon, exit), goal);
        let mut cases: Vec<_> = running
            .map(|case| Self {
                runs: Some(1),
                stays: Some((stays, stays)),
                ..case
            })
            .into_iter()
            .collect();
        if is_found(policy) {
            let before = Self::new(graph, from, Cause::Deleted, Answer::Hang, goal);
            cases.extend(before.map(|case| Self {
                name: format!("{} while no operator was running", case.name),
                deleted_before: true,
                runs: Some(0),
                ..case
            }));
        }
        cases
    }

    pub(super) fn changing(
        graph: &Graph<'_>,
        from: StateId,
        cause: Cause,
        (changed, goal): (Option<&'static str>, Goal),
    ) -> Vec<Self> {
        let policy = graph.state(from);
        let goal = match on_change_of(policy, changed) {
            OnSpecChange::To(_) => goal,
            OnSpecChange::Wake => Goal::Again,
            OnSpecChange::Ignore => Goal::Observed(2),
        };
        let mut cases = Vec::new();
        if policy.wait.poll.is_some() || !policy.wait.watch.is_empty() {
            let case = Self::new(graph, from, cause, Answer::SeeChange(changed), goal);
            cases.extend(case.map(|case| Self {
                runs: Some(if goal == Goal::Again { 2 } else { 1 }),
                stays: Some((Duration::ZERO, Duration::ZERO)),
                goal: match goal {
                    Goal::Observed(generation) => Goal::Observed(generation + case.changes_on_the_way(from)),
                    other => other,
                },
                ..case
            }));
        }
        // Without a checkpoint nothing is written before the handler runs.
        let shows = policy.checkpoint || !matches!(goal, Goal::Observed(_));
        if is_found(policy) && goal != Goal::Again && shows {
            let before = Self::new(graph, from, cause, Answer::Linger { stays: usize::MAX }, goal);
            cases.extend(before.map(|case| Self {
                name: format!("{} while no operator was running", case.name),
                changed_before: Some(changed),
                ..case
            }));
        }
        cases
    }
}
