use krator_runtime::{MayStay, TransitionTo};

use super::{Deploying, Running};
use crate::children;
use crate::database::prelude::*;

impl State for Deploying {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        deploy(cx).await
    }
}

/// The handler of two states, which differ in their conditions and in how long an object may stay in them.
pub(super) async fn deploy<S: TransitionTo<Running> + MayStay>(
    cx: &mut Context<'_>,
) -> Result<Transition<S>> {
    let readiness = children::apply(cx).await?;
    if readiness.is_current() {
        return Ok(Transition::to(Running));
    }
    cx.message(readiness.message());
    Ok(Transition::stay())
}
