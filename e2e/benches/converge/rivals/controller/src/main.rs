//! Hand-written operators on kube-rs alone, in the style of the book and the examples of kube-rs: a `Controller` for
//! parcels and one for shops.
//!
//! Arguments choose the operator and its variant. `LOG.md` of the benchmark records the results of each.

mod children;
mod conditions;
mod parcels;

use futures::{Stream, StreamExt as _};
use kube::{
    Api, Client, Resource, ResourceExt as _,
    runtime::{
        WatchStreamExt as _,
        controller::{self, Action},
        reflector::ObjectRef,
        watcher,
    },
};
use serde::de::DeserializeOwned;
use std::{fmt::Debug, sync::Arc, time::Duration};
use tracing::{info, warn};

#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("the status was not written: {0}")]
    Status(#[source] kube::Error),
    #[error("a child was not applied: {0}")]
    Child(#[source] kube::Error),
    #[error("a child is no JSON: {0}")]
    Json(#[source] serde_json::Error),
}

/// The differences of an operator from those in the examples.
#[derive(Clone, Copy)]
struct Variant {
    /// Whether to reconcile at most 32 objects at once.
    bounded: bool,
    /// Whether to keep objects in memory without their managed fields, and also children, to apply only those that
    /// differ.
    lean: bool,
    /// Whether to write by merge patch instead of server-side apply.
    merge: bool,
    /// Whether to make all transitions in one reconciliation.
    at_once: bool,
}

impl Variant {
    fn config(self) -> controller::Config {
        let concurrency = if self.bounded { 32 } else { 0 };
        controller::Config::default().concurrency(concurrency)
    }
}

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |argument: &str| arguments.iter().any(|a| a == argument);
    let variant = Variant {
        bounded: has("--bounded"),
        lean: has("--lean"),
        merge: has("--merge"),
        at_once: has("--at-once"),
    };
    let mut runtime = match has("--one-thread") {
        true => tokio::runtime::Builder::new_current_thread(),
        false => tokio::runtime::Builder::new_multi_thread(),
    };
    runtime
        .enable_all()
        .build()?
        .block_on(run(has("--children"), variant))
}

async fn run(children: bool, variant: Variant) -> anyhow::Result<()> {
    tracing_subscriber::fmt()
        .with_env_filter("info")
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .init();
    let client = Client::try_default().await?;
    if children {
        children::run(client, variant).await;
    } else {
        parcels::run(client, variant).await;
    }
    Ok(())
}

/// Watches all objects of a kind without their managed fields, which are half of each object and are not read.
fn lean<K>(api: Api<K>) -> impl Stream<Item = Result<watcher::Event<K>, watcher::Error>> + Send
where
    K: Resource + Clone + Debug + DeserializeOwned + Send + 'static,
{
    watcher(api, watcher::Config::default())
        .default_backoff()
        .modify(|object| object.managed_fields_mut().clear())
}

fn error_policy<K, C>(_: Arc<K>, _: &Error, _: Arc<C>) -> Action {
    Action::requeue(Duration::from_secs(5))
}

/// Runs a controller, and logs each reconciliation.
async fn log<K: Resource<DynamicType = ()>, E: std::error::Error>(
    reconciliations: impl Stream<Item = Result<(ObjectRef<K>, Action), E>>,
) {
    reconciliations
        .for_each(|reconciled| async move {
            match reconciled {
                Ok((object, _)) => info!(%object, "reconciled"),
                Err(error) => warn!(%error, "not reconciled"),
            }
        })
        .await;
}
