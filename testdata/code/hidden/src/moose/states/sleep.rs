use super::{Roam, Sleep};
use crate::moose::prelude::*;

// The edge is taken by a macro of this crate.
macro_rules! wake {
    () => {
        return Ok(Transition::to(Roam))
    };
}

impl State for Sleep {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        if cx.attempt() > 1 {
            wake!();
        }
        Ok(Transition::stay())
    }
}
