use super::Failed;
use crate::backup::prelude::*;

impl State for Failed {
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::stay())
    }
}
