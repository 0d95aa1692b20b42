use super::{Eat, Roam, Sleep, Tagged};
use crate::moose::generated::machine::{NextOfEat, WaitOfTagged};
use crate::moose::prelude::*;
use krator_runtime::{self as rt, TransitionTo as Goes};

impl State for Eat {
    async fn next(self, _cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::to(Sleep))
    }
}

impl Goes<Roam> for Sleep {}
impl rt::MayStay for Tagged {}
impl NextOfEat for Roam {}
impl WaitOfTagged for Eat {}
impl rt::Grants<k8s_openapi::api::core::v1::Pod> for MooseMachine {}
