use super::Wander as Onward;
use super::{Eat, Sleep, wander};
use crate::moose::prelude::*;

macro_rules! state_of {
    ($name:ident) => {
        MooseMachine::$name
    };
}

type Last = Wander;
use crate::moose::states::Wander;

fn count<Roam: Clone>(roams: &[Roam]) -> usize {
    roams.to_vec().len()
}

impl State for Eat {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        if cx.first_run() {
            let _ = (state_of!(Roam), Onward.far(), Last::far(Wander), count(&[Onward]), wander::DISTANCE);
            return Ok(Transition::stay());
        }
        let Food { roam: _, .. } = (Food { roam: 1, r#Roam: 2 });
        Ok(Transition::to(Sleep))
    }
}

#[allow(non_snake_case)]
struct Food {
    roam: u32,
    Roam: u32,
}
