//! Keeps the certificates of the webhooks: in a Secret, which the replicas write under optimistic locking, and in the
//! configurations by which the API server calls them.
use super::certificates::{Kept, Names, checked_every};
use crate::{
    cluster::{
        api::backoff::WatchBackoff,
        process::{
            clock::Clock,
            health::{Health, Wait},
        },
    },
    error::{Error, Result},
};
use futures::{
    StreamExt as _,
    stream::{BoxStream, select_all},
};
use k8s_openapi::{
    ByteString,
    api::{
        admissionregistration::v1::{MutatingWebhookConfiguration, ValidatingWebhookConfiguration},
        core::v1::{Namespace, Secret},
    },
};
use kube::{
    Api, Client,
    api::{ApiResource, DynamicObject, Patch, PatchParams, PostParams},
    runtime::{WatchStreamExt as _, watcher::watch_object},
};
use serde::Deserialize as _;
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};
use tokio_rustls::TlsAcceptor;

/// How `/readyz?verbose` names what is kept here.
const ABOUT: &str = "certificates of webhooks";
/// How often certificates are made anew, at most.
const MADE_AGAIN: Duration = Duration::from_secs(5);

/// Keeps the certificates of one process.
pub(super) struct Keeper {
    pub client: Client,
    /// The name of the operator, which its configurations have, too.
    pub operator: &'static str,
    /// The name of this process.
    pub identity: String,
    pub names: Names,
    pub namespace: String,
    pub lifetime: Duration,
    /// Whether there are handlers that validate, and some that mutate.
    pub calls: [bool; 2],
    pub clock: Arc<Clock>,
    pub health: Health,
    /// What the server accepts connections with.
    pub served: watch::Sender<Option<TlsAcceptor>>,
}

/// The objects that are watched.
const VALIDATING: usize = 0;
const MUTATING: usize = 1;
const SECRET: usize = 2;

/// What is known of the cluster.
#[derive(Default)]
struct Known {
    /// `None` before it was looked for.
    secret: Option<Option<DynamicObject>>,
    /// The configurations that validate and mutate.
    configurations: [Option<DynamicObject>; 2],
    /// What was read from the Secret, or written to it, last.
    kept: Option<Kept>,
    /// The uid of the namespace.
    namespace: Option<String>,
    /// When certificates were made anew last.
    made: Option<Instant>,
}

/// An object as it was seen; `None` if there is none.
type Seen = (usize, Option<DynamicObject>);

impl Keeper {
    /// Keeps the certificates. The process is not ready before it has one.
    pub async fn run(self, wait: Wait) {
        let (mut seen, mut known, mut wait) = (self.watch(), Known::default(), Some(wait));
        let mut failures = WatchBackoff::default();
        let mut pause = checked_every(self.lifetime);
        loop {
            tokio::select! {
                Some(change) = seen.next() => match change {
                    Ok((SECRET, secret)) => known.secret = Some(secret),
                    Ok((at, configuration)) => known.configurations[at] = configuration,
                    Err(error) => self.failed(&error, wait.as_ref()),
                },
                () = sleep(pause) => {}
            }
            pause = match self.keep(&mut known).await {
                Ok(()) => {
                    self.health.note(ABOUT.to_owned(), None);
                    failures = WatchBackoff::default();
                    checked_every(self.lifetime)
                }
                Err(error) => {
                    self.failed(&error, wait.as_ref());
                    // Certificates of a short life do not wait for long.
                    let delay = failures.next().unwrap_or(self.lifetime);
                    delay.min(self.lifetime / 12)
                }
            };
            if self.served.borrow().is_some()
                && let Some(wait) = wait.take()
            {
                wait.done();
            }
        }
    }

    fn failed(&self, error: &Error, wait: Option<&Wait>) {
        tracing::warn!(%error, "the certificates of the webhooks cannot be kept");
        self.health.note(ABOUT.to_owned(), Some(error.to_string()));
        wait.inspect(|wait| wait.fails(error));
    }

