use super::{Running, Updating};
use crate::postgresql::prelude::*;

impl State for Updating {
    const WRITTEN: bool = false; // remove this line when the handler is written
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        if cx.first_run() {
            return Ok(Transition::stay()); // runs again after 30s
        }
        Ok(Transition::to(Running)) // rolled out
    }
}
