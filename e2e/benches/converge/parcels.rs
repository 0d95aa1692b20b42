//! The objects: the administrator creates them, and watches them until all have reached their final state.

use crate::e2e::cluster::{Cluster, DEADLINE};
use futures::{StreamExt as _, TryStreamExt as _};
use kube::api::{DynamicObject, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::{ApiResource, GroupVersionKind};
use kube::runtime::watcher;
use kube::{Api, Client, Config, ResourceExt as _};
use serde_json::json;
use std::collections::BTreeSet;
use tokio::{sync::watch, task::JoinSet};

/// How many requests are in flight at once.
const AT_ONCE: usize = 16;

/// All parcels.
pub struct Parcels(Api<DynamicObject>);

/// How many parcels have been delivered.
pub struct Delivered {
    count: watch::Receiver<usize>,
    /// The task that counts; it ends when this value is dropped.
    _counter: JoinSet<()>,
}

impl Parcels {
    pub async fn new(cluster: &Cluster) -> Self {
        let kubeconfig =
            Kubeconfig::read_from(cluster.kubeconfig("admin")).expect("the cluster has written it");
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
            .await
            .expect("a kubeconfig");
        let client = Client::try_from(config).expect("a client");
        let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("bench.krator.dev", "v1", "Parcel"));
        Self(Api::default_namespaced_with(client, &kind))
    }

    pub async fn create(&self, count: usize) {
        let parcel = |number: usize| -> DynamicObject {
            let parcel = json!({
                "apiVersion": "bench.krator.dev/v1",
                "kind": "Parcel",
                "metadata": {"name": format!("parcel-{number:05}"), "labels": {"app.kubernetes.io/part-of": "bench"}},
                "spec": {"sender": "Ada", "recipient": "Charles", "weight": 2.5, "fragile": true},
            });
            serde_json::from_value(parcel).expect("an object")
        };
        let create = |number| async move { self.0.create(&PostParams::default(), &parcel(number)).await };
        futures::stream::iter(0..count)
            .map(create)
            .buffer_unordered(AT_ONCE)
            .try_for_each(|_| async { Ok(()) })
            .await
            .expect("the server takes parcels");
    }

    /// Starts to count deliveries.
    pub async fn watch_deliveries(&self) -> Delivered {
        let (count, delivered) = watch::channel(0);
        let (listed, is_listed) = tokio::sync::oneshot::channel();
        let mut listed = Some(listed);
        let mut events = watcher(self.0.clone(), watcher::Config::default()).boxed();
        let mut counter = JoinSet::new();
        counter.spawn(async move {
            let mut names = BTreeSet::new();
            while let Some(event) = events.next().await {
                match event.expect("a watch") {
                    watcher::Event::InitApply(parcel) | watcher::Event::Apply(parcel) => {
                        if parcel.data["status"]["state"] == "Delivered" && names.insert(parcel.name_any()) {
                            count.send_replace(names.len());
                        }
                    }
                    watcher::Event::InitDone => drop(listed.take().map(|listed| listed.send(()))),
                    watcher::Event::Init | watcher::Event::Delete(_) => {}
                }
            }
        });
        is_listed.await.expect("a list");
        Delivered {
            count: delivered,
            _counter: counter,
        }
    }
}

impl Delivered {
    /// Waits until so many parcels have been delivered.
    pub async fn wait_for(mut self, count: usize) {
        let all = self.count.wait_for(|delivered| *delivered >= count);
        let waited = tokio::time::timeout(DEADLINE, all).await.map(|_| ());
        let delivered = *self.count.borrow();
        assert!(
            waited.is_ok(),
            "not within {DEADLINE:?}: {delivered} of {count} delivered"
        );
    }
}
