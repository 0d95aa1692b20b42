use super::{Ajar, Closed};
use crate::door::prelude::*;

impl State for Closed {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        // Somebody has to knock first.
        if cx.first_run() {
            return Ok(Transition::stay());
        }
        Ok(Transition::to(Ajar))
    }
}
