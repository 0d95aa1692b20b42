mod moose;

use krator_runtime::{Context, Result, State, Transition};
use moose::machine::{MooseMachine, NextOfRoam};
use moose::states::{Roam, Sleep};

impl NextOfRoam for Sleep {}

impl State for Roam {
    async fn next(self, _: &mut Context<'_, MooseMachine>) -> Result<Transition<Self>> {
        Ok(Transition::to(Sleep))
    }
}

macro_rules! rest {
    ($($state:ident),*) => {$(
        impl State for moose::states::$state {
            async fn next(self, _: &mut Context<'_, MooseMachine>) -> Result<Transition<Self>> {
                std::future::pending().await
            }
        }
    )*};
}
rest!(Tagged, Sleep, Released);

fn main() {
    // What a runtime does: it needs the code of every handler.
    std::hint::black_box::<fn(_, &'static mut _) -> _>(<MooseMachine as krator_runtime::Machine>::run);
}
