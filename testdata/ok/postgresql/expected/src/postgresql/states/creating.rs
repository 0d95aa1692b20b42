use super::{Creating, Running};
use crate::postgresql::prelude::*;

impl State for Creating {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        if cx.first_run() {
            return Ok(Transition::stay()); // runs again after 30s
        }
        Ok(Transition::to(Running)) // all pods ready
    }
}
