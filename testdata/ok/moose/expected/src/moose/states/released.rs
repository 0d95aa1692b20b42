use super::Released;
use crate::moose::prelude::*;

impl State for Released {
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::done())
    }
}
