use super::{Closed, Ajar};
use crate::door::prelude::*;

impl State for Closed {
    const WRITTEN: bool = false; // remove this line when the handler is written
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        if cx.first_run() {
            return Ok(Transition::stay()); // runs again after 2s
        }
        Ok(Transition::to(Ajar))
    }
}
