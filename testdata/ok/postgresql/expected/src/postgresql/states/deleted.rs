use super::Deleted;
use crate::postgresql::prelude::*;

impl State for Deleted {
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::done())
    }
}
