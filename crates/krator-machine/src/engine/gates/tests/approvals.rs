//! Gates that need an approval for each object.
use super::*;
use crate::{
    class::Class,
    graph::{Limit, SpecChange},
    spec_digest::{SpecDigest, WHOLE},
};

const fn approved_states(run: Policy<'_>) -> [Policy<'_>; 3] {
    [
        run.kind(StateKind::Ready).next(&[UPGRADE]),
        Policy::new("Upgrade").next(&[RUN]).needs_approval(),
        Policy::new("Gone").kind(StateKind::Final).deletion_path(),
    ]
}

fn asks(engine: &mut Engine<'_>, former: &MachineStatus, now: Now) -> (MachineStatus, String) {
    engine.ended(to_upgrade(), now);
    let stored = store(engine, former, now);
    let id = stored.ask.as_ref().and_then(|ask| ask.id.clone());
    (stored, id.expect("it needs an approval"))
}

#[test]
fn an_object_enters_when_its_ask_is_approved() {
    let states = approved_states(Policy::new("Run"));
    let graph = graph(&states);
    let (mut engine, first) = started(&graph, Vec::new());
    let (stored, id) = asks(&mut engine, &first, after(HOUR));
    let waits = (
        "True",
        "WaitsForGate",
        "waits for the gate of Upgrade: an approval",
    );
    assert_eq!(condition(&stored, "Reconciling"), waits);
    assert_eq!(condition(&stored, "Ready").0, "True");
    for other in [
        None,
        Some(""),
        Some("0"),
        Some("yes"),
        Some("00000000000000ff"),
        Some("by jane"),
    ] {
        engine.saw_approval(other);
        assert_eq!(engine.decide(after(HOUR)), Decision::Wait(None), "{other:?}");
    }
    // Another process continues with the same ask.
    let mut engine = Engine::new(&graph, Some(&stored), 1, Vec::new(), after(2 * HOUR));
    engine.begin();
    let (again, same) = asks(&mut engine, &stored, after(2 * HOUR));
    assert_eq!(same, id);
    assert!(again.is_in(&stored, |_| true));
    engine.saw_approval(Some(&format!("{id} by jane: it was tried in staging")));
    assert_eq!(engine.decide(after(3 * HOUR)), Decision::Run);
    engine.begin();
    engine.ended(to_upgrade(), after(3 * HOUR));
    assert_eq!(engine.at(), Some(UPGRADE));
    let entered = store(&mut engine, &again, after(3 * HOUR));
    assert_eq!(entered.ask, None);

    // The annotation is still there when the object returns, and approves nothing.
    assert_eq!(engine.decide(after(3 * HOUR)), Decision::Run);
    engine.begin();
    engine.ended(Outcome::Exit(Exit::To(RUN)), after(3 * HOUR));
    engine.begin();
    let (_, next) = asks(&mut engine, &entered, after(3 * HOUR));
    assert_eq!(engine.at(), Some(RUN));
    assert_ne!(next, id);
}

#[test]
fn an_approval_is_for_one_ask_and_one_spec() {
    let states = approved_states(Policy::new("Run"));
    let graph = graph(&states);
    let (mut engine, first) = started(&graph, Vec::new());
    let (stored, id) = asks(&mut engine, &first, after(HOUR));

    // An edit needs another approval, also when it arrives together with the first one.
    let mut edited = engine.clone();
    edited.saw_approval(Some(&id));
    edited.saw_spec(2, None, Vec::new);
    assert_eq!(edited.decide(after(HOUR)), Decision::Run);
    edited.begin();
    let (_, after_edit) = asks(&mut edited, &stored, after(2 * HOUR));
    assert_eq!(edited.at(), Some(RUN));
    assert_ne!(after_edit, id);
    edited.saw_approval(Some(&after_edit));
    assert_eq!(edited.decide(after(2 * HOUR)), Decision::Run);

    // A new ask needs another approval, too.
    let mut renewed = engine.clone();
    renewed.begin();
    renewed.ended(Outcome::Exit(Exit::Stay), after(2 * HOUR));
    renewed.saw_approval(Some(&id));
    renewed.begin();
    let (_, anew) = asks(&mut renewed, &stored, after(3 * HOUR));
    assert_eq!(renewed.at(), Some(RUN));
    assert_ne!(anew, id);

    // A failure does not withdraw the ask.
    engine.begin();
    engine.ended(
        Outcome::Failed(Class::Transient, "busy".to_owned()),
        after(2 * HOUR),
    );
    engine.saw_approval(Some(&id));
    let Decision::Wait(Some(retry)) = engine.decide(after(2 * HOUR)) else {
        panic!("it waits for its backoff");
    };
    engine.begin();
    engine.ended(to_upgrade(), after(retry));
    assert_eq!(engine.at(), Some(UPGRADE));
}

