use super::SyncFailed;
use crate::postgresql::prelude::*;

impl State for SyncFailed {
    const WRITTEN: bool = false; // remove this line when the handler is written
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::stay())
    }
}
