use super::{Eat, Roam, Sleep};
use crate::moose::prelude::*;

impl State for Eat {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        if cx.first_run() {
            return Ok(Transition::to(Roam)); // not in the graph
        }
        Ok(Transition::to(Sleep))
    }
}
