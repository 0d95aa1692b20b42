use super::{Call, Load};
use crate::parcel::prelude::*;

impl State for Call {
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        futures::join!(std::future::ready(()));
        Ok(Transition::to(Load))
    }
}
