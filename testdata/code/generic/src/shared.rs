//! What all objects share in memory. A restart begins with a new one.

use crate::moose::states::Roam;
use krator_runtime::{MayStay, Result, Transition, TransitionTo};

/// Bring your own locks: handlers of many objects use it at once.
#[derive(Debug, Default)]
pub struct SharedState {}

/// A transition from any state that leads to `Roam`. The check cannot know which of these states use it.
pub fn wake<S: TransitionTo<Roam> + MayStay>(wakes: bool) -> Result<Transition<S>> {
    Ok(if wakes { Transition::to(Roam) } else { Transition::stay() })
}
