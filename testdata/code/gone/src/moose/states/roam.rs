use super::{Eat, Roam, Sleep};
use crate::moose::prelude::*;
use k8s_openapi::api::batch::v1::Job;

impl State for Roam {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        let moose = cx.manifest();
        let height = moose.spec.height;
        let spec = &moose.spec;
        let weight: f64 = spec.weight;
        let weight = weight + height;
        cx.status_mut().seen = Some(1);
        cx.status_mut().place = Some(String::new());
        if let Some(status) = &moose.status {
            let _ = (&status.seen, &status.place);
        }
        if let Some(collar) = &moose.spec.collar {
            let _ = (&collar.id, collar.battery);
        }
        for collar in moose.spec.herd.iter().flatten() {
            // Behind an iterator, too.
            let _ = &collar.id;
        }
        let _ = moose.spec.herd.as_ref().unwrap()[0].id.len();
        cx.owned::<Job>().await?;
        match spec.mood {
            MooseSpecMood::Calm => {}
            MooseSpecMood::Wild | MooseSpecMood::Tame => {}
        }
        let moose = Height { height: 1 };
        if weight > 3.0 && moose.height == 1 {
            return Ok(Transition::to(Eat));
        }
        Ok(Transition::to(Sleep))
    }
}

struct Height {
    height: u32,
}

pub fn heavy(spec: &MooseSpec, mood: crate::moose::MooseSpecMood) -> bool {
    let MooseSpec { height, weight, .. } = spec;
    let _ = match mood {
        MooseSpecMood::Calm => 1,
        _ => 2,
    };
    *height > 1.0 && *weight > 1.0
}

pub fn whole() -> MooseSpec {
    let collar = Collar { id: String::new(), battery: 3 };
    MooseSpec { height: 1.0, weight: 1.0, mood: MooseSpecMood::Tame, collar: Some(collar), herd: None }
}
