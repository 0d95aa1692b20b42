use super::{Dark, Lit};
use crate::torch::prelude::*;

impl State for Dark {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        // This handler was written for the lamp.
        if cx.first_run() {
            return Ok(Transition::stay());
        }
        Ok(Transition::to(Lit))
    }
}
