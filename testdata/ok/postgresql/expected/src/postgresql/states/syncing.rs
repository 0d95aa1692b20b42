use super::{Running, Syncing};
use crate::postgresql::prelude::*;

impl State for Syncing {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        if cx.first_run() {
            return Ok(Transition::stay()); // runs again after 30s
        }
        Ok(Transition::to(Running)) // in sync
    }
}
