//! What it does.
use elk_tracker as tracker;
use elk_tracker::elk::ElkMachine;

#[test]
fn moose_is_a_moose() {
    let moose = tracker::Elk::default();
    assert_eq!(moose.spec.height, 0.0, "Moose");
    assert_eq!(tracker::Machine::Roam, elk_tracker::elk::ElkMachine::Roam);
    assert_ne!(ElkMachine::Eat, ::elk_tracker::Machine::Roam);
}
