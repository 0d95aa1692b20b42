use super::{Eat, Roam, Sleep};
use crate::elk::{self, ElkSpecMood, prelude::*};

type Deer = crate::elk::Elk;

impl State for Roam {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        let moose: std::sync::Arc<Elk> = cx.manifest();
        let ElkSpec { height, mood, .. } = &moose.spec;
        let other: Option<Deer> = cx.object.moose.first().cloned();
        tracing::info!(moose = height, mood = ?mood, "{:?} Moose", elk::ElkSpecMood::Wild);
        if matches!(mood, ElkSpecMood::Calm) || other.is_none() {
            return Ok(Transition::to(Sleep));
        }
        Ok(Transition::to(Eat))
    }
}

/// A `MooseStatus` of its own.
pub mod moose_status {
    #[derive(Debug, Clone)]
    pub struct MooseStatus {
        pub moose: super::ElkStatus,
    }

    pub fn of(moose: super::elk::ElkStatus) -> MooseStatus {
        MooseStatus { moose }
    }
}
