use super::{Creating, Validating};
use crate::postgresql::prelude::*;

impl State for Validating {
    const WRITTEN: bool = false; // remove this line when the handler is written
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::to(Creating))
    }
}
