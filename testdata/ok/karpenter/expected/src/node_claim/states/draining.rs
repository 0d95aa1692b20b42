use super::{Draining, Terminating};
use crate::node_claim::prelude::*;

impl State for Draining {
    const WRITTEN: bool = false; // remove this line when the handler is written
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        if cx.first_run() {
            return Ok(Transition::stay()); // runs again after 5s
        }
        Ok(Transition::to(Terminating)) // node gone
    }
}
