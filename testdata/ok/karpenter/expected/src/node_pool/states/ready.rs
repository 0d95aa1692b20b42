use super::Ready;
use crate::node_pool::prelude::*;

impl State for Ready {
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::stay())
    }
}
