//! The watch of one kind in one place.
use crate::{
    cluster::{
        api::{
            backoff::WatchBackoff,
            raw::{Endpoint, Raw},
        },
        process::health::Wait,
    },
    error::Error,
};
use futures::{FutureExt as _, Stream, StreamExt as _, future, stream::BoxStream};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{
    Client,
    core::PartialObjectMeta,
    runtime::{WatchStreamExt as _, watcher},
};
use std::{collections::BTreeSet, sync::Arc};
use tokio::sync::watch;

/// An event of a watch.
pub(in crate::cluster) enum Seen {
    Whole(watcher::Event<Arc<Raw>>),
    Metadata(watcher::Event<Box<ObjectMeta>>),
    /// The watch has failed, and is retried.
    Failed,
}

/// An event of a watch that goes to the loop of the kind.
#[derive(Clone)]
pub(in crate::cluster) enum OwnSeen {
    /// An event of the watch with this number.
    Of(usize, watcher::Event<Arc<Raw>>),
    /// All watches have listed all objects, since this replica leads.
    Listed,
}

/// Chooses the events for the loop of a kind.
pub(super) struct OwnEvents {
    /// The watches that have not listed all objects since this replica leads.
    unlisted: BTreeSet<usize>,
}

impl OwnEvents {
    /// The events of so many watches.
    pub fn of(watches: usize) -> Self {
        Self {
            unlisted: (0..watches).collect(),
        }
    }

    /// The part of an event that the loop needs. Those from before this replica leads say nothing of the last writes of the former
    /// leader, and those of metadata alone are of other kinds.
    pub fn take(&mut self, number: usize, leads: bool, seen: Seen) -> Vec<OwnSeen> {
        let Seen::Whole(event) = seen else {
            return Vec::new();
        };
        if !leads {
            return Vec::new();
        }
        let ends_listing = matches!(event, watcher::Event::InitDone);
        let is_last = ends_listing && self.unlisted.remove(&number) && self.unlisted.is_empty();
        let mut own = vec![OwnSeen::Of(number, event)];
        own.extend(is_last.then_some(OwnSeen::Listed));
        own
    }
}

/// A kind in a namespace, or in all of them.
pub(super) struct Watch {
    pub endpoint: Endpoint,
    /// Empty for all namespaces.
    pub namespace: String,
    pub client: Client,
    /// Only objects with labels that this selects.
    pub selector: Option<String>,
    /// Waits for the first listing.
    pub listing: Wait,
}

impl Watch {
    /// Watches metadata until whole objects are `wanted`, and lists everything again when this replica `leads`. Each event comes with
    /// whether it is of such a listing, or of what follows it.
    pub fn run(
        self,
        wanted: watch::Receiver<bool>,
        leads: Option<watch::Receiver<bool>>,
    ) -> BoxStream<'static, (bool, Seen)> {
        let standby = leads.filter(|leads| !*leads.borrow()).map(is_true);
        let events = if *wanted.borrow() {
            self.whole()
        } else {
            self.metadata()
                .take_until(is_true(wanted))
                .chain(self.whole())
                .boxed()
        };
        let events = match standby {
            Some(leads) => {
                let before = events.take_until(leads).map(|event| (false, event));
                before.chain(self.whole().map(|event| (true, event))).boxed()
            }
            None => events.map(|event| (true, event)).boxed(),
        };
        let (endpoint, namespace, mut listing) = (self.endpoint, self.namespace, Some(self.listing));
        let mut note = move |event| match event {
            Ok(seen) => {
                if let Seen::Whole(watcher::Event::InitDone) | Seen::Metadata(watcher::Event::InitDone) = seen
                    && let Some(listing) = listing.take()
                {
                    listing.done();
                }
                seen
            }
            Err(error) => {
                let error = Error::from(error);
                tracing::warn!(group = endpoint.group(), kind = endpoint.kind(), namespace, %error, "the watch failed and will be retried");
                if let Some(listing) = &listing {
                    listing.fails(&error);
                }
                Seen::Failed
            }
        };
        events.map(move |(leads, event)| (leads, note(event))).boxed()
    }

    fn config(&self) -> watcher::Config {
        watcher::Config {
            label_selector: self.selector.clone(),
            ..watcher::Config::default()
        }
    }

    fn whole(&self) -> BoxStream<'static, watcher::Result<Seen>> {
        let api = self.endpoint.api::<Raw>(self.client.clone(), &self.namespace);
        retried(watcher(api, self.config()), |event| {
            Seen::Whole(map(event, Arc::new))
        })
    }

    fn metadata(&self) -> BoxStream<'static, watcher::Result<Seen>> {
        let api = self
            .endpoint
            .api::<PartialObjectMeta<Raw>>(self.client.clone(), &self.namespace);
        retried(watcher(api, self.config()), |event| {
            Seen::Metadata(map(event, |object| Box::new(object.metadata)))
        })
    }
}

fn retried<T: Send + 'static>(
    events: impl Stream<Item = watcher::Result<watcher::Event<T>>> + Send + 'static,
    seen: fn(watcher::Event<T>) -> Seen,
) -> BoxStream<'static, watcher::Result<Seen>> {
    let events = events.backoff(WatchBackoff::default());
    events.map(move |event| event.map(seen)).boxed()
}

fn map<A, B>(event: watcher::Event<A>, with: impl FnOnce(A) -> B) -> watcher::Event<B> {
    match event {
        watcher::Event::Init => watcher::Event::Init,
        watcher::Event::InitApply(object) => watcher::Event::InitApply(with(object)),
        watcher::Event::InitDone => watcher::Event::InitDone,
        watcher::Event::Apply(object) => watcher::Event::Apply(with(object)),
        watcher::Event::Delete(object) => watcher::Event::Delete(with(object)),
    }
}

/// Ends when the value is true, and never if it can no longer become true.
fn is_true(mut value: watch::Receiver<bool>) -> impl Future<Output = ()> + Send + Unpin + 'static {
    let is_true = async move {
        if value.wait_for(|value| *value).await.is_err() {
            future::pending::<()>().await;
        }
    };
    is_true.boxed()
}
