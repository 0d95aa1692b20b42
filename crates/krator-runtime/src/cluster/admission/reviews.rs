//! Reviews as the API server sends them, and the answers.
use super::{
    MakeRoutes,
    conversion::{self, Converter},
};
use crate::{
    admission::{
        AdmissionRequest, AdmissionResponse, AdmissionReview, Asked, Conversions, Operation, Webhooks,
    },
    cluster::{
        observability::metrics::Metrics,
        process::serve::{self, HttpHandler, text},
        related::{links::Linked, scope::Cluster},
    },
    error::{Error, Result},
    machine::{Machine, ManifestOf, SharedOf},
    resource::{KubeObject, Place},
};
use futures::{FutureExt as _, future::BoxFuture};
use http::{Response, StatusCode, request::Parts};
use hyper::body::{Body as _, Incoming};
use k8s_openapi::ByteString;
use kube::Resource;
use serde_json::{Value, json};
use std::{collections::BTreeMap, panic::AssertUnwindSafe, sync::Arc, time::Duration};
use tokio::{
    sync::{AcquireError, Semaphore, SemaphorePermit, watch},
    time::{Instant, timeout},
};
use tracing::Instrument as _;

pub(super) const VALIDATE: &str = "validate";
pub(super) const MUTATE: &str = "mutate";
/// The longest review. An update has two objects, each of at most 1.5 MiB in the store, and more as JSON.
const LONGEST_BODY: usize = 8 << 20;
/// The most KiB of reviews in memory at the same time. Further reviews wait.
const REVIEWS: u32 = 32 << 10;
/// The longest time for an answer; also the longest timeout that the API server allows.
const LONGEST: Duration = Duration::from_secs(30);

/// A webhook: its path and its handler.
pub(in crate::cluster) struct Webhook {
    path: String,
    /// [`VALIDATE`] or [`MUTATE`].
    pub action: &'static str,
    answer: Box<dyn Fn(AdmissionRequest) -> BoxFuture<'static, Result<AdmissionResponse>> + Send + Sync>,
}

/// The webhooks and the conversions of a kind.
pub(in crate::cluster) struct KindRoutes {
    /// Its webhooks.
    pub webhooks: Vec<Webhook>,
    /// The versions of the kind, and the name of its CustomResourceDefinition.
    pub versions: Option<(Conversions, String)>,
}

/// Answers the requests of the API server.
pub(super) struct WebhookHandler {
    webhooks: BTreeMap<String, Webhook>,
    converter: Converter,
    metrics: Metrics,
    /// A permit for each KiB of a review.
    room: Semaphore,
}

impl WebhookHandler {
    /// Answers about these kinds.
    ///
    /// # Errors
    ///
    /// If the versions of a kind are not valid JSON. Generated ones are valid.
    pub fn new(kinds: Vec<KindRoutes>, metrics: Metrics) -> Result<Self> {
        let converter = {
            let mut converter = Converter::default();
            let versions = kinds.iter().filter_map(|kind| kind.versions.as_ref());
            versions
                .map(|(versions, _)| *versions)
                .try_for_each(|versions| converter.add(versions, &metrics))?;
            converter
        };
        let webhooks = kinds.into_iter().flat_map(|kind| kind.webhooks);
        Ok(Self {
            webhooks: webhooks.map(|webhook| (webhook.path.clone(), webhook)).collect(),
            converter,
            metrics,
            room: Semaphore::new(REVIEWS as usize),
        })
    }

    /// Reads the body of a review, and waits for room in memory, which the returned permit holds.
    async fn read(&self, body: Incoming) -> Result<(Vec<u8>, SemaphorePermit<'_>), (StatusCode, String)> {
        let longest = u64::try_from(LONGEST_BODY).unwrap_or(u64::MAX);
        let length = body.size_hint().upper().unwrap_or(longest).min(longest);
        let room = u32::try_from(length / 1024 + 1).unwrap_or(REVIEWS);
        let closed = |error: AcquireError| (StatusCode::SERVICE_UNAVAILABLE, error.to_string());
        let room = self.room.acquire_many(room).await.map_err(closed)?;
        Ok((serve::read(body, LONGEST_BODY).await?, room))
    }

