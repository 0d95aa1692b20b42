use super::{Eat, Sleep};
use crate::moose::prelude::*;

impl State for Eat {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        tokio::select! {
            _ = std::future::ready(()) => Ok(Transition::to(Sleep)),
            _ = std::future::pending::<()>() => {
                if cx.first_run() { return Ok(Transition::stay()); }
                std::future::pending().await
            }
        }
    }
}
