//! The operator for parcels: each reconciliation makes one transition and writes it by server-side apply, which
//! triggers the next reconciliation.

use crate::{Error, Variant, conditions::conditions, lean};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{
    Api, Client, CustomResource, Resource as _, ResourceExt as _,
    api::{Patch, PatchParams},
    runtime::{Controller, WatchStreamExt as _, controller::Action, reflector, watcher},
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::{hint::black_box, sync::Arc};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize)]
#[kube(
    group = "bench.krator.dev",
    version = "v1",
    kind = "Parcel",
    namespaced,
    schema = "disabled",
    status = "ParcelStatus"
)]
#[serde(rename_all = "camelCase")]
pub struct ParcelSpec {
    sender: String,
    recipient: String,
    weight: f64,
    fragile: bool,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ParcelStatus {
    state: Option<ParcelState>,
    message: Option<String>,
    observed_generation: Option<i64>,
    #[serde(default)]
    conditions: Vec<Condition>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
enum ParcelState {
    Ordered,
    Packed,
    Sorted,
    Loaded,
    Delivered,
}

impl ParcelState {
    /// The state that follows another one, or the first state.
    fn after(before: Option<Self>) -> Option<Self> {
        match before {
            None => Some(Self::Ordered),
            Some(Self::Ordered) => Some(Self::Packed),
            Some(Self::Packed) => Some(Self::Sorted),
            Some(Self::Sorted) => Some(Self::Loaded),
            Some(Self::Loaded) => Some(Self::Delivered),
            Some(Self::Delivered) => None,
        }
    }
    fn message(self) -> &'static str {
        match self {
            Self::Ordered => "Somebody wants it.",
            Self::Packed => "In a box.",
            Self::Sorted => "On the right belt.",
            Self::Loaded => "In the van.",
            Self::Delivered => "At the door.",
        }
    }
}

pub struct Data {
    client: Client,
    variant: Variant,
    /// The number of rounds that the second step computes.
    rounds: u64,
}

pub async fn run(client: Client, variant: Variant) {
    let parcels: Api<Parcel> = Api::all(client.clone());
    let data = Arc::new(Data {
        client,
        variant,
        rounds: std::env::var("PARCELS_COMPUTE").map_or(0, |rounds| rounds.parse().unwrap_or(0)),
    });
    let controller = if variant.lean {
        let (reader, writer) = reflector::store();
        let stream = lean(parcels).reflect(writer).applied_objects();
        Controller::for_stream(stream, reader)
    } else {
        Controller::new(parcels, watcher::Config::default())
    };
    let controller = controller.with_config(variant.config()).shutdown_on_signal();
    crate::log(controller.run(reconcile, crate::error_policy, data)).await;
}

async fn reconcile(parcel: Arc<Parcel>, data: Arc<Data>) -> Result<Action, Error> {
    let api: Api<Parcel> = Api::namespaced(data.client.clone(), &parcel.namespace().unwrap_or_default());
    let mut parcel = parcel;
    while let Some(state) = ParcelState::after(parcel.status.as_ref().and_then(|status| status.state)) {
        if state == ParcelState::Sorted {
            compute(data.rounds);
        }
        let stored = write(&api, &parcel, state, data.variant.merge).await?;
        if !data.variant.at_once {
            break;
        }
        parcel = Arc::new(stored);
    }
    Ok(Action::await_change())
}

/// The same computation as in the handler of krator's operator.
fn compute(rounds: u64) {
    black_box((0..rounds).fold(1_u64, |sum, round| {
        black_box(sum).wrapping_mul(6_364_136_223_846_793_005) ^ round
    }));
}

async fn write(api: &Api<Parcel>, parcel: &Parcel, state: ParcelState, merge: bool) -> Result<Parcel, Error> {
    let former = parcel
        .status
        .as_ref()
        .map_or(&[][..], |status| &status.conditions);
    let generation = parcel.meta().generation;
    let ready = state == ParcelState::Delivered;
    let status = ParcelStatus {
        state: Some(state),
        message: Some(state.message().to_owned()),
        observed_generation: generation,
        conditions: conditions(former, generation, &format!("{state:?}"), state.message(), ready),
    };
    let name = parcel.name_any();
    let written = if merge {
        let patch = Patch::Merge(json!({ "status": status }));
        api.patch_status(&name, &PatchParams::default(), &patch).await
    } else {
        let patch = Patch::Apply(json!({
            "apiVersion": Parcel::api_version(&()),
            "kind": Parcel::kind(&()),
            "status": status,
        }));
        let params = PatchParams::apply("parcels-controller").force();
        api.patch_status(&name, &params, &patch).await
    };
    written.map_err(Error::Status)
}
