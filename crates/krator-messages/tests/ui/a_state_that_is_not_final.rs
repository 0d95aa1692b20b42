mod moose;

use krator_runtime::{Context, Result, State, Transition};
use moose::machine::MooseMachine;
use moose::states::{Sleep};

impl State for Sleep {
    async fn next(self, _: &mut Context<'_, MooseMachine>) -> Result<Transition<Self>> {
        Ok(Transition::done())
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
rest!(Tagged, Roam, Released);

fn main() {}
