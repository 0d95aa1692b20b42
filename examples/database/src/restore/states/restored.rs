use super::Restored;
use crate::restore::prelude::*;

impl State for Restored {
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::stay())
    }
}
