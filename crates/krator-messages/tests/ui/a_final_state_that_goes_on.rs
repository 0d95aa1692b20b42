mod moose;

use krator_runtime::{Context, Result, State, Transition};
use moose::machine::MooseMachine;
use moose::states::{Released, Roam};

impl State for Released {
    async fn next(self, _: &mut Context<'_, MooseMachine>) -> Result<Transition<Self>> {
        Ok(Transition::to(Roam))
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
rest!(Tagged, Roam, Sleep);

fn main() {}
