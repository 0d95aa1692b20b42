mod hinge;

use super::{Open, Shut};
use crate::door::prelude::*;

impl State for Shut {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        // Somebody has to knock first.
        if cx.first_run() || hinge::creaks() {
            return Ok(Transition::stay());
        }
        Ok(Transition::to(Open))
    }
}
