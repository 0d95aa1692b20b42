use super::{Launching, Registering};
use crate::node_claim::prelude::*;

impl State for Launching {
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::to(Registering)) // instance made
    }
}
