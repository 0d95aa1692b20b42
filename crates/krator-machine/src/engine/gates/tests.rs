//! The behaviour of objects at a gate, with a window of six hours from 22:00 on each weekday.
use crate::{
    engine::{Cause, Decision, Engine, Now, Outcome},
    field_value::FieldValue,
    graph::{Exit, Graph, OnSpecChange, Period, Policy, Recurrence, StateId, StateKind, Text, Window},
    status::MachineStatus,
};
use jiff::Timestamp;
use std::time::Duration;

const RUN: StateId = StateId(0);
const UPGRADE: StateId = StateId(1);
const GONE: StateId = StateId(2);
const HOUR: Duration = Duration::from_secs(3600);

const WINDOW: Window<'_> = Window::new(
    Recurrence::new(Text::Fixed("0 22 * * MON-FRI")),
    Period::Fixed(Duration::from_secs(6 * 3600)),
);

const fn states<'a>(run: Policy<'a>, window: Window<'a>) -> [Policy<'a>; 3] {
    [
        run.kind(StateKind::Ready).next(&[UPGRADE]),
        Policy::new("Upgrade").next(&[RUN]).during(window),
        Policy::new("Gone").kind(StateKind::Final).deletion_path(),
    ]
}

fn graph<'g>(states: &'g [Policy<'g>]) -> Graph<'g> {
    Graph::new(states, RUN, Some(GONE), "example.com/things")
}

/// The time `elapsed` after noon of a Tuesday.
fn after(elapsed: Duration) -> Now {
    let noon: Timestamp = "2026-01-13T12:00:00Z".parse().expect("a time");
    Now {
        elapsed,
        time: noon + elapsed,
        random: 7,
        leader: 0,
    }
}

/// An object whose handler has run in its first state, and whose status is stored.
fn started<'g>(graph: &'g Graph<'g>, values: Vec<Option<FieldValue>>) -> (Engine<'g>, MachineStatus) {
    let now = after(Duration::ZERO);
    let mut engine = Engine::new(graph, None, 1, values, now);
    assert_eq!(engine.decide(now), Decision::Run);
    let stored = store(&mut engine, &MachineStatus::default(), now);
    engine.begin();
    (engine, stored)
}

fn store(engine: &mut Engine<'_>, former: &MachineStatus, now: Now) -> MachineStatus {
    let status = engine.render(former, now).expect("a known state");
    engine.written();
    status
}

fn condition<'s>(status: &'s MachineStatus, kind: &str) -> (&'s str, &'s str, &'s str) {
    let mut all = status.conditions.iter();
    let found = all.find(|condition| condition.kind == kind).expect("it is there");
    (&found.status, &found.reason, &found.message)
}

fn to_upgrade() -> Outcome {
    Outcome::Exit(Exit::To(UPGRADE))
}

#[test]
fn an_object_waits_where_it_is_until_the_gate_is_open() {
    let states = states(Policy::new("Run"), WINDOW);
    let graph = graph(&states);
    let (mut engine, first) = started(&graph, Vec::new());
    engine.ended(to_upgrade(), after(HOUR));
    assert_eq!(engine.at(), Some(RUN));
    assert_eq!(engine.decide(after(HOUR)), Decision::Wait(Some(10 * HOUR)));

    let stored = store(&mut engine, &first, after(HOUR));
    let ask = stored.ask.as_ref().expect("it waits");
    assert_eq!((ask.to.as_str(), ask.since), ("Upgrade", after(HOUR).time));
    assert_eq!(condition(&stored, "Ready"), ("True", "Run", ""));
    let waits = ("True", "WaitsForGate", "waits for the gate of Upgrade");
    assert_eq!(condition(&stored, "Reconciling"), waits);
    assert_eq!(condition(&stored, "Stalled").0, "False");

    // Another process continues with the stored ask, and has nothing to write.
    let mut other = Engine::new(&graph, Some(&stored), 1, Vec::new(), after(2 * HOUR));
    assert_eq!(other.decide(after(2 * HOUR)), Decision::Run);
    let rendered = other.render(&stored, after(2 * HOUR)).expect("a known state");
    assert!(rendered.is_in(&stored, |_| true), "{rendered:?}");
    other.begin();
    other.ended(to_upgrade(), after(2 * HOUR));
    let rendered = other.render(&stored, after(2 * HOUR)).expect("a known state");
    assert!(rendered.is_in(&stored, |_| true), "{rendered:?}");

    // The handler makes its choice again when the gate is open.
    assert_eq!(engine.decide(after(10 * HOUR)), Decision::Run);
    engine.begin();
    engine.ended(to_upgrade(), after(10 * HOUR));
    assert_eq!(engine.at(), Some(UPGRADE));
    let entered = store(&mut engine, &stored, after(10 * HOUR));
    assert_eq!(entered.ask, None);
    assert_eq!(
        engine.take_moves().last().map(|moved| moved.cause),
        Some(Cause::Handler)
    );
}

