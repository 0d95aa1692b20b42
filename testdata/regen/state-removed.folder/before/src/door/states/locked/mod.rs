mod key;

use super::{Closed, Locked};
use crate::door::prelude::*;

impl State for Locked {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        // The key is in the other coat.
        if cx.first_run() {
            return Ok(Transition::stay());
        }
        Ok(Transition::to(Closed))
    }
}
