//! Measures how long objects take from one state to another, for the objectives of the description. Measurements are stored,
//! so they continue after a restart; whether a deadline was missed is counted in memory when it passes, and not stored.
use super::{Engine, Now, times::until};
use crate::{
    graph::StateId,
    status::{MachineStatus, ObjectiveStart},
};
use jiff::{SignedDuration, Timestamp};
use std::time::Duration;

/// A measurement that is under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measurement {
    /// The index of the objective in the graph.
    objective: usize,
    since: Timestamp,
    /// Whether the missed deadline was counted.
    is_missed: bool,
}

/// The result of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measured {
    /// The object got there in time.
    Met,
    /// The time was over first.
    Missed,
    /// The object was deleted, or left the ordinary states for the deletion path.
    Abandoned,
}

impl Measured {
    /// All results.
    pub const ALL: [Self; 3] = [Self::Met, Self::Missed, Self::Abandoned];

    /// The name of the result in metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Missed => "missed",
            Self::Abandoned => "abandoned",
        }
    }
}

/// The index of an objective, and the result of a measurement for it.
pub type Ended = (usize, Measured);

impl Engine<'_> {
    /// Takes over the stored measurements. One whose deadline has passed was counted by an earlier process.
    pub(super) fn find_measurements(&mut self, stored: &MachineStatus, now: Now) {
        for start in &stored.objectives {
            if let Some(objective) = self.graph.objective(&start.name) {
                let end = self.end(objective, start.since);
                self.measured.get_or_insert_default().push(Measurement {
                    objective,
                    since: start.since,
                    is_missed: end <= now.time,
                });
            }
        }
    }

    /// Returns the measurements that an entry into a state, or a deletion, ends, and begins those that start with it.
    pub(super) fn measure(&mut self, to: StateId, is_deleted: bool, now: Now) -> Vec<Ended> {
        let graph = self.graph;
        if graph.objectives.is_empty() {
            return Vec::new();
        }
        let is_on_path = |at: StateId| graph.state(at).deletion_path;
        let leaves = is_deleted || (is_on_path(to) && !self.at.is_some_and(is_on_path));
        let (mut measured, mut ended) = (self.measured.take().unwrap_or_default(), Vec::new());
        measured.retain(|measurement| {
            let number = measurement.objective;
            let result = match graph.objectives[number].to == to && !is_deleted {
                true if self.end(number, measurement.since) <= now.time => Measured::Missed,
                true => Measured::Met,
                false if leaves => Measured::Abandoned,
                false => return true,
            };
            if !measurement.is_missed {
                ended.push((number, result));
            }
            false
        });
        for (objective, _) in graph.objectives.iter().enumerate().filter(|(_, o)| o.from == to) {
            if measured.iter().all(|known| known.objective != objective) {
                measured.push(Measurement {
                    objective,
                    since: now.time,
                    is_missed: false,
                });
            }
        }
        self.measured = (!measured.is_empty()).then_some(measured);
        ended
    }

    /// When something is due next, for the machine or for an objective; `None` if that is now.
    pub fn rests_until(&self, now: Now) -> Option<Option<Duration>> {
        let next = self.before_objectives(self.machine_rests_until(now)?, now);
        let due = next.is_some_and(|at| at <= now.elapsed);
        (!due).then_some(next)
    }

    /// The next deadline of a measurement, if one is in progress.
    pub fn objective_due(&self, now: Now) -> Option<Duration> {
        let under_way = self.measured.iter().flat_map(|measured| &**measured);
        let ends = under_way.filter(|known| !known.is_missed && !self.is_abandoned());
        ends.map(|known| now.elapsed + until(self.end(known.objective, known.since), now))
            .min()
    }

    /// The earlier one of `until` and the next deadline of a measurement.
    pub(super) fn before_objectives(&self, until: Option<Duration>, now: Now) -> Option<Duration> {
        until.into_iter().chain(self.objective_due(now)).min()
    }

    /// Returns the measurements whose deadline has passed, each of them once.
    pub fn miss(&mut self, now: Now) -> Vec<Ended> {
        if self.is_abandoned() {
            return Vec::new();
        }
        let Some(mut measured) = self.measured.take() else {
            return Vec::new();
        };
        let mut missed = Vec::new();
        for known in measured.iter_mut().filter(|known| !known.is_missed) {
            if self.end(known.objective, known.since) <= now.time {
                known.is_missed = true;
                missed.push((known.objective, Measured::Missed));
            }
        }
        self.measured = Some(measured);
        missed
    }

    /// Whether the object is being deleted by a machine without a deletion path, so no measurement can end.
    fn is_abandoned(&self) -> bool {
        self.deleting && self.graph.deletion.is_none()
    }

    /// Ends all measurements, because the object is gone.
    pub fn abandon(&mut self) -> Vec<Ended> {
        let measured = self.measured.take().unwrap_or_default();
        let open = measured.iter().filter(|known| !known.is_missed);
        open.map(|known| (known.objective, Measured::Abandoned)).collect()
    }

    /// Restores an earlier copy of this engine. Deadlines that were counted since then stay counted.
    pub fn go_back(&mut self, before: Self) {
        let after = std::mem::replace(self, before).measured.unwrap_or_default();
        for known in self.measured.iter_mut().flat_map(|measured| &mut **measured) {
            let is_same =
                |other: &&Measurement| (other.objective, other.since) == (known.objective, known.since);
            known.is_missed |= after.iter().find(is_same).is_some_and(|other| other.is_missed);
        }
    }

    /// The measurements as they are stored.
    pub(super) fn reported_measurements(&self) -> Vec<ObjectiveStart> {
        let under_way = self.measured.iter().flat_map(|measured| &**measured);
        let mut starts: Vec<_> = under_way
            .map(|known| ObjectiveStart {
                name: self.graph.objective_name(known.objective),
                since: known.since,
            })
            .collect();
        starts.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        starts
    }

    /// The deadline of a measurement. Times are stored to the second, so up to a second is added.
    fn end(&self, objective: usize, since: Timestamp) -> Timestamp {
        let within = SignedDuration::try_from(self.graph.objectives[objective].within);
        let end = within.map(|within| within.saturating_add(SignedDuration::from_secs(1)));
        let end = end.map(|within| since.saturating_add(within));
        end.ok().and_then(Result::ok).unwrap_or(Timestamp::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        engine::{Decision, Outcome},
        graph::{Exit, Graph, Objective, Policy, StateKind},
    };
    use Measured::{Abandoned, Met, Missed};

    const PENDING: StateId = StateId(0);
    const BUSY: StateId = StateId(1);
    const READY: StateId = StateId(2);
    const GOING: StateId = StateId(3);
    const GONE: StateId = StateId(4);
    static STATES: [Policy; 5] = [
        Policy::new("Pending").next(&[BUSY]),
        Policy::new("Busy")
            .renamed_from(&["Working"])
            .poll(Duration::from_secs(1000))
            .next(&[PENDING, READY, GONE]),
        Policy::new("Ready").kind(StateKind::Ready).next(&[PENDING]),
        Policy::new("Going").deletion_path().next(&[GONE]),
        Policy::new("Gone").kind(StateKind::Final).deletion_path(),
    ];
    static OBJECTIVES: [Objective; 2] = [
        Objective::new(PENDING, READY, Duration::from_secs(10)),
        Objective::new(BUSY, GONE, Duration::from_secs(100)),
    ];
    static GRAPH: Graph =
        Graph::new(&STATES, PENDING, Some(GOING), "example.com/things").objectives(&OBJECTIVES);

    fn at(second: i64) -> Now {
        Now {
            elapsed: Duration::from_secs(second.unsigned_abs()),
            time: Timestamp::from_second(second).expect("a time"),
            random: 1,
            leader: 0,
        }
    }

    fn found(stored: Option<&MachineStatus>, second: i64) -> Engine<'static> {
        Engine::new(&GRAPH, stored, 1, Vec::new(), at(second))
    }

    /// An object with these entries, as states with times. The first state is `Pending`.
    fn went(entries: &[(StateId, i64)]) -> Engine<'static> {
        let mut engine = found(None, 0);
        go(&mut engine, entries);
        engine
    }

    fn go(engine: &mut Engine<'_>, entries: &[(StateId, i64)]) {
        for (to, second) in entries {
            engine.begin();
            engine.ended(Outcome::Exit(Exit::To(*to)), at(*second));
        }
    }

    /// The results of the measurements that ended since the last call.
    fn ended(engine: &mut Engine<'_>) -> Vec<Ended> {
        let moves = engine.take_moves().into_iter();
        moves.flat_map(|moved| moved.ended).collect()
    }

    fn stored(engine: &Engine<'_>, second: i64) -> MachineStatus {
        let none = MachineStatus::default();
        engine.render(&none, at(second)).expect("the state is known")
    }

    #[test]
    fn an_object_that_comes_in_time_has_met_the_objective() {
        let mut engine = went(&[(BUSY, 1)]);
        assert_eq!(ended(&mut engine), []);
        assert_eq!(stored(&engine, 1).objectives.len(), 2, "both are under way");
        go(&mut engine, &[(READY, 10)]);
        assert_eq!(ended(&mut engine), [(0, Met)]);
        let left = stored(&engine, 10).objectives;
        assert_eq!((left.len(), &*left[0].name), (1, "Busy-Gone"));
        // Another entry into the first state is another measurement.
        go(&mut engine, &[(PENDING, 20), (BUSY, 21), (READY, 25)]);
        assert_eq!(ended(&mut engine), [(0, Met)]);
    }

    #[test]
    fn entries_in_between_do_not_restart_the_clock() {
        let mut engine = went(&[(BUSY, 1), (PENDING, 8), (BUSY, 9), (READY, 12)]);
        assert_eq!(ended(&mut engine), [(0, Missed)], "since the first entry");
    }

    #[test]
    fn an_object_that_is_stuck_misses_the_objective_once_and_when_the_time_is_over() {
        let mut engine = went(&[(BUSY, 1)]);
        engine.begin();
        engine.ended(Outcome::Exit(Exit::Stay), at(2));
        let seconds = |until: Option<Duration>| until.map(|until| until.as_secs());
        assert_eq!(
            engine.rests_until(at(2)).map(seconds),
            Some(Some(11)),
            "before the poll"
        );
        assert_eq!(engine.miss(at(10)), []);
        assert_eq!(engine.rests_until(at(11)), None, "something is due");
        let before = stored(&engine, 11);
        assert_eq!(engine.miss(at(11)), [(0, Missed)]);
        assert_eq!(stored(&engine, 11), before, "there is nothing to write");
        assert!(
            matches!(engine.decide(at(11)), Decision::Wait(_)),
            "no handler runs"
        );
        assert_eq!(engine.miss(at(12)), []);
        assert_eq!(
            engine.rests_until(at(12)).map(seconds),
            Some(Some(102)),
            "the other one"
        );
        go(&mut engine, &[(READY, 20)]);
        assert_eq!(ended(&mut engine), [], "it was counted already");
    }

    #[test]
    fn a_measurement_survives_a_restart_and_a_new_name_of_its_state() {
        let mut status = stored(&went(&[(BUSY, 1)]), 1);
        for start in &mut status.objectives {
            start.name = start.name.replace("Busy", "Working");
        }
        let mut engine = found(Some(&status), 5);
        assert_eq!(engine.objective_due(at(5)), Some(Duration::from_secs(11)));
        go(&mut engine, &[(READY, 6)]);
        assert_eq!(ended(&mut engine), [(0, Met)]);
        // A deadline that has passed before the start counts as counted.
        let mut late = found(Some(&status), 50);
        assert_eq!((late.miss(at(50)), late.miss(at(51))), (vec![], vec![]));
        go(&mut late, &[(READY, 52)]);
        assert_eq!(ended(&mut late), []);
        // A measurement of an objective that the description has dropped is forgotten.
        status.objectives[0].name = "Busy-Lost".to_owned();
        assert_eq!(stored(&found(Some(&status), 5), 5).objectives.len(), 1);
    }

    #[test]
    fn a_deletion_abandons_what_is_under_way() {
        let mut engine = went(&[(BUSY, 1)]);
        assert!(engine.saw_deletion());
        assert_eq!(engine.decide(at(2)), Decision::Entered);
        assert_eq!(ended(&mut engine), [(0, Abandoned), (1, Abandoned)]);
        assert_eq!(engine.abandon(), [], "each counts once");
        // The handler ends the object: the second measurement is met, and the first one is abandoned.
        let mut engine = went(&[(BUSY, 1), (GONE, 2)]);
        assert_eq!(ended(&mut engine), [(0, Abandoned), (1, Met)]);
        // The object vanishes without an end of its machine.
        let mut engine = went(&[(BUSY, 1)]);
        assert_eq!(engine.miss(at(11)), [(0, Missed)]);
        assert_eq!(engine.abandon(), [(1, Abandoned)]);
    }

    #[test]
    fn what_was_counted_stays_counted_when_a_status_is_rejected() {
        let mut engine = went(&[(BUSY, 1)]);
        let before = engine.clone();
        assert_eq!(engine.miss(at(11)), [(0, Missed)]);
        engine.go_back(before);
        assert_eq!(engine.miss(at(11)), []);
    }

    #[test]
    fn kinds_without_objectives_store_nothing_of_it() {
        static NONE: Graph = Graph::new(&STATES, PENDING, Some(GOING), "example.com/things");
        let status = stored(&went(&[(BUSY, 1)]), 1);
        let mut engine = Engine::new(&NONE, Some(&status), 1, Vec::new(), at(2));
        assert_eq!(stored(&engine, 2).objectives, []);
        go(&mut engine, &[(PENDING, 3)]);
        assert_eq!(stored(&engine, 3).objectives, []);
        assert_eq!(engine.objective_due(at(3)), None);
    }
}
