use super::Initialized;
use crate::node_claim::prelude::*;

impl State for Initialized {
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::stay())
    }
}
