use super::Lost;
use crate::moose::prelude::*;

impl State for Lost {
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        // It stays until something wakes it.
        Ok(Transition::stay())
    }
}