#[test]
fn an_object_that_no_longer_wants_to_does_not_ask() {
    let states = states(Policy::new("Run"), WINDOW);
    let graph = graph(&states);
    let (mut engine, first) = started(&graph, Vec::new());
    engine.ended(to_upgrade(), after(HOUR));
    let stored = store(&mut engine, &first, after(HOUR));
    engine.begin();
    engine.ended(Outcome::Exit(Exit::Stay), after(2 * HOUR));
    let stored = store(&mut engine, &stored, after(2 * HOUR));
    assert_eq!(stored.ask, None);
    assert_ne!(condition(&stored, "Reconciling").1, "WaitsForGate");
}

#[test]
fn a_failure_says_nothing_of_the_wish() {
    let states = states(Policy::new("Run"), WINDOW);
    let graph = graph(&states);
    let (mut engine, first) = started(&graph, Vec::new());
    engine.ended(to_upgrade(), after(HOUR));
    let stored = store(&mut engine, &first, after(HOUR));
    engine.begin();
    engine.ended(
        Outcome::Failed(crate::class::Class::Transient, "busy".to_owned()),
        after(10 * HOUR),
    );
    let failed = store(&mut engine, &stored, after(10 * HOUR));
    assert_eq!(failed.ask, stored.ask);
    assert_eq!(condition(&failed, "Reconciling").1, "Retrying");
    // The gate is open, but a failed run waits for its backoff.
    let Decision::Wait(Some(retry)) = engine.decide(after(10 * HOUR)) else {
        panic!("it waits");
    };
    assert!(retry > 10 * HOUR, "{retry:?}");
    assert_eq!(engine.decide(after(retry)), Decision::Run);
    engine.begin();
    engine.ended(to_upgrade(), after(retry));
    assert_eq!(engine.at(), Some(UPGRADE));
}

#[test]
fn a_timeout_leads_through_the_gate_when_that_is_open() {
    let states = states(Policy::new("Run").timeout(3 * HOUR, UPGRADE), WINDOW);
    let graph = graph(&states);
    let (mut engine, first) = started(&graph, Vec::new());
    // A handler that is running is not dropped at the end of the timeout.
    assert_eq!(engine.deadline(after(HOUR)), Some(10 * HOUR));
    engine.ended(Outcome::Exit(Exit::Stay), after(HOUR));
    assert_eq!(engine.decide(after(HOUR)), Decision::Wait(Some(3 * HOUR)));
    assert_eq!(
        engine.render(&first, after(HOUR)).and_then(|status| status.ask),
        None
    );

    assert_eq!(engine.decide(after(3 * HOUR)), Decision::Wait(Some(10 * HOUR)));
    let stored = store(&mut engine, &first, after(4 * HOUR));
    let since = stored.ask.as_ref().map(|ask| ask.since);
    assert_eq!(since, Some(after(3 * HOUR).time));
    let mut other = Engine::new(&graph, Some(&stored), 1, Vec::new(), after(5 * HOUR));
    let rendered = other.render(&stored, after(5 * HOUR)).expect("a known state");
    assert!(rendered.is_in(&stored, |_| true), "{rendered:?}");
    assert_eq!(other.decide(after(5 * HOUR)), Decision::Run);

    assert_eq!(engine.decide(after(10 * HOUR)), Decision::Entered);
    assert_eq!(engine.at(), Some(UPGRADE));
    assert_eq!(
        engine.take_moves().last().map(|moved| moved.cause),
        Some(Cause::TimedOut)
    );
}

