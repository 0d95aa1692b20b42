use super::Gone;
use crate::database::prelude::*;

impl State for Gone {
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::done())
    }
}
