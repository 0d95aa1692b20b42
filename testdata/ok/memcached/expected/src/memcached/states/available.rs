use super::Available;
use crate::memcached::prelude::*;

impl State for Available {
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::stay())
    }
}
