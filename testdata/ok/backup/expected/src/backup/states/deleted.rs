use super::Deleted;
use crate::backup::prelude::*;

impl State for Deleted {
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::done())
    }
}
