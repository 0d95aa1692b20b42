//! Reviews as the API server sends them, and the answers.
use super::Hall;
use crate::{
    admission::{Answer, Asked, Doors},
    cluster::{
        others::{links::Linked, reach::Cluster},
        process::serve::{self, Respond, text},
        shown::metrics::Metrics,
    },
    error::{Error, Fallible as _, Result},
    machine::{Machine, ManifestOf, SharedOf},
    resource::{KubeObject, Place},
};
use futures::{FutureExt as _, future::BoxFuture};
use http::{Response, StatusCode, request::Parts};
use hyper::body::{Body as _, Incoming};
use kube::{
    Resource,
    core::{
        DynamicObject,
        admission::{AdmissionRequest, AdmissionResponse, AdmissionReview, Operation},
    },
};
use serde_json::{Value, json};
use std::{collections::BTreeMap, panic::AssertUnwindSafe, sync::Arc, time::Duration};
use tokio::{
    sync::{Semaphore, watch},
    time::{Instant, timeout},
};
use tracing::Instrument as _;

pub(super) const VALIDATE: &str = "validate";
pub(super) const MUTATE: &str = "mutate";
/// The longest review. An update has two objects, each of at most 1.5 MiB in the store, and more as JSON.
const LONGEST_BODY: usize = 8 << 20;
/// How many KiB of reviews are in memory at the same time. Others wait.
const REVIEWS: u32 = 32 << 10;
/// The longest time for an answer. The API server never waits longer.
const LONGEST: Duration = Duration::from_secs(30);

/// A webhook: its path, and what answers it.
pub(in crate::cluster) struct Door {
    path: String,
    /// [`VALIDATE`] or [`MUTATE`].
    pub webhook: &'static str,
    answer: Box<
        dyn Fn(AdmissionRequest<DynamicObject>) -> BoxFuture<'static, Result<AdmissionResponse>>
            + Send
            + Sync,
    >,
}

/// Answers the requests of the API server.
pub(super) struct Respondent {
    doors: BTreeMap<String, Door>,
    metrics: Metrics,
    /// KiB of reviews.
    room: Semaphore,
}

impl Respondent {
    pub fn new(doors: Vec<Door>, metrics: Metrics) -> Self {
        Self {
            doors: doors.into_iter().map(|door| (door.path.clone(), door)).collect(),
            metrics,
            room: Semaphore::new(REVIEWS as usize),
        }
    }

