use super::{InProgress, ReadyToStart};
use crate::backup::prelude::*;

impl State for ReadyToStart {
    const WRITTEN: bool = false; // remove this line when the handler is written
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        if cx.first_run() {
            return Ok(Transition::stay()); // runs again after 10s
        }
        Ok(Transition::to(InProgress)) // slot free
    }
}
