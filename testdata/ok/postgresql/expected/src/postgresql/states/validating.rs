use super::{Creating, Validating};
use crate::postgresql::prelude::*;

impl State for Validating {
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::to(Creating))
    }
}
