mod moose;

use krator_runtime::{Context, Result, State, Transition};
use moose::machine::MooseMachine;
use moose::states::{Eat, Released, Roam, Sleep, Tagged};

macro_rules! handlers {
    ($($state:ident => $answer:expr,)*) => {$(
        impl State for $state {
            async fn next(self, _: &mut Context<'_, MooseMachine>) -> Result<Transition<Self>> {
                Ok($answer)
            }
        }
    )*};
}
handlers! {
    Tagged => Transition::to(Roam),
    Roam => Transition::to(Eat),
    Sleep => Transition::stay(),
    Released => Transition::done(),
}

fn main() {}
