use super::{Available, Reconciling};
use crate::memcached::prelude::*;

impl State for Reconciling {
    const WRITTEN: bool = false; // remove this line when the handler is written
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::to(Available)) // deployment ready
    }
}
