use super::{Load, Delivered};
use crate::parcel::prelude::*;

impl State for Load {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        let parcel = cx.manifest();
        tracing::info!(weight = parcel.spec.weight, "decides");
        Ok(match parcel.spec.fragile {
            true => Transition::to(Delivered),
            false => Transition::to(Delivered),
        })
    }
}
