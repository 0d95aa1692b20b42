use super::{New, Queued};
use crate::backup::prelude::*;

impl State for New {
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::to(Queued)) // valid
    }
}
