use k8s_openapi::api::batch::v1::Job;
use krator_runtime::Readiness;

use super::{Failed, Following, Restored};
use crate::restore::prelude::*;

impl State for Following {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        // The Job is only read here and never applied, so that a Job that a user has deleted does not start again.
        let Some(job) = cx.owned::<Job>().await?.pop() else {
            return Ok(Transition::to(Failed).because("its Job has not started, or is gone"));
        };
        match cx.finished(&*job) {
            Readiness::Current(_) => Ok(Transition::to(Restored)),
            Readiness::Failed(why) => Ok(Transition::to(Failed).because(why)),
            unfinished => {
                cx.message(unfinished.message());
                Ok(Transition::stay())
            }
        }
    }
}
