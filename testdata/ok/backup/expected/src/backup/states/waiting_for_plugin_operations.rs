use super::{Finalizing, WaitingForPluginOperations};
use crate::backup::prelude::*;

impl State for WaitingForPluginOperations {
    const WRITTEN: bool = false; // remove this line when the handler is written
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        if cx.first_run() {
            return Ok(Transition::stay()); // runs again after 10s
        }
        Ok(Transition::to(Finalizing))
    }
}
