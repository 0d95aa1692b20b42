use super::{Roam, Tagged};
use crate::moose::prelude::*;

// A hand-written state machine, in which the same names mean other things.
mod by_hand {
    pub struct Roam;
    pub struct Sleep;
    pub trait TransitionTo<T> {}
    impl TransitionTo<Sleep> for Roam {}

    pub struct Transition;
    impl Transition {
        pub fn to<T>(_: T) -> Self {
            Transition
        }
    }

    pub fn goes() -> Transition {
        Transition::to(Sleep)
    }
}

impl State for Tagged {
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        let _ = (by_hand::goes(), by_hand::Roam);
        let target = Roam;
        Ok(Transition::to(target))
    }
}
