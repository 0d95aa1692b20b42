use super::Expired;
use crate::backup::prelude::*;

impl State for Expired {
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::done())
    }
}
