use super::SyncFailed;
use crate::postgresql::prelude::*;

impl State for SyncFailed {
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::stay())
    }
}
