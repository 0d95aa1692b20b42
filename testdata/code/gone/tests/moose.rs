//! What it does.
use moose_tracker::moose::states::Eat;
use moose_tracker::moose::{MooseMachine, MooseSpec};

#[test]
fn eats() {
    assert_eq!(format!("{Eat:?}"), "Eat");
    assert_ne!(MooseMachine::Eat, MooseMachine::Sleep);
    let spec = MooseSpec::default();
    assert!(spec.height > 1.0);
}
