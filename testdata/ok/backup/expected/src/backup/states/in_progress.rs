use super::{InProgress, WaitingForPluginOperations};
use crate::backup::prelude::*;

impl State for InProgress {
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::to(WaitingForPluginOperations))
    }
}
