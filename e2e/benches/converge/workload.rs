//! The workloads: their objects, and the states that measure their progress.

use clap::ValueEnum;
use kube::api::DynamicObject;
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::json;

/// A workload, with its own kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Workload {
    /// Parcels take four transitions, and do nothing else.
    Parcels,
    /// Shops have three children each, and open when one of them is ready.
    Children,
}

/// The workloads that are measured.
#[derive(Clone, Copy, ValueEnum)]
pub enum Selection {
    Parcels,
    Children,
    Both,
}

impl Selection {
    pub fn workloads(self) -> &'static [Workload] {
        match self {
            Self::Parcels => &[Workload::Parcels],
            Self::Children => &[Workload::Children],
            Self::Both => &[Workload::Parcels, Workload::Children],
        }
    }
}

impl Workload {
    /// The work of one object, as in the heading of the results.
    pub fn work(self) -> &'static str {
        match self {
            Self::Parcels => "four transitions each",
            Self::Children => "three children each, of which one becomes ready",
        }
    }

    /// How many objects are measured by default. A shop costs the server several times what a parcel does.
    pub fn usual_objects(self) -> usize {
        match self {
            Self::Parcels => 1_000,
            Self::Children => 300,
        }
    }

    pub fn api(self) -> ApiResource {
        let kind = match self {
            Self::Parcels => "Parcel",
            Self::Children => "Shop",
        };
        ApiResource::from_gvk(&GroupVersionKind::gvk("bench.krator.dev", "v1", kind))
    }

    pub fn last_state(self) -> &'static str {
        match self {
            Self::Parcels => "Delivered",
            Self::Children => "Open",
        }
    }

    /// A new object.
    pub fn object(self, name: &str) -> DynamicObject {
        let spec = match self {
            Self::Parcels => json!({"sender": "Ada", "recipient": "Charles", "weight": 2.5, "fragile": true}),
            Self::Children => json!({"image": "shop:1.0", "replicas": 2, "greeting": "Good morning!"}),
        };
        let object = json!({
            "apiVersion": "bench.krator.dev/v1",
            "kind": self.api().kind,
            "metadata": {"name": name, "labels": {"app.kubernetes.io/part-of": "bench"}},
            "spec": spec,
        });
        serde_json::from_value(object).expect("an object")
    }
}
