//! No machine spins: random machines whose handlers do whatever they may, without a rest, for minutes of their own time.
//! `KRATOR_MACHINES` is their number.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a variable says how far a test goes, and a test that fails says where"
)]

use super::{REST, UNSLOWED_ENTRIES};
use crate::{
    class::Class,
    dice::Dice,
    engine::{Cause, Decision, Engine, Moved, Now, Outcome},
    field_value::FieldValue,
    graph::{Exit, Graph, OnSpecChange, Policy, Retry, StateId, StateKind},
    status::MachineStatus,
};
use jiff::Timestamp;
use std::{collections::BTreeMap, time::Duration};

/// The fields of each object: absent, 0, 1, 2, a time in the past, and times soon after the start.
const FIELDS: usize = 7;

fn fields(began: Timestamp) -> Vec<Option<FieldValue>> {
    let later = |seconds| Some(FieldValue::At(began + jiff::SignedDuration::from_secs(seconds)));
    vec![
        None,
        Some(FieldValue::Number(0)),
        Some(FieldValue::Number(1)),
        Some(FieldValue::For(Duration::from_nanos(1))),
        Some(FieldValue::At(Timestamp::UNIX_EPOCH)),
        later(3),
        later(40),
    ]
}

const TIMES: [Duration; 4] = [
    Duration::ZERO,
    Duration::from_nanos(1),
    Duration::from_millis(300),
    Duration::from_secs(20),
];

/// A state. Limits lead to later ones only, because `hot-loop` refuses cycles of limits.
fn policy<'g>(dice: &mut Dice, at: usize, count: usize, next: &'g [StateId]) -> Policy<'g> {
    let kinds = [
        StateKind::Working,
        StateKind::Working,
        StateKind::Ready,
        StateKind::Failed,
    ];
    let mut policy = Policy::new("").kind(kinds[dice.below(4)]).next(next);
    if dice.one_in(2) {
        policy = policy.poll(TIMES[dice.below(4)]);
    }
    if dice.one_in(3) {
        let to = dice.state(count);
        policy = match dice.one_in(2) {
            true => policy.timeout(TIMES[dice.below(4)], to),
            false => policy.timeout_from_field(dice.below(FIELDS) as u16, to),
        };
    }
    if at + 1 < count && dice.one_in(2) {
        let then = StateId((at + 1 + dice.below(count - at - 1)) as u16);
        policy = match dice.one_in(3) {
            true => policy.limit_from_field(dice.below(3) as u16, then),
            false => policy.limit(dice.below(3) as u32 + 1, then),
        };
    }
    if dice.one_in(3) {
        policy = policy.retry(Retry::DEFAULT.limit(dice.below(3) as u32, dice.state(count)));
    }
    if dice.one_in(4) {
        policy = policy.resume(dice.state(count));
    } else if dice.one_in(6) {
        policy = policy.once().resume(dice.state(count));
    }
    if dice.one_in(3) {
        policy = policy.on_spec_change(OnSpecChange::To(dice.state(count)));
    }
    policy
}

/// The outcome of a state's handler, chosen at random.
fn outcome(dice: &mut Dice, policy: &Policy<'_>) -> Outcome {
    let waits = policy.wait.poll.is_some() || policy.kind != StateKind::Working;
    match dice.below(8) {
        0 => Outcome::Failed(Class::Permanent, "no use".to_owned()),
        1 => Outcome::Failed(Class::Transient, "not yet".to_owned()),
        2 => Outcome::Interrupted,
        3 if waits => Outcome::Exit(Exit::Stay),
        _ => match policy.next {
            [] => Outcome::Failed(Class::Permanent, "no way".to_owned()),
            next => Outcome::Exit(Exit::To(next[dice.below(next.len())])),
        },
    }
}

/// Prints the seed if a test fails.
struct Shown(u64);

impl Drop for Shown {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the seed is {}", self.0);
        }
    }
}

/// The history of one object.
#[derive(Default)]
struct Log {
    /// When the last state was entered.
    entered: Duration,
    /// How far the entries of this process are ahead of one entry a second.
    ahead: Duration,
    /// How often each limit has diverted the object since it last rested.
    diverted: BTreeMap<String, u32>,
}

impl Log {
    fn enter(&mut self, moved: &Moved<'_>, now: Duration) {
        let stayed = now - self.entered;
        if stayed >= REST {
            self.diverted.clear();
        }
        self.entered = now;
        self.ahead = self.ahead.saturating_sub(stayed) + Duration::from_secs(1);
        // The engine counts whole seconds, so one more entry may pass.
        let most = Duration::from_secs(u64::from(UNSLOWED_ENTRIES) + 1);
        assert!(self.ahead <= most, "it spins: {:?}", self.ahead);
        if moved.cause == Cause::LimitReached {
            // The message is `entered A 3 times`, because the states have no messages of their own.
            let limited = moved.message().split(' ').nth(1).expect("the name of a state");
            let times = self.diverted.entry(limited.to_owned()).or_default();
            *times += 1;
            assert!(
                *times <= 2,
                "it goes round through the limit of {limited} without a rest"
            );
        }
    }
}

fn machines() -> u64 {
    let number = std::env::var("KRATOR_MACHINES").ok();
    number.map_or(1_000, |number| {
        number.parse().expect("KRATOR_MACHINES is a number")
    })
}

