use super::{Closed, Opening};
use crate::shop::prelude::*;

impl State for Closed {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        if cx.first_run() {
            return Ok(Transition::stay());
        }
        Ok(Transition::to(Opening))
    }
}
