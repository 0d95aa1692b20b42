use super::{InProgress, WaitingForPluginOperations};
use crate::backup::prelude::*;

impl State for InProgress {
    const WRITTEN: bool = false; // remove this line when the handler is written
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::to(WaitingForPluginOperations))
    }
}
