mod moose;

use krator_runtime::{Context, Result, State, Transition};
use moose::machine::MooseMachine;
use moose::states::{Released};

impl State for Released {
    async fn next(self, _: &mut Context<'_, MooseMachine>) -> Result<Transition<Self>> {
        Ok(Transition::stay())
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
