//! What it does.
use moose_tracker as tracker;
use moose_tracker::moose::MooseMachine;

#[test]
fn moose_is_a_moose() {
    let moose = tracker::Moose::default();
    assert_eq!(moose.spec.height, 0.0, "Moose");
    assert_eq!(tracker::Machine::Roam, moose_tracker::moose::MooseMachine::Roam);
    assert_ne!(MooseMachine::Eat, ::moose_tracker::Machine::Roam);
}
