use super::{Weigh, Price, Call};
use crate::parcel::prelude::*;

impl State for Weigh {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        let parcel = cx.manifest();
        tracing::info!(weight = parcel.spec.weight, "decides");
        Ok(match parcel.spec.fragile {
            true => Transition::to(Price),
            false => Transition::to(Call),
        })
    }
}
