use super::{Sort, Weigh, Hold};
use crate::parcel::prelude::*;

impl State for Sort {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        let parcel = cx.manifest();
        tracing::info!(weight = parcel.spec.weight, "decides");
        Ok(match parcel.spec.fragile {
            true => Transition::to(Weigh),
            false => Transition::to(Hold),
        })
    }
}
