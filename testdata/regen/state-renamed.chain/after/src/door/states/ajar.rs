use super::{Ajar, Zigzag};
use crate::door::prelude::*;

impl State for Ajar {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        // This handler was written for Closed.
        if cx.first_run() {
            return Ok(Transition::stay());
        }
        Ok(Transition::to(Zigzag))
    }
}
