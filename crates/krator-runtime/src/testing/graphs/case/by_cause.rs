//! The cases of edges with specific causes: a stay, a timeout, failures, a limit, a deletion, a change of the spec.
use super::{
    Action, Case, Cause, Goal, half, is_found, on_change_of,
    route::{LIMIT_FROM_FIELD, before, full_delay, poll, timeout},
    soon,
};
use crate::graph::{Effects, Exit, Graph, OnDelete, OnSpecChange, StateId, Times};
use std::{collections::BTreeMap, time::Duration};

impl Case {
    pub(super) fn staying(graph: &Graph<'_>, from: StateId) -> Vec<Self> {
        let policy = graph.state(from);
        let cause = Cause::Code(Exit::Stay);
        let stay = Action::Exit(Exit::Stay);
        let after = timeout(graph, policy);
        let case = |answer, goal| Self::new(graph, from, cause, answer, goal);
        let mut cases = Vec::new();
        match poll(graph, policy).filter(|poll| after.is_none_or(|after| *poll < after)) {
            Some(poll) => {
                cases.extend(case(stay, Goal::Again).map(|case| case.runs(2).stays(poll, poll)));
            }
            None => {
                let leaves = policy.timeout.filter(|_| after.is_some());
                let goal = leaves.map_or(Goal::Rest, |(_, to)| Goal::Started(to));
                cases.extend(case(stay, goal).map(|case| Self {
                    stays: after.map(|after| (after, after)),
                    ..case.runs(1)
                }));
            }
        }
        for what in policy.wait.watch {
            let case = case(Action::SeeWatched(*what), Goal::Again);
            cases.extend(case.map(|case| Self {
                name: format!("{}, {what:?} changes", policy.name),
                ..case.runs(2).stays(Duration::ZERO, Duration::ZERO)
            }));
        }
        cases
    }

    pub(super) fn timing_out(graph: &Graph<'_>, from: StateId, goal: Goal) -> Vec<Self> {
        let policy = graph.state(from);
        let Some(after) = timeout(graph, policy) else {
            return Vec::new();
        };
        let case = |answer| {
            let case = Self::new(graph, from, Cause::TimesOut, answer, goal);
            case.map(|case| case.stays(after, after))
        };
        let mut cases: Vec<_> = case(Action::Linger { stays: 1 }).into_iter().collect();
        if is_found(policy) {
            let halfway = case(Action::Die(half(after)));
            cases.extend(halfway.map(|case| case.named(", restarted halfway")));
        }
        cases
    }

    pub(super) fn failing(graph: &Graph<'_>, from: StateId, goal: Goal) -> Option<Self> {
        let policy = graph.state(from);
        let case = Self::new(graph, from, Cause::Fails, Action::Fail, goal)?;
        if policy.effects == Effects::Once {
            return Some(case.runs(1));
        }
        let limit = policy.retry.limit?;
        // Of many retries only the last few are made: as many as fit into the timeout.
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
            ..case.runs(limit - before + 1).stays(most.mul_f64(0.9), most)
        })
    }

    /// The state is entered once more often than its limit allows, and as often as it allows.
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
        let enters = Action::Exit(Exit::To(full));
        let case = |count, goal, what| {
            let case = Self::new(graph, from, Cause::ExceedsLimit, enters, goal)?;
            Some(Self {
                entries: BTreeMap::from([(policy.name.to_owned(), count)]),
                name: format!("{}, {what}", policy.name),
                ..case.runs(1)
            })
        };
        let mut cases: Vec<_> = case(times, goal, "entered once too often").into_iter().collect();
        if times > 0 {
            let allowed = "entered as often as it may be";
            cases.extend(case(times - 1, Goal::Started(full), allowed));
        }
        cases
    }

    pub(super) fn deleting(graph: &Graph<'_>, from: StateId, goal: Goal) -> Vec<Self> {
        let policy = graph.state(from);
        let soon = soon(graph, policy);
        let exit = policy.next.first().map_or(Exit::Stay, |next| Exit::To(*next));
        let waits = graph.deletion.is_some() && policy.on_delete == OnDelete::Wait;
        let stays = if waits { soon } else { Duration::ZERO };
        let running = Self::new(graph, from, Cause::Deleted, Action::BeDeleted(soon, exit), goal);
        let running = running.map(|case| case.runs(1).stays(stays, stays));
        let mut cases: Vec<_> = running.into_iter().collect();
        if is_found(policy) {
            let before = Self::new(graph, from, Cause::Deleted, Action::Hang, goal);
            cases.extend(before.map(|case| Self {
                deleted_before: true,
                ..case.runs(0).named(" while no operator was running")
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
            let runs = if goal == Goal::Again { 2 } else { 1 };
            let case = Self::new(graph, from, cause, Action::SeeChange(changed), goal);
            cases.extend(case.map(|case| Self {
                goal: match goal {
                    Goal::Observed(generation) => Goal::Observed(generation + case.changes_on_the_way(from)),
                    other => other,
                },
                ..case.runs(runs).stays(Duration::ZERO, Duration::ZERO)
            }));
        }
        // Without a checkpoint nothing is written before the handler runs.
        let shows = policy.checkpoint || !matches!(goal, Goal::Observed(_));
        if is_found(policy) && goal != Goal::Again && shows {
            let before = Self::new(graph, from, cause, Action::Linger { stays: usize::MAX }, goal);
            cases.extend(before.map(|case| Self {
                changed_before: Some(changed),
                ..case.named(" while no operator was running")
            }));
        }
        cases
    }
}
