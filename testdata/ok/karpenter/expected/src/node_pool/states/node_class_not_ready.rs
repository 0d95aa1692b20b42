use super::{NodeClassNotReady, Ready};
use crate::node_pool::prelude::*;

impl State for NodeClassNotReady {
    const WRITTEN: bool = false; // remove this line when the handler is written
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::to(Ready))
    }
}
