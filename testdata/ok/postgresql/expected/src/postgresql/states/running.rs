use super::Running;
use crate::postgresql::prelude::*;

impl State for Running {
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::stay())
    }
}
