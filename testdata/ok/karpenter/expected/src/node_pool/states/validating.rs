use super::{Ready, Validating};
use crate::node_pool::prelude::*;

impl State for Validating {
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::to(Ready)) // node class ready
    }
}
