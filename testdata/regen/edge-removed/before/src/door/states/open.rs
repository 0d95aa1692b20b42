use super::{Closed, Locked, Open};
use crate::door::prelude::*;

impl State for Open {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        if cx.manifest().spec.width > 3 {
            return Ok(Transition::to(Locked));
        }
        Ok(Transition::to(Closed))
    }
}
