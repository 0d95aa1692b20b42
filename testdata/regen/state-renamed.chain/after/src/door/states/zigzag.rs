use super::{Open, Zigzag};
use crate::door::prelude::*;

impl State for Zigzag {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        // This handler was written for Ajar.
        if cx.first_run() {
            return Ok(Transition::stay());
        }
        Ok(Transition::to(Open))
    }
}
