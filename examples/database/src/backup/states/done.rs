use super::Done;
use crate::backup::prelude::*;

impl State for Done {
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::stay())
    }
}
