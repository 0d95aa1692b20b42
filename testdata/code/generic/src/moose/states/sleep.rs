use super::Sleep;
use crate::moose::prelude::*;

impl State for Sleep {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        crate::shared::wake(cx.attempt() > 1)
    }
}
