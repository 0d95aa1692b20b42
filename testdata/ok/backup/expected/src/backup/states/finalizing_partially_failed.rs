use super::{FinalizingPartiallyFailed, PartiallyFailed};
use crate::backup::prelude::*;

impl State for FinalizingPartiallyFailed {
    const WRITTEN: bool = false; // remove this line when the handler is written
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::to(PartiallyFailed))
    }
}
