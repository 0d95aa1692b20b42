use super::{Closed, Locked};
use crate::door::prelude::*;

impl State for Locked {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        cx.message("somebody has the key");
        Ok(Transition::to(Closed))
    }
}