#[test]
fn edits_and_deletions_pass_every_gate() {
    let run = Policy::new("Run").on_spec_change(OnSpecChange::To(UPGRADE));
    let states = states(run, WINDOW);
    let graph = graph(&states);
    let (mut engine, _) = started(&graph, Vec::new());
    engine.ended(to_upgrade(), after(HOUR));
    let mut edited = engine.clone();
    edited.saw_spec(2, Some(1), Vec::new);
    assert_eq!(edited.decide(after(HOUR)), Decision::Entered);
    assert_eq!(edited.at(), Some(UPGRADE));
    engine.saw_deletion();
    assert_eq!(engine.decide(after(HOUR)), Decision::Entered);
    assert_eq!(engine.at(), Some(GONE));
}

#[test]
fn the_fields_of_the_object_decide_when_the_gate_is_open() {
    const OF_FIELDS: Window<'_> = Window::new(
        Recurrence::new(Text::FromField(0)).time_zone(Text::FromField(2)),
        Period::FromField(1),
    );
    let states = states(Policy::new("Run"), OF_FIELDS);
    let graph = graph(&states);
    let text = |text: &str| Some(FieldValue::Text(text.into()));
    let hours = |hours| Some(FieldValue::For(hours * HOUR));
    for (values, opens) in [
        (vec![text("0 22 * * *"), hours(1), None], Some(10)),
        (vec![text("0 22 * * *"), hours(1), text("Asia/Kathmandu")], None),
        (vec![text("0 13 * * *"), hours(1), text("Europe/Berlin")], Some(0)),
        // Monday's window is open on Tuesday, and closed after its length.
        (vec![text("0 13 * * MON"), hours(24), None], Some(0)),
        (vec![text("0 13 * * MON"), hours(23), None], Some(24 * 6 + 1)),
        // Without a schedule or a length there is no window.
        (vec![None, hours(1), None], Some(0)),
        (vec![text("0 22 * * *"), None, None], Some(0)),
        (
            vec![text("0 22 * * *"), Some(FieldValue::Number(0)), None],
            Some(0),
        ),
    ] {
        let (engine, _) = started(&graph, values.clone());
        let found = engine.opens(UPGRADE, after(Duration::ZERO).time);
        let expected = opens.map(|hours| after(hours * HOUR).time);
        let expected = match values.get(2) {
            // Nepal's offset from UTC has a quarter of an hour.
            Some(Some(_)) if opens.is_none() => Some(after(4 * HOUR + HOUR / 4).time),
            _ => expected,
        };
        assert_eq!(found, Ok(expected), "{values:?}");
    }

    let values = vec![text("0 22 * *"), hours(1), None];
    let (mut engine, first) = started(&graph, values);
    engine.ended(to_upgrade(), after(HOUR));
    assert_eq!(engine.decide(after(HOUR)), Decision::Wait(None));
    let stored = store(&mut engine, &first, after(HOUR));
    let (status, reason, message) = condition(&stored, "Stalled");
    assert_eq!((status, reason), ("True", "InvalidGate"));
    assert!(
        message.starts_with("the gate of Upgrade is closed: a schedule has five fields"),
        "{message}"
    );
    // An edit of the field opens it.
    engine.saw_field_values(vec![None, None, None]);
    assert_eq!(engine.decide(after(2 * HOUR)), Decision::Run);
}

/// Each night at three.
const NIGHTLY: Recurrence<'_> = Recurrence::new(Text::Fixed("0 3 * * *"));
/// 03:00 of the night after [`after`] begins.
const THREE: Duration = Duration::from_secs(15 * 3600);

fn scheduled<'g>(starts: Recurrence<'g>, deadline: Option<Period>) -> Policy<'g> {
    Policy::new("Run").timeout_at(starts, deadline, UPGRADE)
}

const fn hour() -> Option<Period> {
    Some(Period::Fixed(HOUR))
}

