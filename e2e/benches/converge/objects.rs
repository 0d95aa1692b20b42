//! The objects: an administrator creates them, and watches them until all have reached their final state.

use crate::e2e::cluster::DEADLINE;
use crate::workload::Workload;
use futures::{StreamExt as _, TryStreamExt as _};
use kube::api::{DynamicObject, PostParams};
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Api, Client, ResourceExt as _};
use std::collections::BTreeSet;
use std::time::Instant;
use tokio::{sync::watch, task::JoinSet};

/// How many requests are in flight at once.
const AT_ONCE: usize = 16;

/// All objects of a workload.
pub struct Objects {
    api: Api<DynamicObject>,
    workload: Workload,
}

/// How many objects have reached their final state.
pub struct Arrived {
    count: watch::Receiver<usize>,
    /// The counting task; it ends when this value is dropped.
    _counter: JoinSet<()>,
}

/// The time at which an operator writes the first status of an object.
pub struct FirstStatus(JoinSet<Instant>);

impl Objects {
    pub fn new(client: Client, workload: Workload) -> Self {
        Self {
            api: Api::default_namespaced_with(client, &workload.api()),
            workload,
        }
    }

    /// Creates this number of objects.
    pub async fn create(&self, count: usize) {
        let create = |number| async move { self.create_one(&format!("object-{number:05}")).await };
        futures::stream::iter(0..count)
            .map(create)
            .buffer_unordered(AT_ONCE)
            .collect::<()>()
            .await;
    }

    pub async fn create_one(&self, name: &str) {
        let object = self.workload.object(name);
        let created = self.api.create(&PostParams::default(), &object).await;
        created.expect("the server takes objects");
    }

    /// Starts to count objects in their final state.
    pub async fn watch_arrivals(&self) -> Arrived {
        let (count, arrived) = watch::channel(0);
        let (listed, is_listed) = tokio::sync::oneshot::channel();
        let mut listed = Some(listed);
        let mut events = watcher(self.api.clone(), watcher::Config::default()).boxed();
        let last = self.workload.last_state();
        let mut counter = JoinSet::new();
        counter.spawn(async move {
            let mut names = BTreeSet::new();
            while let Some(event) = events.next().await {
                match event.expect("a watch") {
                    watcher::Event::InitApply(object) | watcher::Event::Apply(object) => {
                        if object.data["status"]["state"] == last && names.insert(object.name_any()) {
                            count.send_replace(names.len());
                        }
                    }
                    watcher::Event::InitDone => drop(listed.take().map(|listed| listed.send(()))),
                    watcher::Event::Init | watcher::Event::Delete(_) => {}
                }
            }
        });
        is_listed.await.expect("a list");
        Arrived {
            count: arrived,
            _counter: counter,
        }
    }

    /// Starts to wait for the first status of an object.
    pub fn watch_first_status(&self, name: &str) -> FirstStatus {
        let one = watcher::Config::default().fields(&format!("metadata.name={name}"));
        let mut states = watcher(self.api.clone(), one).applied_objects().boxed();
        let mut waiter = JoinSet::new();
        waiter.spawn(async move {
            while let Some(object) = states.try_next().await.expect("a watch") {
                if object.data["status"]["state"].is_string() {
                    break;
                }
            }
            Instant::now()
        });
        FirstStatus(waiter)
    }
}

impl Arrived {
    /// Waits until this number of objects have reached their final state.
    pub async fn wait_for(mut self, count: usize) {
        let all = self.count.wait_for(|arrived| *arrived >= count);
        let waited = tokio::time::timeout(DEADLINE, all).await.map(|_| ());
        let arrived = *self.count.borrow();
        assert!(
            waited.is_ok(),
            "not within {DEADLINE:?}: {arrived} of {count} are in their final state"
        );
    }
}

impl FirstStatus {
    pub async fn time(mut self) -> Instant {
        let written = tokio::time::timeout(DEADLINE, self.0.join_next()).await;
        let written = written.unwrap_or_else(|_| panic!("no status within {DEADLINE:?}"));
        written.expect("a task").expect("it ends by itself")
    }
}
