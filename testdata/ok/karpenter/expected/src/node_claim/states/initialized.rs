use super::Initialized;
use crate::node_claim::prelude::*;

impl State for Initialized {
    const WRITTEN: bool = false; // remove this line when the handler is written
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::stay())
    }
}
