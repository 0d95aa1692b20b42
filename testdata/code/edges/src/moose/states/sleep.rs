use super::Sleep;
use crate::moose::prelude::*;

impl State for Sleep {
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        // It stays until something wakes it.
        Ok(Transition::stay())
    }
}
