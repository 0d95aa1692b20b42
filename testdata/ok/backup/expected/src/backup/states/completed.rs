use super::Completed;
use crate::backup::prelude::*;

impl State for Completed {
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::stay())
    }
}
