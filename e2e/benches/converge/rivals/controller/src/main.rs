//! A hand-written operator for parcels on kube-rs alone, as the book and the examples of kube-rs write it: a `Controller`
//! that makes one transition per reconciliation and writes it by server-side apply, which wakes the next reconciliation.
//!
//! Arguments choose variants. `LOG.md` of the benchmark records what each of them gave.

use std::{hint::black_box, sync::Arc, time::Duration};

use futures::StreamExt as _;
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::{
    Api, Client, CustomResource, Resource as _, ResourceExt as _,
    api::{Patch, PatchParams},
    runtime::{Controller, WatchStreamExt as _, controller, controller::Action, reflector, watcher},
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tracing::{info, warn};

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
struct ParcelSpec {
    sender: String,
    recipient: String,
    weight: f64,
    fragile: bool,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct ParcelStatus {
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

#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("the status was not written: {0}")]
    Write(#[source] kube::Error),
}

struct Data {
    client: Client,
    /// Whether to write by merge patch instead of server-side apply.
    merge: bool,
    /// Whether to make all transitions in one reconciliation.
    at_once: bool,
    /// How long the second step computes.
    rounds: u64,
}

async fn reconcile(parcel: Arc<Parcel>, data: Arc<Data>) -> Result<Action, Error> {
    let api: Api<Parcel> = Api::namespaced(data.client.clone(), &parcel.namespace().unwrap_or_default());
    let mut parcel = parcel;
    while let Some(state) = ParcelState::after(parcel.status.as_ref().and_then(|status| status.state)) {
        if state == ParcelState::Sorted {
            compute(data.rounds);
        }
        let stored = write(&api, &parcel, state, data.merge).await?;
        if !data.at_once {
            break;
        }
        parcel = Arc::new(stored);
    }
    Ok(Action::await_change())
}

/// What the handler of krator's operator does, too.
fn compute(rounds: u64) {
    black_box((0..rounds).fold(1_u64, |sum, round| {
        black_box(sum).wrapping_mul(6_364_136_223_846_793_005) ^ round
    }));
}

async fn write(api: &Api<Parcel>, parcel: &Parcel, state: ParcelState, merge: bool) -> Result<Parcel, Error> {
    let status = ParcelStatus {
        state: Some(state),
        message: Some(state.message().to_owned()),
        observed_generation: parcel.meta().generation,
        conditions: conditions(parcel, state),
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
    written.map_err(Error::Write)
}

/// The conditions Ready, Reconciling and Stalled. The transition time of each changes only with its status.
fn conditions(parcel: &Parcel, state: ParcelState) -> Vec<Condition> {
    let former = parcel.status.as_ref().map_or(&[][..], |status| &status.conditions);
    let ready = state == ParcelState::Delivered;
    let condition = |kind: &str, holds: bool| {
        let status = if holds { "True" } else { "False" };
        let same = former.iter().find(|c| c.type_ == kind && c.status == status);
        Condition {
            type_: kind.to_owned(),
            status: status.to_owned(),
            reason: format!("{state:?}"),
            message: state.message().to_owned(),
            observed_generation: parcel.meta().generation,
            last_transition_time: same
                .map_or_else(|| Time(Timestamp::now()), |c| c.last_transition_time.clone()),
        }
    };
    vec![
        condition("Ready", ready),
        condition("Reconciling", !ready),
        condition("Stalled", false),
    ]
}

fn error_policy(_: Arc<Parcel>, _: &Error, _: Arc<Data>) -> Action {
    Action::requeue(Duration::from_secs(5))
}

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |argument: &str| arguments.iter().any(|a| a == argument);
    let mut runtime = match has("--one-thread") {
        true => tokio::runtime::Builder::new_current_thread(),
        false => tokio::runtime::Builder::new_multi_thread(),
    };
    runtime.enable_all().build()?.block_on(run(has))
}

async fn run(has: impl Fn(&str) -> bool) -> anyhow::Result<()> {
    tracing_subscriber::fmt()
        .with_env_filter("info")
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .init();
    let client = Client::try_default().await?;
    let parcels: Api<Parcel> = Api::all(client.clone());
    let data = Arc::new(Data {
        client,
        merge: has("--merge"),
        at_once: has("--at-once"),
        rounds: std::env::var("PARCELS_COMPUTE").map_or(0, |rounds| rounds.parse().unwrap_or(0)),
    });
    let controller = if has("--lean") {
        // The managed fields are half of each object, and no code reads them.
        let (reader, writer) = reflector::store();
        let stream = watcher(parcels, watcher::Config::default())
            .default_backoff()
            .modify(|parcel| parcel.managed_fields_mut().clear())
            .reflect(writer)
            .applied_objects();
        Controller::for_stream(stream, reader)
    } else {
        Controller::new(parcels, watcher::Config::default())
    };
    let concurrency = if has("--bounded") { 32 } else { 0 };
    controller
        .with_config(controller::Config::default().concurrency(concurrency))
        .shutdown_on_signal()
        .run(reconcile, error_policy, data)
        .for_each(|reconciled| async move {
            match reconciled {
                Ok((parcel, _)) => info!(%parcel, "reconciled"),
                Err(error) => warn!(%error, "not reconciled"),
            }
        })
        .await;
    Ok(())
}
