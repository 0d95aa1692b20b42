use super::Stuck;
use super::deploying::deploy;
use crate::database::prelude::*;

impl State for Stuck {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        deploy(cx).await
    }
}
