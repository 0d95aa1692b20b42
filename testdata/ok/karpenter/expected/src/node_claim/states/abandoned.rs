use super::Abandoned;
use crate::node_claim::prelude::*;

impl State for Abandoned {
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::done())
    }
}
