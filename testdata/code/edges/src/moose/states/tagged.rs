use super::{Roam, Tagged};
use crate::moose::prelude::*;

impl State for Tagged {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        match cx.attempt() {
            0 => Ok(Transition::stay()),
            1 => Ok(Transition::done()),
            _ => Ok(Transition::to(Roam)),
        }
    }
}