#[test]
fn a_schedule_leads_on_at_its_first_start_after_the_entry() {
    let mut states = states(scheduled(NIGHTLY, hour()), WINDOW);
    states[1].during = None;
    let graph = graph(&states);
    let (mut engine, first) = started(&graph, Vec::new());
    engine.ended(Outcome::Exit(Exit::Stay), after(HOUR));
    assert_eq!(engine.decide(after(HOUR)), Decision::Wait(Some(THREE)));
    assert_eq!(engine.decide(after(THREE)), Decision::Entered);
    let stored = store(&mut engine, &first, after(THREE));
    assert_eq!(stored.state.as_deref(), Some("Upgrade"));
    let message = Some("scheduled for 2026-01-14T03:00:00Z in Run");
    assert_eq!(stored.message.as_deref(), message);
    let [fired] = &stored.fired_timeouts[..] else {
        panic!("{stored:?}");
    };
    assert_eq!((fired.state.as_str(), fired.at), ("Run", after(THREE).time));

    // The clock is set back, and the object returns before the start that it has already taken.
    let before = after(THREE - Duration::from_secs(2));
    let mut again = Engine::new(&graph, Some(&stored), 1, Vec::new(), before);
    again.begin();
    again.ended(Outcome::Exit(Exit::To(RUN)), before);
    again.begin();
    again.ended(Outcome::Exit(Exit::Stay), before);
    let next = Decision::Wait(Some(THREE + 24 * HOUR));
    assert_eq!(again.decide(before), next);
}

#[test]
fn of_missed_starts_the_latest_one_is_made_up_for_until_its_deadline() {
    let mut states = states(scheduled(NIGHTLY, hour()), WINDOW);
    states[1].during = None;
    let graph = graph(&states);
    let (_, stored) = started(&graph, Vec::new());
    for (late, taken) in [
        (Duration::ZERO, true),
        (HOUR / 2, true),
        (HOUR - Duration::from_nanos(1), true),
        (HOUR, false),
        (2 * HOUR, false),
    ] {
        // Three starts were missed.
        let slot = THREE + 48 * HOUR;
        let now = after(slot + late);
        let mut engine = Engine::new(&graph, Some(&stored), 1, Vec::new(), now);
        assert_eq!(engine.decide(now), Decision::Run, "{late:?}");
        engine.begin();
        engine.ended(Outcome::Exit(Exit::Stay), now);
        let decision = match taken {
            true => Decision::Entered,
            false => Decision::Wait(Some(slot + 24 * HOUR)),
        };
        assert_eq!(engine.decide(now), decision, "{late:?}");
        let fired = engine.render(&stored, now).expect("a known state").fired_timeouts;
        let fired: Vec<Timestamp> = fired.iter().map(|fired| fired.at).collect();
        assert_eq!(fired, Vec::from_iter(taken.then(|| after(slot).time)), "{late:?}");
    }
}

#[test]
fn a_start_that_waits_at_a_shut_gate_lapses_with_its_deadline() {
    // The window opens at 22:00 of the second day.
    let states = states(scheduled(NIGHTLY, hour()), WINDOW);
    let graph = graph(&states);
    let (mut engine, first) = started(&graph, Vec::new());
    engine.ended(Outcome::Exit(Exit::Stay), after(HOUR));
    // The start at three is within the window that opened at ten.
    assert_eq!(engine.decide(after(HOUR)), Decision::Wait(Some(THREE)));
    let elsewhere = Recurrence::new(Text::Fixed("0 18 * * *"));
    let mut states = states;
    states[0] = scheduled(elsewhere, hour())
        .kind(StateKind::Ready)
        .next(&[UPGRADE]);
    let graph = Graph::new(&states, RUN, Some(GONE), "example.com/things");
    let mut engine = Engine::new(&graph, Some(&first), 1, Vec::new(), after(HOUR));
    engine.begin();
    engine.ended(Outcome::Exit(Exit::Stay), after(HOUR));
    let (six, seven) = (6 * HOUR, 7 * HOUR);
    assert_eq!(engine.decide(after(HOUR)), Decision::Wait(Some(six)));
    assert_eq!(engine.decide(after(six)), Decision::Wait(Some(seven)));
    let waiting = store(&mut engine, &first, after(six));
    assert_eq!(waiting.ask.as_ref().map(|ask| ask.since), Some(after(six).time));
    assert_eq!(engine.decide(after(seven)), Decision::Wait(Some(six + 24 * HOUR)));
    let rested = store(&mut engine, &waiting, after(seven));
    assert_eq!((rested.ask, rested.fired_timeouts), (None, Vec::new()));
}

