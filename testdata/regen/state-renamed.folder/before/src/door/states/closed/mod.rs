mod hinge;

use super::{Closed, Open};
use crate::door::prelude::*;

impl State for Closed {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        // Somebody has to knock first.
        if cx.first_run() || hinge::creaks() {
            return Ok(Transition::stay());
        }
        Ok(Transition::to(Open))
    }
}
