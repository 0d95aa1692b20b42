use super::PartiallyFailed;
use crate::backup::prelude::*;

impl State for PartiallyFailed {
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::stay())
    }
}
