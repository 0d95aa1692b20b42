use super::FailedValidation;
use crate::backup::prelude::*;

impl State for FailedValidation {
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::stay())
    }
}
