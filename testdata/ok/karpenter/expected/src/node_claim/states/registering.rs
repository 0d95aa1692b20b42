use super::{Initializing, Registering};
use crate::node_claim::prelude::*;

impl State for Registering {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        if cx.first_run() {
            return Ok(Transition::stay()); // runs again after 10s
        }
        Ok(Transition::to(Initializing)) // node joined
    }
}
