//! An operator for parcels on krator 0.6.0, the last release before this repository, in the style of its own example.

use std::sync::Arc;

use chrono::Utc;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use krator::{
    Manifest, ObjectState, ObjectStatus, Operator, OperatorRuntime, State, Transition, TransitionTo,
};
use kube::Resource;
use kube_derive::CustomResource;
use serde::{Deserialize, Serialize};
use tokio::sync::RwLock;
use tracing::info;

#[derive(CustomResource, Clone, Debug, Default, Deserialize, Serialize)]
#[kube(
    group = "bench.krator.dev",
    version = "v1",
    kind = "Parcel",
    derive = "Default",
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
    state: Option<String>,
    message: Option<String>,
    observed_generation: Option<i64>,
    #[serde(default)]
    conditions: Vec<Condition>,
}

impl ObjectStatus for ParcelStatus {
    fn json_patch(&self) -> serde_json::Value {
        serde_json::json!({ "status": self })
    }
    fn failed(error: &str) -> Self {
        Self {
            message: Some(error.to_owned()),
            ..Self::default()
        }
    }
}

/// The status of a parcel that has entered `state`. The transition time of a condition changes only with its status.
fn status(parcel: &Parcel, state: &str, message: &str) -> ParcelStatus {
    info!(name = ?parcel.meta().name, state, "transition");
    let former = parcel.status.as_ref().map_or(&[][..], |status| &status.conditions);
    let ready = state == "Delivered";
    let condition = |kind: &str, holds: bool| {
        let status = if holds { "True" } else { "False" };
        let same = former.iter().find(|c| c.type_ == kind && c.status == status);
        Condition {
            type_: kind.to_owned(),
            status: status.to_owned(),
            reason: state.to_owned(),
            message: message.to_owned(),
            observed_generation: parcel.meta().generation,
            last_transition_time: same
                .map_or_else(|| Time(Utc::now()), |c| c.last_transition_time.clone()),
        }
    };
    ParcelStatus {
        state: Some(state.to_owned()),
        message: Some(message.to_owned()),
        observed_generation: parcel.meta().generation,
        conditions: vec![
            condition("Ready", ready),
            condition("Reconciling", !ready),
            condition("Stalled", false),
        ],
    }
}

struct InMemory;

#[async_trait::async_trait]
impl ObjectState for InMemory {
    type Manifest = Parcel;
    type Status = ParcelStatus;
    type SharedState = ();
    async fn async_drop(self, _: &mut ()) {}
}

/// A state with its next state, if there is one.
macro_rules! state {
    ($state:ident, $message:literal, $self:ident => $next:expr) => {
        #[derive(Debug, Default)]
        struct $state;

        #[async_trait::async_trait]
        impl State<InMemory> for $state {
            async fn next(
                $self: Box<Self>,
                _: Arc<RwLock<()>>,
                _: &mut InMemory,
                _: Manifest<Parcel>,
            ) -> Transition<InMemory> {
                $next
            }
            async fn status(&self, _: &mut InMemory, parcel: &Parcel) -> anyhow::Result<ParcelStatus> {
                Ok(status(parcel, stringify!($state), $message))
            }
        }
    };
}
state!(Ordered, "Somebody wants it.", self => Transition::next(self, Packed));
state!(Packed, "In a box.", self => Transition::next(self, Sorted));
state!(Sorted, "On the right belt.", self => Transition::next(self, Loaded));
state!(Loaded, "In the van.", self => Transition::next(self, Delivered));
state!(Delivered, "At the door.", self => Transition::Complete(Ok(())));
state!(Gone, "", self => Transition::Complete(Ok(())));

impl TransitionTo<Packed> for Ordered {}
impl TransitionTo<Sorted> for Packed {}
impl TransitionTo<Loaded> for Sorted {}
impl TransitionTo<Delivered> for Loaded {}

struct Parcels(Arc<RwLock<()>>);

#[async_trait::async_trait]
impl Operator for Parcels {
    type Manifest = Parcel;
    type Status = ParcelStatus;
    type ObjectState = InMemory;
    type InitialState = Ordered;
    type DeletedState = Gone;

    async fn initialize_object_state(&self, _: &Parcel) -> anyhow::Result<InMemory> {
        Ok(InMemory)
    }
    async fn shared_state(&self) -> Arc<RwLock<()>> {
        Arc::clone(&self.0)
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt()
        .with_env_filter("info")
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .init();
    let config = kube::Config::infer().await?;
    OperatorRuntime::new(&config, Parcels(Arc::default()), None)
        .start()
        .await;
    Ok(())
}