    fn watch(&self) -> BoxStream<'static, Result<Seen>> {
        let configurations = [VALIDATING, MUTATING].into_iter().filter(|at| self.calls[*at]);
        let watched = configurations.chain([SECRET]).map(|at| {
            let (api, kind, name) = self.watched(at);
            watch_object(api, &name)
                .backoff(WatchBackoff::default())
                .map(move |seen| match seen {
                    Ok(seen) => Ok((at, seen)),
                    Err(error) => Err(Error::from(error).context(format!("watching the {kind}"))),
                })
                .boxed()
        });
        select_all(watched).boxed()
    }

    /// A client for one of the objects that are watched, its kind and its name. They have no types: only a few of their fields
    /// matter, and the code that reads all of them would make operators larger.
    fn watched(&self, at: usize) -> (Api<DynamicObject>, String, String) {
        let (resource, name) = match at {
            VALIDATING => (
                ApiResource::erase::<ValidatingWebhookConfiguration>(&()),
                self.operator.to_owned(),
            ),
            MUTATING => (
                ApiResource::erase::<MutatingWebhookConfiguration>(&()),
                self.operator.to_owned(),
            ),
            _ => (ApiResource::erase::<Secret>(&()), self.secret()),
        };
        let client = self.client.clone();
        let api = match at {
            SECRET => Api::namespaced_with(client, &self.namespace, &resource),
            _ => Api::all_with(client, &resource),
        };
        (api, resource.kind, name)
    }

    /// Does what is to be done now.
    async fn keep(&self, known: &mut Known) -> Result<()> {
        let Some(secret) = known.secret.clone() else {
            return Ok(());
        };
        let now = self.clock.server_time();
        let read = match &secret {
            Some(secret) if !secret.data["data"].is_null() => BTreeMap::deserialize(&secret.data["data"])
                .map_err(Error::from)
                .and_then(|data| Kept::read(&data, &self.names, now)),
            _ => Err(Error::from("there is no Secret with certificates yet")),
        };
        let next = match read {
            Ok(kept) => {
                let is_trusted = self.untrusting(known, &kept).next().is_none();
                let next = kept.next(&self.names, self.lifetime, now, is_trusted)?;
                self.serve(known, kept)?;
                next
            }
            // Somebody else may write what this process cannot use, again and again.
            Err(why) if known.made.is_some_and(|made| made.elapsed() < MADE_AGAIN) => return Err(why),
            Err(why) => {
                known.made = Some(Instant::now());
                tracing::info!(%why, secret = self.secret(), "the certificates of the webhooks are made anew");
                let made = Kept::new(known.kept.as_ref(), &self.names, self.lifetime, now)?;
                Some((made, "the certificates of the webhooks were made"))
            }
        };
        if let Some((next, what)) = next
            && let Some(written) = self.write(secret, &next).await?
        {
            tracing::info!("{what}");
            known.secret = Some(Some(written));
            self.serve(known, next)?;
        }
        self.trust(known).await
    }

    /// Lets the server use what is kept.
    fn serve(&self, known: &mut Known, kept: Kept) -> Result<()> {
        if known.kept.as_ref() != Some(&kept) {
            self.served.send_replace(Some(kept.acceptor()?));
            known.kept = Some(kept);
        }
        Ok(())
    }

    /// Writes the Secret, and returns it; `None` if another replica has written it meanwhile.
    async fn write(&self, secret: Option<DynamicObject>, kept: &Kept) -> Result<Option<DynamicObject>> {
        let (api, _, name) = self.watched(SECRET);
        let written = match secret {
            // The right to create can be bound to a name for an apply only. An apply of another replica has another field
            // manager, so the later one is refused.
            None => {
                let secret = json!({
                    "apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "data": kept.data(),
                });
                let manager = PatchParams::apply(&self.identity);
                api.patch(&name, &manager, &Patch::Apply(secret)).await
            }
            Some(mut secret) => {
                secret.data["data"] = json!(kept.data());
                api.replace(&name, &PostParams::default(), &secret).await
            }
        };
        match written {
            Ok(written) => Ok(Some(written)),
            Err(kube::Error::Api(status)) if status.code == 409 => Ok(None),
            Err(error) => Err(Error::from(error).context("writing the Secret with certificates of webhooks")),
        }
    }

    /// The configurations that do not have the bundle, or no owner yet.
    fn untrusting<'k>(
        &self,
        known: &'k Known,
        kept: &Kept,
    ) -> impl Iterator<Item = (usize, &'k DynamicObject)> {
        let bundle = json!(ByteString(kept.bundle().into_bytes()));
        let configurations = known.configurations.iter().enumerate();
        let there = configurations.filter_map(|(at, there)| Some((at, there.as_ref()?)));
        there.filter(move |(_, there)| {
            let mut webhooks = there.data["webhooks"].as_array().into_iter().flatten();
            webhooks.any(|webhook| webhook["clientConfig"]["caBundle"] != bundle)
                || there.metadata.owner_references.is_none()
        })
    }

    /// Lets the API server trust what is served, and delete the configurations with the namespace of the operator: without
    /// it nothing answers them.
    async fn trust(&self, known: &mut Known) -> Result<()> {
        let Some(kept) = known.kept.clone() else {
            return Ok(());
        };
        let untrusting: Vec<(usize, DynamicObject)> = self
            .untrusting(known, &kept)
            .map(|(at, configuration)| (at, configuration.clone()))
            .collect();
        let mut failed = Ok(());
        for (at, configuration) in untrusting {
            let uid = match &known.namespace {
                Some(uid) => uid.clone(),
                None => {
                    let namespaces = ApiResource::erase::<Namespace>(&());
                    let namespaces = Api::<DynamicObject>::all_with(self.client.clone(), &namespaces);
                    let uid = namespaces.get(&self.namespace).await?.metadata.uid;
                    known.namespace.insert(uid.unwrap_or_default()).clone()
                }
            };
            let bundle = json!(ByteString(kept.bundle().into_bytes()));
            let webhooks = configuration.data["webhooks"].as_array().into_iter().flatten();
            let webhooks: Vec<Value> = webhooks
                .map(|webhook| json!({"name": webhook["name"], "clientConfig": {"caBundle": bundle}}))
                .collect();
            let owner = json!({"apiVersion": "v1", "kind": "Namespace", "name": self.namespace, "uid": uid});
            let (api, kind, _) = self.watched(at);
            let body = json!({
                "apiVersion": "admissionregistration.k8s.io/v1", "kind": kind,
                "metadata": {"name": self.operator, "ownerReferences": [owner]}, "webhooks": webhooks,
            });
            let manager = PatchParams::apply(self.operator).force();
            let applied = api.patch(self.operator, &manager, &Patch::Apply(body)).await;
            match applied {
                Ok(applied) => {
                    tracing::info!(%kind, "the API server is told which certificates of the webhooks to trust");
                    known.configurations[at] = Some(applied);
                }
                Err(error) => {
                    failed = Err(Error::from(error).context(format!("writing the caBundle of the {kind}")));
                }
            }
        }
        failed
    }

    fn secret(&self) -> String {
        format!("{}-webhook", self.operator)
    }
}