    /// Converts objects between the versions of their kind.
    async fn convert(&self, body: Incoming) -> Result<String, (StatusCode, String)> {
        let (body, _room) = self.read(body).await?;
        let (began, _in_flight) = (Instant::now(), self.metrics.asked(conversion::PATH));
        let answer = self.converter.answer(&body);
        let code = if answer.is_ok() { "200" } else { "400" };
        self.metrics.answered(conversion::PATH, code, began.elapsed());
        answer.map_err(bad_request)
    }

    async fn review(&self, webhook: &Webhook, body: Incoming) -> Result<String, (StatusCode, String)> {
        let (body, _room) = self.read(body).await?;
        let AdmissionReview { request } =
            serde_json::from_slice(&body).map_err(|error| bad_request(error.into()))?;
        let (kind, name, uid) = (request.kind.clone(), request.name.clone(), request.uid.clone());
        let operation = request.operation.as_str();
        let (began, _in_flight) = (Instant::now(), self.metrics.asked(&webhook.path));
        let span = tracing::info_span!(
            "admission",
            webhook = webhook.action,
            kind = kind.kind,
            operation,
            namespace = request.namespace,
            name,
            uid,
        );
        let answer = AssertUnwindSafe((webhook.answer)(request))
            .catch_unwind()
            .instrument(span.clone());
        let answer = match answer.await {
            Ok(answer) => answer,
            Err(_) => Err(Error::from("the handler panicked")),
        };
        let allowed = answer.as_ref().ok().map(|answer| answer.verdict.is_allowed());
        self.metrics
            .admitted(&webhook.path, &kind.kind, operation, allowed, began.elapsed());
        match answer {
            Ok(answer) => {
                span.in_scope(|| tracing::debug!(allowed, "answered"));
                let refusal = answer.verdict.status(&kind.group, &kind.kind, &name);
                Ok(response(&uid, &answer, refusal).to_string())
            }
            Err(error) => {
                span.in_scope(|| tracing::warn!(%error, "failed to answer an admission request"));
                Err((StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
            }
        }
    }
}

fn bad_request(error: Error) -> (StatusCode, String) {
    (StatusCode::BAD_REQUEST, error.to_string())
}

impl HttpHandler for WebhookHandler {
    async fn respond(&self, _: &Parts) -> Response<String> {
        text(StatusCode::NOT_FOUND, String::new())
    }

    async fn change(&self, request: &Parts, body: Incoming) -> Response<String> {
        let answer = match self.webhooks.get(request.uri.path()) {
            Some(webhook) => self.review(webhook, body).boxed(),
            None if request.uri.path() == conversion::PATH => self.convert(body).boxed(),
            None => return text(StatusCode::NOT_FOUND, String::new()),
        };
        match timeout(LONGEST, answer).await {
            Ok(Ok(review)) => serve::answer("application/json", review),
            Ok(Err((status, problem))) => text(status, problem + "\n"),
            Err(_) => text(
                StatusCode::GATEWAY_TIMEOUT,
                "the handler took too long\n".to_owned(),
            ),
        }
    }
}

/// The dependencies of a kind's webhooks.
struct Reviewer<M: Machine> {
    webhooks: Webhooks<M>,
    /// The state that all objects share; `None` until the operator has made it.
    shared: watch::Receiver<Option<Arc<SharedOf<M>>>>,
    cluster: Cluster<M>,
}

/// The webhooks of a kind. Their handlers reach the same objects as handlers of states, with a client of the
/// calling thread.
pub(in crate::cluster) fn routes<M: Linked>(
    shared: watch::Receiver<Option<Arc<SharedOf<M>>>>,
    cluster: &Cluster<M>,
) -> Option<MakeRoutes>
where
    ManifestOf<M>: KubeObject,
{
    let webhooks = M::webhooks();
    let versions = webhooks.versions.map(|versions| {
        let definition = format!("{}.{}", ManifestOf::<M>::plural(&()), ManifestOf::<M>::group(&()));
        (versions, definition)
    });
    if webhooks.validate.is_none() && webhooks.mutate.is_none() && versions.is_none() {
        return None;
    }
    let cluster = cluster.with_client();
    Some(Box::new(move |client| {
        let (validates, mutates) = (webhooks.validate.is_some(), webhooks.mutate.is_some());
        let reviewer = Arc::new(Reviewer {
            webhooks,
            shared,
            cluster: cluster(client.clone()),
        });
        let webhook = |action: &'static str, is_there: bool| {
            let reviewer = Arc::clone(&reviewer);
            is_there.then(|| Webhook {
                path: path_of::<ManifestOf<M>>(action),
                action,
                answer: Box::new(move |request| {
                    let reviewer = Arc::clone(&reviewer);
                    Box::pin(async move { reviewer.answer(action, request).await })
                }),
            })
        };
        let webhooks = [webhook(MUTATE, mutates), webhook(VALIDATE, validates)];
        KindRoutes {
            webhooks: webhooks.into_iter().flatten().collect(),
            versions,
        }
    }))
}

/// The path of a webhook, in the form of controller-runtime: `/validate-example-com-v1-website`.
fn path_of<K: Resource<DynamicType = ()>>(action: &str) -> String {
    let (group, version, kind) = (
        K::group(&()).replace('.', "-"),
        K::version(&()),
        K::kind(&()).to_lowercase(),
    );
    format!("/{action}-{group}-{version}-{kind}")
}

impl<M: Linked> Reviewer<M>
where
    ManifestOf<M>: KubeObject,
{
    async fn answer(&self, action: &str, mut request: AdmissionRequest) -> Result<AdmissionResponse> {
        let mut shared = self.shared.clone();
        let shared = shared.wait_for(Option::is_some).await?.clone();
        let shared = shared.ok_or_else(|| Error::from("the operator has not started yet"))?;
        let (mut object, mut old) = (request.object.take(), request.old_object.take());
        if request.sub_resource.as_deref() == Some("scale") {
            (object, old) = self.scaled(&request, object.as_ref()).await?;
        }
        if request.operation == Operation::Delete {
            (object, old) = (old, None);
        }
        let Some(object) = object else {
            return Err(Error::from("the review has no object"));
        };
        let ask = if action == MUTATE {
            self.webhooks.mutate
        } else {
            self.webhooks.validate
        };
        // The configuration excludes deletions; if it was changed, a deletion still must not be blocked.
        let is_deleted = !object["metadata"]["deletionTimestamp"].is_null();
        let Some(ask) = ask.filter(|_| !is_deleted) else {
            return Ok(AdmissionResponse::default());
        };
        let asked = Asked {
            request: &request,
            object: &object,
            old: old.as_ref(),
            shared: &*shared,
            backend: &self.cluster,
        };
        ask(asked).await
    }

    /// The object after a request to `/scale`, and the stored object.
    async fn scaled(
        &self,
        request: &AdmissionRequest,
        scale: Option<&Value>,
    ) -> Result<(Option<Value>, Option<Value>)> {
        let namespace = request.namespace.as_deref().unwrap_or_default();
        let api = <<ManifestOf<M> as Resource>::Scope as Place>::api::<ManifestOf<M>>(
            self.cluster.client.clone(),
            namespace,
        );
        let path = format!("{}/{}", api.resource_url(), request.name);
        let read = http::Request::get(path).body(Vec::new())?;
        let old: Value = self.cluster.client.request(read).await?;
        let (mut object, replicas) = (old.clone(), scale.map(|scale| &scale["spec"]["replicas"]));
        let mut field = &mut object;
        for key in self.webhooks.scale {
            field = &mut field[*key];
        }
        *field = replicas.cloned().unwrap_or(json!(0));
        Ok((Some(object), Some(old)))
    }
}

/// The answer to a request.
fn response(uid: &str, answer: &AdmissionResponse, refusal: Option<Value>) -> Value {
    let mut response = json!({"uid": uid, "allowed": refusal.is_none()});
    if !answer.verdict.warnings().is_empty() {
        response["warnings"] = json!(answer.verdict.warnings());
    }
    match refusal {
        Some(refusal) => response["status"] = refusal,
        None if answer.patch.is_empty() => {}
        None => {
            let patch = Value::Array(answer.patch.clone()).to_string();
            response["patchType"] = json!("JSONPatch");
            response["patch"] = json!(ByteString(patch.into_bytes()));
        }
    }
    json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response})
}
