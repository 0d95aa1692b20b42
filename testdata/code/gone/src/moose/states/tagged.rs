use super::*;
use crate::moose::prelude::*;

impl State for Tagged {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        if cx.first_run() {
            return Ok(Transition::stay());
        }
        let _ = (MooseMachine::Eat, Eat);
        Ok(Transition::to(Roam))
    }
}

pub fn is_awake(state: MooseMachine) -> bool {
    match state {
        MooseMachine::Tagged | MooseMachine::Roam => true,
        MooseMachine::Sleep => false,
        MooseMachine::Released => false,
    }
}
