use super::{Price, Load};
use crate::parcel::prelude::*;

impl State for Price {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        let parcel = cx.manifest();
        tracing::info!(weight = parcel.spec.weight, "decides");
        Ok(match parcel.spec.fragile {
            true => Transition::to(Load),
            false => Transition::to(Load),
        })
    }
}