#[test]
fn a_conversion_changes_what_was_approved() {
    let states = [
        Policy::new("Run")
            .next(&[UPGRADE])
            .on_spec_change_of(&[SpecChange {
                of: &[".spec.size"],
                does: OnSpecChange::Ignore,
            }]),
        Policy::new("Upgrade").next(&[RUN]).needs_approval(),
        Policy::new("Gone").kind(StateKind::Final).deletion_path(),
    ];
    let graph = graph(&states);
    let digests = |whole: u64| vec![SpecDigest::new(WHOLE, Some(&whole.to_string()))];
    let mut engine = Engine::new(&graph, None, 1, Vec::new(), after(HOUR));
    engine.found_spec(None, Some(5), digests(5));
    engine.begin();
    let (_, id) = asks(&mut engine, &MachineStatus::default(), after(HOUR));
    engine.saw_approval(Some(&id));
    // A conversion may change the spec of an object in a former version without a new generation.
    engine.saw_spec(1, Some(6), || digests(6));
    engine.begin();
    engine.ended(to_upgrade(), after(HOUR));
    assert_eq!(engine.at(), Some(RUN));
}

#[test]
fn a_timeout_waits_for_its_approval() {
    let states = approved_states(Policy::new("Run").timeout(3 * HOUR, UPGRADE));
    let graph = graph(&states);
    let (mut engine, first) = started(&graph, Vec::new());
    engine.ended(Outcome::Exit(Exit::Stay), after(HOUR));
    assert_eq!(engine.decide(after(HOUR)), Decision::Wait(Some(3 * HOUR)));
    assert_eq!(engine.decide(after(3 * HOUR)), Decision::Wait(None));
    let stored = store(&mut engine, &first, after(4 * HOUR));
    let ask = stored.ask.clone().expect("it waits");
    assert_eq!(ask.since, after(3 * HOUR).time);
    let id = ask.id.expect("it needs an approval");
    engine.saw_approval(Some(&id));
    assert_eq!(engine.decide(after(5 * HOUR)), Decision::Entered);
    assert_eq!(engine.at(), Some(UPGRADE));
}

#[test]
fn a_deletion_and_a_pause_leave_nothing_to_approve() {
    let states = approved_states(Policy::new("Run"));
    let graph = graph(&states);
    let (mut engine, first) = started(&graph, Vec::new());
    let (stored, _) = asks(&mut engine, &first, after(HOUR));
    let mut paused = engine.clone();
    paused.set_pausing(true);
    assert_eq!(store(&mut paused, &stored, after(HOUR)).ask, None);
    engine.saw_deletion();
    assert_eq!(engine.decide(after(HOUR)), Decision::Entered);
    assert_eq!(engine.at(), Some(GONE));
}

#[test]
fn only_who_is_approved_takes_a_place() {
    let states = approved_states(Policy::new("Run"));
    let limits = [Limit::new("rollout", &[UPGRADE], 1)];
    let graph = graph(&states).limits(&limits);
    let (mut engine, first) = started(&graph, Vec::new());
    let (stored, id) = asks(&mut engine, &first, after(HOUR));
    let waits = "waits for the gate of Upgrade: an approval and the limit rollout";
    assert_eq!(condition(&stored, "Reconciling").2, waits);
    assert_eq!(engine.claim(Some(&stored), after(HOUR)).wish, None);
    engine.grant(true);
    assert_eq!(engine.decide(after(HOUR)), Decision::Wait(None));
    engine.grant(false);
    engine.saw_approval(Some(&id));
    assert!(engine.claim(Some(&stored), after(HOUR)).wish.is_some());
    assert_eq!(engine.decide(after(HOUR)), Decision::Wait(None));
    engine.grant(true);
    assert_eq!(engine.decide(after(HOUR)), Decision::Run);
}
