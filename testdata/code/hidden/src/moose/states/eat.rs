use super::{Eat, Sleep};
use crate::moose::prelude::*;

impl State for Eat {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        let on = [Transition::to];
        if cx.first_run() {
            return Ok(Transition::stay());
        }
        Ok(on[0](Sleep))
    }
}
