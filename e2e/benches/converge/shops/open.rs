use super::opening::apply;
use super::{Open, Opening};
use crate::shop::prelude::*;

impl State for Open {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        let readiness = apply(cx).await?;
        if readiness.is_current() {
            return Ok(Transition::stay());
        }
        Ok(Transition::to(Opening).because(readiness.message()))
    }
}
