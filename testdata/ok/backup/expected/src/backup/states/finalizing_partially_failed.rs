use super::{FinalizingPartiallyFailed, PartiallyFailed};
use crate::backup::prelude::*;

impl State for FinalizingPartiallyFailed {
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::to(PartiallyFailed))
    }
}
