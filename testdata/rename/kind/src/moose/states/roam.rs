use super::{Eat, Roam, Sleep};
use crate::moose::{self, MooseSpecMood, prelude::*};

type Deer = crate::moose::Moose;

impl State for Roam {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        let moose: std::sync::Arc<Moose> = cx.manifest();
        let MooseSpec { height, mood, .. } = &moose.spec;
        let other: Option<Deer> = cx.object.moose.first().cloned();
        tracing::info!(moose = height, mood = ?mood, "{:?} Moose", moose::MooseSpecMood::Wild);
        if matches!(mood, MooseSpecMood::Calm) || other.is_none() {
            return Ok(Transition::to(Sleep));
        }
        Ok(Transition::to(Eat))
    }
}

/// A `MooseStatus` of its own.
pub mod moose_status {
    #[derive(Debug, Clone)]
    pub struct MooseStatus {
        pub moose: super::MooseStatus,
    }

    pub fn of(moose: super::moose::MooseStatus) -> MooseStatus {
        MooseStatus { moose }
    }
}
