use super::UpdateFailed;
use crate::postgresql::prelude::*;

impl State for UpdateFailed {
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::stay())
    }
}
