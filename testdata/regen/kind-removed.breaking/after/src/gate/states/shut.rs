use super::Shut;
use crate::gate::prelude::*;

impl State for Shut {
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        // Nobody gets in.
        Ok(Transition::stay())
    }
}
