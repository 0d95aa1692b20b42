use super::Terminated;
use crate::node_claim::prelude::*;

impl State for Terminated {
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::done())
    }
}