#[test]
fn no_object_spins() {
    const NAMES: [&str; 6] = ["A", "B", "C", "D", "E", "F"];
    let (mut slowed, mut diverted) = (0, 0);
    for seed in 0..machines() {
        let _shown = Shown(seed);
        let dice = &mut Dice(seed);
        let count = 2 + dice.below(NAMES.len() - 1);
        let next: Vec<Vec<StateId>> = (0..count)
            .map(|_| (0..dice.below(3)).map(|_| dice.state(count)).collect())
            .collect();
        let states: Vec<Policy<'_>> = next
            .iter()
            .zip(NAMES)
            .enumerate()
            .map(|(at, (next, name))| Policy {
                name,
                ..policy(dice, at, count, next)
            })
            .collect();
        let graph = Graph::new(&states, StateId(0), None, "example.com/things");
        let began: Timestamp = "2026-01-01T00:00:00Z".parse().expect("a time");
        let mut elapsed = Duration::from_millis(dice.below(3_000) as u64);
        let at = |elapsed: Duration, dice: &mut Dice| Now {
            elapsed,
            time: began + jiff::SignedDuration::try_from(elapsed).expect("a short time"),
            random: dice.roll(),
            leader: 0,
        };
        let mut log = Log {
            entered: elapsed,
            ..Log::default()
        };
        let mut engine = Engine::new(&graph, None, 1, fields(began), at(elapsed, dice));
        for _ in 0..2_000 {
            let now = at(elapsed, dice);
            for moved in engine.take_moves() {
                log.enter(&moved, elapsed);
                slowed += u32::from(moved.slowed);
                diverted += u32::from(moved.cause == Cause::LimitReached);
            }
            match engine.decide(now) {
                Decision::Entered => {}
                Decision::Run => {
                    engine.begin();
                    let policy = engine.policy().expect("a known state");
                    engine.ended(outcome(dice, policy), now);
                }
                Decision::Wait(None) | Decision::Finish => break,
                Decision::Wait(Some(until)) => {
                    assert!(until > elapsed, "it waits for what is past");
                    elapsed = until;
                }
            }
            let status = engine
                .render(&MachineStatus::default(), now)
                .expect("a known state");
            engine.written();
            // Another process starts from the stored status, with no entries counted, and only after a rest.
            if dice.one_in(400) {
                log.ahead = Duration::ZERO;
                log.diverted.clear();
                engine = Engine::new(&graph, Some(&status), 1, fields(began), at(elapsed, dice));
            }
            // Another client has written the status, and the same process continues from that.
            if dice.one_in(40) {
                log.diverted.clear();
                let now = at(elapsed, dice);
                let former = std::mem::replace(
                    &mut engine,
                    Engine::new(&graph, Some(&status), 1, fields(began), now),
                );
                engine.keep_pace(&former, now);
            }
        }
    }
    assert!(slowed > 0 && diverted > 0, "{slowed}, {diverted}");
}

#[test]
fn a_timeout_at_a_point_in_time_fires_once_for_each_value() {
    const WAIT: StateId = StateId(0);
    const GO: StateId = StateId(1);
    static STATES: [Policy<'static>; 2] = [
        Policy::new("Wait")
            .kind(StateKind::Ready)
            .timeout_from_field(0, GO),
        Policy::new("Go").next(&[WAIT]),
    ];
    static GRAPH: Graph<'static> = Graph::new(&STATES, WAIT, None, "example.com/things");
    let at = |seconds: i64| Timestamp::from_second(seconds).expect("a time");
    let now = |seconds: u64| Now {
        elapsed: Duration::from_secs(seconds),
        time: at(i64::try_from(seconds).expect("a short time")),
        random: seconds,
        leader: 0,
    };
    let value = |seconds| vec![Some(FieldValue::At(at(seconds)))];
    // Runs until the object rests, and returns how often the timeout has fired.
    let rests = |engine: &mut Engine<'static>, time: Now| {
        let mut fired = 0;
        loop {
            match engine.decide(time) {
                Decision::Entered => {}
                Decision::Run => {
                    engine.begin();
                    let is_waiting = engine.at() == Some(WAIT);
                    let exit = if is_waiting { Exit::Stay } else { Exit::To(WAIT) };
                    engine.ended(Outcome::Exit(exit), time);
                }
                Decision::Wait(_) | Decision::Finish => break fired,
            }
            fired += engine
                .take_moves()
                .iter()
                .filter(|moved| moved.cause == Cause::TimedOut)
                .count();
        }
    };
    let mut engine = Engine::new(&GRAPH, None, 1, value(5), now(1));
    assert_eq!(rests(&mut engine, now(2)), 0);
    assert_eq!(rests(&mut engine, now(6)), 1);
    assert_eq!(rests(&mut engine, now(60)), 0);
    let status = engine
        .render(&MachineStatus::default(), now(60))
        .expect("a known state");
    let mut restarted = Engine::new(&GRAPH, Some(&status), 1, value(5), now(70));
    assert_eq!(rests(&mut restarted, now(71)), 0, "the status remembers it");
    restarted.saw_field_values(value(80));
    assert_eq!(rests(&mut restarted, now(81)), 1, "another value");
}
