use super::{Available, Reconciling};
use crate::memcached::prelude::*;

impl State for Reconciling {
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::to(Available)) // deployment ready
    }
}
