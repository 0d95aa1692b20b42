use super::{Roam, Tagged};
use crate::moose::prelude::*;

impl State for Tagged {
    const WRITTEN: bool = false; // remove this line when the handler is written
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::to(Roam))
    }
}
