use super::{Roam, Tagged};
use crate::moose::prelude::*;

impl State for Tagged {
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::to(Roam))
    }
}
