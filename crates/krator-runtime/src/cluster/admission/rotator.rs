//! Rotates the certificates of the webhooks: in a Secret, which the replicas write with optimistic locking,
//! and in the `caBundle` of the webhook configurations and CustomResourceDefinitions.
use super::{
    certificates::{CertificateSet, Names, checked_every},
    reviews::{KindRoutes, MUTATE, VALIDATE},
};
use crate::{
    cluster::{
        api::backoff::WatchBackoff,
        process::{
            clock::Clock,
            health::{Health, Wait},
            serve::tls::Certificate,
        },
    },
    error::{Error, Result},
};
use futures::{
    StreamExt as _,
    stream::{BoxStream, select_all},
};
use k8s_openapi::{
    ByteString, Resource as _,
    api::{
        admissionregistration::v1::{MutatingWebhookConfiguration, ValidatingWebhookConfiguration},
        core::v1::{Namespace, Secret},
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
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

/// The name of this component in `/readyz?verbose`.
const ABOUT: &str = "certificates of webhooks";
/// How often certificates are regenerated, at most.
const MADE_AGAIN: Duration = Duration::from_secs(5);

/// The rotation of certificates in one process.
pub(super) struct CertificateRotator {
    pub client: Client,
    /// The name of the operator.
    pub operator: &'static str,
    /// The name of this process.
    pub identity: String,
    pub names: Names,
    pub namespace: String,
    pub lifetime: Duration,
    /// The objects with a `caBundle` for this operator.
    pub targets: Vec<CaBundleTarget>,
    pub clock: Arc<Clock>,
    pub health: Health,
    /// Passes certificates to the server.
    pub served: watch::Sender<Option<Certificate>>,
}

/// An object with a `caBundle`: a webhook configuration, or the CustomResourceDefinition of a converted kind.
/// It is untyped, because only a few of its fields matter, and typed decoding would make operators larger.
pub(super) struct CaBundleTarget {
    resource: ApiResource,
    name: String,
}

impl CaBundleTarget {
    /// The targets of an operator.
    pub fn of(kinds: &[KindRoutes], operator: &str) -> Vec<Self> {
        let webhooks = || kinds.iter().flat_map(|kind| &kind.webhooks);
        let has = |action| webhooks().any(|webhook| webhook.action == action);
        let configurations = [
            has(VALIDATE).then(|| ApiResource::erase::<ValidatingWebhookConfiguration>(&())),
            has(MUTATE).then(|| ApiResource::erase::<MutatingWebhookConfiguration>(&())),
        ];
        let configurations = configurations.into_iter().flatten().map(|resource| Self {
            resource,
            name: operator.to_owned(),
        });
        let configurations = configurations.chain(kinds.iter().filter_map(|kind| {
            let resource = ApiResource::erase::<CustomResourceDefinition>(&());
            let name = kind.versions.as_ref()?.1.clone();
            Some(Self { resource, name })
        }));
        configurations.collect()
    }

    fn api(&self, client: &Client) -> Api<DynamicObject> {
        Api::all_with(client.clone(), &self.resource)
    }

    /// Whether the object is deleted with the operator. A CustomResourceDefinition is not: that would delete all
    /// objects of the kind.
    fn is_owned(&self) -> bool {
        self.resource.group == ValidatingWebhookConfiguration::GROUP
    }

    /// Whether the object has the expected bundle, and the expected owner if any.
    fn trusts(&self, object: &DynamicObject, bundle: &Value) -> bool {
        if !self.is_owned() {
            let conversion = &object.data["spec"]["conversion"];
            return conversion["strategy"] != "Webhook"
                || conversion["webhook"]["clientConfig"]["caBundle"] == *bundle;
        }
        let mut webhooks = object.data["webhooks"].as_array().into_iter().flatten();
        object.metadata.owner_references.is_some()
            && webhooks.all(|webhook| webhook["clientConfig"]["caBundle"] == *bundle)
    }

    /// The patch that sets the bundle of the object.
    fn trusting(&self, object: &DynamicObject, bundle: &Value) -> Value {
        let config = json!({"caBundle": bundle});
        let mut body = json!({
            "apiVersion": self.resource.api_version, "kind": self.resource.kind, "metadata": {"name": self.name},
        });
        if self.is_owned() {
            let webhooks = object.data["webhooks"].as_array().into_iter().flatten();
            let webhooks = webhooks.map(|webhook| json!({"name": webhook["name"], "clientConfig": config}));
            body["webhooks"] = webhooks.collect();
        } else {
            body["spec"] =
                json!({"conversion": {"strategy": "Webhook", "webhook": {"clientConfig": config}}});
        }
        body
    }
}

/// The observed state of the cluster.
#[derive(Default)]
struct Observed {
    /// `None` until the Secret was looked up.
    secret: Option<Option<DynamicObject>>,
    /// The existing targets, by their index in [`CertificateRotator::targets`].
    targets: BTreeMap<usize, DynamicObject>,
    /// The certificates that were last read from the Secret, or written to it.
    set: Option<CertificateSet>,
    /// The uid of the namespace.
    namespace: Option<String>,
    /// When certificates were generated last.
    made: Option<Instant>,
}

/// An observed object, or `None` if there is none, with its index in [`CertificateRotator::targets`], or of the Secret.
type Seen = (Option<usize>, Option<DynamicObject>);

impl CertificateRotator {
    /// Runs the rotation. The process is not ready until it has a certificate.
    pub async fn run(self, wait: Wait) {
        let (mut seen, mut known, mut wait) = (self.watch(), Observed::default(), Some(wait));
        let mut failures = WatchBackoff::default();
        let mut pause = checked_every(self.lifetime);
        loop {
            tokio::select! {
                Some(change) = seen.next() => match change {
                    Ok((None, secret)) => known.secret = Some(secret),
                    Ok((Some(at), Some(target))) => drop(known.targets.insert(at, target)),
                    Ok((Some(at), None)) => drop(known.targets.remove(&at)),
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
                    // Short-lived certificates are checked more often.
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
        tracing::warn!(%error, "cannot update the certificates of the webhooks");
        self.health.note(ABOUT.to_owned(), Some(error.to_string()));
        wait.inspect(|wait| wait.fails(error));
    }

    fn watch(&self) -> BoxStream<'static, Result<Seen>> {
        let secret = (None, self.secrets(), "Secret".to_owned(), self.secret());
        let targets = self.targets.iter().enumerate().map(|(at, target)| {
            let (api, kind) = (target.api(&self.client), target.resource.kind.clone());
            (Some(at), api, kind, target.name.clone())
        });
        let watched = targets.chain([secret]).map(|(at, api, kind, name)| {
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

    /// A client for the Secret, which is untyped for the same reason as [`CaBundleTarget`].
    fn secrets(&self) -> Api<DynamicObject> {
        let resource = ApiResource::erase::<Secret>(&());
        Api::namespaced_with(self.client.clone(), &self.namespace, &resource)
    }

    /// Takes the steps that are due now.
    async fn keep(&self, known: &mut Observed) -> Result<()> {
        let Some(secret) = known.secret.clone() else {
            return Ok(());
        };
        let now = self.clock.server_time();
        let read = match &secret {
            Some(secret) if !secret.data["data"].is_null() => BTreeMap::deserialize(&secret.data["data"])
                .map_err(Error::from)
                .and_then(|data| CertificateSet::read(&data, &self.names, now)),
            _ => Err(Error::from(
                "waiting for the leader to create the Secret with the certificates",
            )),
        };
        let next = match read {
            Ok(set) => {
                let is_trusted = self.untrusting(known, &set).next().is_none();
                let next = set.next(&self.names, self.lifetime, now, is_trusted)?;
                self.serve(known, set)?;
                next
            }
            // Another client may write unusable certificates repeatedly, so they are not replaced at once.
            Err(why) if known.made.is_some_and(|made| made.elapsed() < MADE_AGAIN) => return Err(why),
            Err(why) => {
                known.made = Some(Instant::now());
                tracing::info!(%why, secret = self.secret(), "replacing the certificates of the webhooks");
                let made = CertificateSet::new(known.set.as_ref(), &self.names, self.lifetime, now)?;
                Some((made, "created the certificates of the webhooks"))
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

    /// Passes these certificates to the server.
    fn serve(&self, known: &mut Observed, set: CertificateSet) -> Result<()> {
        if known.set.as_ref() != Some(&set) {
            self.served.send_replace(Some(set.certificate()?));
            known.set = Some(set);
        }
        Ok(())
    }

    /// Writes the Secret, and returns it; `None` if another replica has written it meanwhile.
    async fn write(
        &self,
        secret: Option<DynamicObject>,
        set: &CertificateSet,
    ) -> Result<Option<DynamicObject>> {
        let (api, name) = (self.secrets(), self.secret());
        let written = match secret {
            // A permission to create cannot be restricted to a name, except for an apply. Each replica has
            // its own field manager, so a concurrent apply fails with a conflict.
            None => {
                let secret = json!({
                    "apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "data": set.data(),
                });
                let manager = PatchParams::apply(&self.identity);
                api.patch(&name, &manager, &Patch::Apply(secret)).await
            }
            Some(mut secret) => {
                secret.data["data"] = json!(set.data());
                api.replace(&name, &PostParams::default(), &secret).await
            }
        };
        match written {
            Ok(written) => Ok(Some(written)),
            Err(kube::Error::Api(status)) if status.code == 409 => Ok(None),
            Err(error) => Err(Error::from(error).context("writing the Secret with certificates of webhooks")),
        }
    }

    /// The targets without these certificates in their bundle.
    fn untrusting<'k>(
        &'k self,
        known: &'k Observed,
        set: &CertificateSet,
    ) -> impl Iterator<Item = (usize, &'k DynamicObject)> {
        let bundle = bundle(set);
        let there = known.targets.iter().map(|(at, there)| (*at, there));
        there.filter(move |(at, there)| !self.targets[*at].trusts(there, &bundle))
    }

    /// Writes the bundle to the targets, and the operator's namespace as the owner of the webhook
    /// configurations: without the operator they would block requests.
    async fn trust(&self, known: &mut Observed) -> Result<()> {
        let Some(set) = known.set.clone() else {
            return Ok(());
        };
        let untrusting = self.untrusting(known, &set);
        let untrusting: Vec<(usize, DynamicObject)> =
            untrusting.map(|(at, target)| (at, target.clone())).collect();
        let mut failed = Ok(());
        for (at, object) in untrusting {
            let target = &self.targets[at];
            let mut body = target.trusting(&object, &bundle(&set));
            if target.is_owned() {
                let uid = self.namespace_uid(known).await?;
                let owner =
                    json!({"apiVersion": "v1", "kind": "Namespace", "name": self.namespace, "uid": uid});
                body["metadata"]["ownerReferences"] = json!([owner]);
            }
            let manager = PatchParams::apply(self.operator).force();
            let kind = &target.resource.kind;
            let api = target.api(&self.client);
            let applied = api.patch(&target.name, &manager, &Patch::Apply(body)).await;
            match applied {
                Ok(applied) => {
                    tracing::info!(%kind, "updated the caBundle of the webhooks");
                    known.targets.insert(at, applied);
                }
                Err(error) => {
                    failed = Err(Error::from(error).context(format!("writing the caBundle of the {kind}")));
                }
            }
        }
        failed
    }

    async fn namespace_uid(&self, known: &mut Observed) -> Result<String> {
        if let Some(uid) = &known.namespace {
            return Ok(uid.clone());
        }
        let namespaces = ApiResource::erase::<Namespace>(&());
        let namespaces = Api::<DynamicObject>::all_with(self.client.clone(), &namespaces);
        let uid = namespaces.get(&self.namespace).await?.metadata.uid;
        Ok(known.namespace.insert(uid.unwrap_or_default()).clone())
    }

    fn secret(&self) -> String {
        format!("{}-webhook", self.operator)
    }
}

/// The bundle in the form of `caBundle`.
fn bundle(set: &CertificateSet) -> Value {
    json!(ByteString(set.bundle().into_bytes()))
}