#[test]
fn a_schedule_is_that_of_the_object() {
    let mut states = states(scheduled(Recurrence::new(Text::FromField(0)), None), WINDOW);
    states[1].during = None;
    let graph = graph(&states);
    let text = |text: &str| vec![Some(FieldValue::Text(text.into()))];
    for (values, next) in [
        (vec![None], None),
        (text("0 3 * * *"), Some(THREE)),
        (text("30 2 30 2 *"), None),
    ] {
        let (mut engine, first) = started(&graph, values.clone());
        engine.ended(Outcome::Exit(Exit::Stay), after(HOUR));
        assert_eq!(engine.decide(after(HOUR)), Decision::Wait(next), "{values:?}");
        let stored = store(&mut engine, &first, after(HOUR));
        let stalled = condition(&stored, "Stalled");
        match values == text("30 2 30 2 *") {
            true => assert_eq!(
                stalled,
                (
                    "True",
                    "InvalidSchedule",
                    "the schedule of Run never starts: no day matches `30 2 30 2 *`"
                )
            ),
            false => assert_eq!(stalled.0, "False"),
        }
        assert_eq!(condition(&stored, "Ready").0, "True");
    }
}

/// Objects rest in one state and come back to it from another, under operators that are killed, absent, or
/// two seconds off: no start of a schedule is taken twice, and an operator that runs misses none.
#[test]
fn each_start_leads_on_at_most_once() {
    let mut states = states(scheduled(Recurrence::new(Text::FromField(0)), hour()), WINDOW);
    states[1].during = None;
    let graph = graph(&states);
    let mut dice = crate::dice::Dice(0);
    let mut below = |bound: u64| dice.roll() % bound;
    let (mut kills, mut starts) = (0, 0);
    for _ in 0..40 {
        let fields = ["*/7 * * * *", "0 * * * *", "13,14 1-23/3 * * *", "* * * * *"][below(4) as usize];
        let values = vec![Some(FieldValue::Text(fields.into()))];
        let schedule = crate::Schedule::parse(fields, "UTC").expect("it is right");
        let (mut engine, mut stored) = started(&graph, values.clone());
        engine.ended(Outcome::Exit(Exit::Stay), after(Duration::ZERO));
        let (mut elapsed, mut off) = (Duration::from_secs(60), 0);
        let mut slots: Vec<Timestamp> = Vec::new();
        for _ in 0..120 {
            elapsed += Duration::from_secs(1 + below(200));
            if below(8) == 0 {
                kills += 1;
                off = below(5);
                elapsed += Duration::from_secs(below(2) * below(3 * 3600));
                let now = after(elapsed - Duration::from_secs(off));
                engine = Engine::new(&graph, Some(&stored), 1, values.clone(), now);
            }
            let now = after(elapsed - Duration::from_secs(off));
            while !matches!(engine.decide(now), Decision::Wait(_)) {
                let rendered = engine.render(&stored, now).expect("a known state");
                let at = rendered.fired_timeouts.first().map(|fired| fired.at);
                if let Some(at) = at.filter(|at| slots.last() != Some(at)) {
                    assert!(
                        slots.last().is_none_or(|last| *last < at),
                        "{fields} {slots:?} {at}"
                    );
                    assert!(at <= now.time && now.time.duration_since(at).as_secs() < 3600);
                    assert_eq!(
                        schedule.latest(at, now.time),
                        None,
                        "{fields}: {at} was not the latest one"
                    );
                    slots.push(at);
                }
                // The process may end before this is stored.
                if below(10) == 0 {
                    engine = Engine::new(&graph, Some(&stored), 1, values.clone(), now);
                    if slots.last() != stored.fired_timeouts.first().map(|fired| &fired.at) {
                        slots.pop();
                    }
                    continue;
                }
                stored = rendered;
                engine.written();
                engine.begin();
                let to = match engine.at() {
                    Some(RUN) => Exit::Stay,
                    _ => Exit::To(RUN),
                };
                engine.ended(Outcome::Exit(to), now);
            }
        }
        starts += slots.len();
    }
    assert!(kills > 200 && starts > 500, "{kills} {starts}");
}

mod approvals;
