//! A door that is closed.

use super::super::prelude::*;
use super::{Closed, Open};

impl State for Closed {
    async fn run(&mut self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
<<<<<<< HEAD
        if cx.first_run() {
=======
        if cx.manifest().spec.width > 1 {
>>>>>>> wide
            return Ok(Transition::stay());
        }
        Ok(Transition::to(Open))
    }
}
