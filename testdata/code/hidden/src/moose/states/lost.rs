use super::{Lost, Roam};
use crate::moose::prelude::*;

impl State for Lost {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        let back = |seen: bool| if seen { found(self) } else { Ok(Transition::stay()) };
        back(cx.attempt() > 1)
    }
}

// The edge is taken by a function whose type names this state.
fn found(_: Lost) -> Result<Transition<Lost>> {
    Ok(Transition::to(Roam))
}
