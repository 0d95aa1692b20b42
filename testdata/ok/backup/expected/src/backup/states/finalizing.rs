use super::{Completed, Finalizing};
use crate::backup::prelude::*;

impl State for Finalizing {
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::to(Completed))
    }
}
