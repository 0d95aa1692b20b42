use super::{Eat, Roam};
use crate::moose::prelude::*;

impl State for Roam {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        if cx.first_run() {
            return Ok(Transition::stay()); // runs again after 2s
        }
        Ok(Transition::to(Eat)) // hungry
    }
}
