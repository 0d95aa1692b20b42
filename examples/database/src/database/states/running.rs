use super::{Deploying, Running};
use crate::database::prelude::*;
use crate::{children, schedule};

impl State for Running {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        let readiness = children::apply(cx).await?;
        if !readiness.is_current() {
            return Ok(Transition::to(Deploying).because(readiness.message()));
        }
        schedule::keep(cx).await?;
        Ok(Transition::stay())
    }
}
