use super::{Initialized, Initializing};
use crate::node_claim::prelude::*;

impl State for Initializing {
    const WRITTEN: bool = false; // remove this line when the handler is written
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        if cx.first_run() {
            return Ok(Transition::stay()); // runs again after 10s
        }
        Ok(Transition::to(Initialized)) // node ready
    }
}
