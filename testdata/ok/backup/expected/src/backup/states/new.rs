use super::{New, Queued};
use crate::backup::prelude::*;

impl State for New {
    const WRITTEN: bool = false; // remove this line when the handler is written
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::to(Queued)) // valid
    }
}
