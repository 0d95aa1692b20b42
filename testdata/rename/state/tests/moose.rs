//! Roam and eat.
use krator_runtime::Local;
use moose_tracker::moose::states::{self, Roam};
use moose_tracker::moose::{MooseMachine, MooseMemory};
use std::sync::Arc;

#[tokio::test(start_paused = true)]
async fn roams() {
    let manifest = serde_json::from_str(r#"{"note": "Roam"}"#).expect("an object");
    let mut object: Local<MooseMachine> = Local::new(manifest, MooseMemory::default(), Arc::default());
    object.run_until(|state| state == MooseMachine::Roam).await;
    assert_eq!(object.state(), Some(MooseMachine::Roam), "{:?} {}", states::Roam, Roam.far());
    let is = |state| match state {
        MooseMachine::Roam | MooseMachine::Eat => true,
        MooseMachine::Tagged | MooseMachine::Sleep | MooseMachine::Lost | MooseMachine::Released => false,
    };
    assert!(is(MooseMachine::Roam));
}