    async fn review(&self, door: &Door, body: Incoming) -> Result<String, (StatusCode, String)> {
        let longest = u64::try_from(LONGEST_BODY).unwrap_or(u64::MAX);
        let length = body.size_hint().upper().unwrap_or(longest).min(longest);
        let room = u32::try_from(length / 1024 + 1).unwrap_or(REVIEWS);
        let _room = self.room.acquire_many(room).await;
        let body = serve::read(body, LONGEST_BODY).await?;
        let bad = |error: String| (StatusCode::BAD_REQUEST, error);
        let review: AdmissionReview<DynamicObject> =
            serde_json::from_slice(&body).map_err(|error| bad(error.to_string()))?;
        let request: AdmissionRequest<DynamicObject> = review
            .try_into()
            .map_err(|_| bad("the review has no request".to_owned()))?;
        let (kind, operation) = (request.kind.kind.clone(), request.operation.clone());
        let began = Instant::now();
        let span = tracing::info_span!(
            "admission",
            webhook = door.webhook,
            kind,
            operation = name_of(&operation),
            namespace = request.namespace,
            name = request.name,
            uid = request.uid,
        );
        let answer = AssertUnwindSafe((door.answer)(request))
            .catch_unwind()
            .instrument(span.clone());
        let answer = match answer.await {
            Ok(answer) => answer,
            Err(_) => Err(Error::from("the handler panicked")),
        };
        let allowed = answer.as_ref().ok().map(|answer| answer.allowed);
        self.metrics
            .admitted(&door.path, &kind, name_of(&operation), allowed, began.elapsed());
        match answer {
            Ok(answer) => {
                span.in_scope(|| tracing::debug!(allowed = answer.allowed, "answered"));
                serde_json::to_string(&answer.into_review()).map_err(|error| bad(error.to_string()))
            }
            Err(error) => {
                span.in_scope(|| tracing::warn!(%error, "a request could not be judged"));
                Err((StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
            }
        }
    }
}

impl Respond for Respondent {
    async fn respond(&self, _: &Parts) -> Response<String> {
        text(StatusCode::NOT_FOUND, String::new())
    }

    async fn change(&self, request: &Parts, body: Incoming) -> Response<String> {
        let Some(door) = self.doors.get(request.uri.path()) else {
            return text(StatusCode::NOT_FOUND, String::new());
        };
        match timeout(LONGEST, self.review(door, body)).await {
            Ok(Ok(review)) => serve::answer("application/json", review),
            Ok(Err((status, problem))) => text(status, problem + "\n"),
            Err(_) => text(
                StatusCode::GATEWAY_TIMEOUT,
                "the handler took too long\n".to_owned(),
            ),
        }
    }
}

/// What the webhooks of a kind are answered with.
struct Judge<M: Machine> {
    doors: Doors<M>,
    /// The state that all objects share, as soon as there is one.
    shared: watch::Receiver<Option<Arc<SharedOf<M>>>>,
    cluster: Cluster<M>,
}

/// The webhooks of a kind. What the handlers of states reach, those of webhooks do, too, with a client of the thread that
/// calls them.
pub(in crate::cluster) fn hall<M: Linked>(
    shared: watch::Receiver<Option<Arc<SharedOf<M>>>>,
    cluster: &Cluster<M>,
) -> Option<Hall>
where
    ManifestOf<M>: KubeObject,
{
    let doors = M::doors();
    if doors.validate.is_none() && doors.mutate.is_none() {
        return None;
    }
    let cluster = cluster.with_client();
    Some(Box::new(move |client| {
        let (validates, mutates) = (doors.validate.is_some(), doors.mutate.is_some());
        let judge = Arc::new(Judge {
            doors,
            shared,
            cluster: cluster(client.clone()),
        });
        let door = |webhook: &'static str, is_there: bool| {
            let judge = Arc::clone(&judge);
            is_there.then(|| Door {
                path: path_of::<ManifestOf<M>>(webhook),
                webhook,
                answer: Box::new(move |request| {
                    let judge = Arc::clone(&judge);
                    Box::pin(async move { judge.answer(webhook, request).await })
                }),
            })
        };
        [door(MUTATE, mutates), door(VALIDATE, validates)]
            .into_iter()
            .flatten()
            .collect()
    }))
}

/// The path of a webhook, in the form of controller-runtime: `/validate-animals-com-v1-moose`.
fn path_of<K: Resource<DynamicType = ()>>(webhook: &str) -> String {
    let (group, version, kind) = (
        K::group(&()).replace('.', "-"),
        K::version(&()),
        K::kind(&()).to_lowercase(),
    );
    format!("/{webhook}-{group}-{version}-{kind}")
}

impl<M: Linked> Judge<M>
where
    ManifestOf<M>: KubeObject,
{
    async fn answer(
        &self,
        webhook: &str,
        request: AdmissionRequest<DynamicObject>,
    ) -> Result<AdmissionResponse> {
        let mut shared = self.shared.clone();
        let shared = shared.wait_for(Option::is_some).await?.clone();
        let shared = shared.ok_or_else(|| Error::from("the operator has not started yet"))?;
        let allowed = AdmissionResponse::from(&request);
        let of = |object: &Option<DynamicObject>| object.as_ref().map(serde_json::to_value).transpose();
        let (mut object, mut old) = (of(&request.object)?, of(&request.old_object)?);
        if request.sub_resource.as_deref() == Some("scale") {
            (object, old) = self.scaled(&request, object.as_ref()).await?;
        }
        if request.operation == Operation::Delete {
            (object, old) = (old, None);
        }
        let Some(object) = object else {
            return Err(Error::from("the review has no object"));
        };
        let ask = if webhook == MUTATE {
            self.doors.mutate
        } else {
            self.doors.validate
        };
        // The configuration excludes it, and whoever changes that must not be able to block a deletion.
        let is_deleted = !object["metadata"]["deletionTimestamp"].is_null();
        let Some(ask) = ask.filter(|_| !is_deleted) else {
            return Ok(allowed);
        };
        let asked = Asked {
            request: &request,
            object: &object,
            old: old.as_ref(),
            shared: &*shared,
            backend: &self.cluster,
        };
        let answer = ask(asked).await?;
        answered(allowed, &request, answer)
    }

    /// What a request to `/scale` makes of the object, and the object as it is.
    async fn scaled(
        &self,
        request: &AdmissionRequest<DynamicObject>,
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
        for key in self.doors.scale {
            field = &mut field[*key];
        }
        *field = replicas.cloned().unwrap_or(json!(0));
        Ok((Some(object), Some(old)))
    }
}

/// The answer to a request.
fn answered(
    mut response: AdmissionResponse,
    request: &AdmissionRequest<DynamicObject>,
    answer: Answer,
) -> Result<AdmissionResponse> {
    let Answer { verdict, patch, .. } = answer;
    let warnings: Vec<String> = verdict.warnings().to_vec();
    response.warnings = (!warnings.is_empty()).then_some(warnings);
    match verdict.status(&request.kind.group, &request.kind.kind, &request.name) {
        Some(refusal) => {
            (response.allowed, response.result) = (false, refusal);
            Ok(response)
        }
        None if patch.is_empty() => Ok(response),
        None => {
            let patch = serde_json::from_value(Value::from(patch))?;
            response.with_patch(patch).context("the patch")
        }
    }
}

fn name_of(operation: &Operation) -> &'static str {
    match operation {
        Operation::Create => "CREATE",
        Operation::Update => "UPDATE",
        Operation::Delete => "DELETE",
        Operation::Connect => "CONNECT",
    }
}
