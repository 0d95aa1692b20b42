use super::CreateFailed;
use crate::postgresql::prelude::*;

impl State for CreateFailed {
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::stay())
    }
}
