use super::Invalid;
use crate::node_pool::prelude::*;

impl State for Invalid {
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::stay())
    }
}
