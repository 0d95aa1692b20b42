//! The world of a cluster: reads and writes the objects of one kind, and publishes events about them.
use super::{crd_mismatch::CrdMismatch, invalid_status, places::Places, undecodable::stored};
#[cfg(feature = "dev")]
use crate::cluster::observability::development::{Failures, Target};
use crate::{
    cluster::{
        api::{
            LONGEST_REQUEST, answered,
            limiter::RequestPermit,
            patch,
            raw::{Endpoint, Raw},
        },
        children::Orphan,
        host,
        observability::{inspect::History, metrics::KindMetrics, recorder::Recorder},
        process::{clock::Clock, leadership::Leadership},
        related::scope::Cluster,
    },
    engine::{Claim, Ended, Moved, Now},
    error::{Error, Result},
    graph::{Retry, StateId},
    machine::{Event, Machine, ManifestOf, Object as _, RelatedObject, SharedOf, StatusOf},
    operator::Operator,
    poll_times::{PollTimes, Slow},
    resource::KubeObject,
    status::Condition,
    world::{RunEnd, World, WriteError},
};
use futures::FutureExt as _;
use k8s_openapi::{api::core::v1::ObjectReference, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::{
    Api, Client, Resource,
    api::{DeleteParams, Patch, PatchParams, Preconditions},
};
use serde::Serialize;
use serde_json::json;
use std::{any::Any, collections::BTreeSet, sync::Arc, time::Duration};
use tokio::time::Instant;

/// The action of events that are about no transition.
pub(in crate::cluster) const RUN: &str = "Run";
/// The reason of events about a CustomResourceDefinition that is older than the operator.
const OLDER: &str = "OlderDefinition";
/// The reason of events about a stored status that does not fit its type.
const WRITTEN_OVER: &str = "StatusWrittenOver";

pub(in crate::cluster) struct Remote<O: Operator> {
    pub operator: O,
    pub shared: Arc<SharedOf<O::Machine>>,
    pub cluster: Cluster<O::Machine>,
    pub clock: Arc<Clock>,
    /// How the handlers of each state are polled; none if all are polled by one thread.
    pub poll_times: Vec<Arc<PollTimes>>,
    pub leadership: Leadership,
    pub events: Arc<Recorder>,
    pub endpoint: Endpoint,
    pub metrics: Arc<KindMetrics>,
    pub crd_mismatch: CrdMismatch,
    /// A client that needs no leadership.
    pub watching: Client,
    /// The versions to which objects are converted.
    pub older: Vec<Endpoint>,
    /// The random number of this process.
    pub leader: u64,
    /// The places of limits, if the kind has limits.
    pub places: Option<Places>,
    /// The last transitions, if somebody can look at them.
    pub history: Option<Arc<History>>,
    /// The failures that people have planned.
    #[cfg(feature = "dev")]
    pub failures: Option<Arc<Failures>>,
}

impl<O: Operator> Remote<O>
where
    ManifestOf<O::Machine>: KubeObject,
{
    /// Does what an orphan needs, until that has succeeded.
    pub async fn clean_up(&self, orphan: Orphan) {
        for failures in 1.. {
            let cleaned = {
                let _permit = self.permit().await;
                answered(
                    LONGEST_REQUEST,
                    self.cluster.clean_up(&self.endpoint, &orphan).boxed(),
                )
                .await
                .flatten()
            };
            match cleaned {
                Ok(None) => return,
                Ok(Some(child)) => {
                    let released = Event::released("the object");
                    return self.queue(child, RUN, released);
                }
                Err(error) => {
                    let delay = Retry::OF_REQUESTS.delay(failures, self.now().random);
                    tracing::warn!(
                        group = O::Machine::GRAPH.group(),
                        kind = self.cluster.kind,
                        %error,
                        delay_ms = delay.as_millis(),
                        "a request for a child failed"
                    );
                    tokio::time::sleep(delay).await;
                }
            }
        }
    }

    pub(super) fn queue(&self, about: ObjectReference, action: &'static str, event: Event) {
        self.events.record(about, action, event, self.clock.time());
    }

    fn api(&self, namespace: &str) -> Api<Raw> {
        self.endpoint.api(self.cluster.client.clone(), namespace)
    }

    /// Applies what a field manager says of an object's status.
    pub(super) async fn apply_status(
        &self,
        meta: &ObjectMeta,
        patch: &(impl Serialize + Sync),
        manager: &str,
    ) -> Result<Raw, WriteError> {
        let api = self.api(meta.namespace.as_deref().unwrap_or_default());
        let params = PatchParams::apply(manager).force();
        let name = meta.name.as_deref().unwrap_or_default();
        let answer = request(async { api.patch_status(name, &params, &patch::apply(patch)?).await }).await;
        let places = match &answer {
            Err(WriteError::Other(error)) => invalid_status::misfits(error),
            _ => BTreeSet::new(),
        };
        match places.is_empty() {
            true => answer,
            false => Err(self.write_over(meta, &places).await),
        }
    }

    /// Removes places from the status of this version of an object, or the whole status if the rest is not valid without them.
    /// The object has to be read again afterwards, so the answer is a conflict.
    async fn write_over(&self, meta: &ObjectMeta, places: &BTreeSet<String>) -> WriteError {
        let whole = BTreeSet::from([".status".to_owned()]);
        let api = self.api(meta.namespace.as_deref().unwrap_or_default());
        let (name, params) = (
            meta.name.as_deref().unwrap_or_default(),
            patch::params(self.cluster.manager),
        );
        for places in [places, &whole] {
            let version = json!({"resourceVersion": meta.resource_version});
            let patch = json!({"metadata": version, "status": invalid_status::removal(places)});
            match request(api.patch_status(name, &params, &Patch::Merge(patch))).await {
                Ok(_) => {
                    self.report_written_over(meta, places);
                    return WriteError::Conflict;
                }
                Err(WriteError::Invalid(_)) if *places != whole => {}
                Err(error) => return error,
            }
        }
        WriteError::Conflict
    }

    fn report_written_over(&self, meta: &ObjectMeta, places: &BTreeSet<String>) {
        let note = invalid_status::note(places);
        tracing::warn!(
            kind = self.cluster.kind,
            name = meta.name,
            "{}",
            note.escape_debug()
        );
        self.queue(
            self.endpoint.reference(meta),
            RUN,
            Event::warning(WRITTEN_OVER, note),
        );
    }

    /// Applies one condition to this version of an object.
    pub(super) async fn apply_condition(
        &self,
        meta: &ObjectMeta,
        condition: &Condition,
    ) -> Result<Raw, WriteError> {
        let patch = json!({
            "apiVersion": self.cluster.api_version,
            "kind": self.cluster.kind,
            "metadata": {"resourceVersion": meta.resource_version},
            "status": {"conditions": [condition]},
        });
        // The API server removes a field that its manager no longer applies, so the one that owns the whole status cannot
        // do this.
        let manager = format!("{}-conditions", self.cluster.manager);
        self.apply_status(meta, &patch, &manager).await
    }

    /// Adds a finalizer to this version of an object, or removes it.
    pub(super) async fn patch_finalizer(
        &self,
        meta: &ObjectMeta,
        finalizer: &str,
        present: bool,
    ) -> Result<Raw, WriteError> {
        let others = meta.finalizers.iter().flatten().map(String::as_str);
        let others = others.filter(|other| *other != finalizer);
        let finalizers: Vec<&str> = others.chain(present.then_some(finalizer)).collect();
        if !finalizers.is_empty() {
            self.try_conversion(meta).await?;
        }
        let patch = json!({
            "metadata": {"resourceVersion": meta.resource_version, "finalizers": finalizers},
        });
        let params = patch::params(self.cluster.manager);
        let api = self.api(meta.namespace.as_deref().unwrap_or_default());
        let name = meta.name.as_deref().unwrap_or_default();
        match request(api.patch(name, &params, &Patch::Merge(patch))).await {
            // Finalizers cannot be added once an object is being deleted, so the object has to be read again.
            Err(WriteError::Invalid(_)) => Err(WriteError::Conflict),
            answer => answer,
        }
    }

    /// Waits until a request may be made. Requests are built after this, so those that wait take no memory.
    pub(super) async fn permit(&self) -> RequestPermit<'_> {
        self.cluster.limiter.acquire().await
    }
}

/// Makes a request of the runtime, bounded in time.
pub(super) async fn request<T>(
    request: impl Future<Output = kube::Result<T>> + Send,
) -> Result<T, WriteError> {
    // Thousands of tasks may exist, and the future of a request is larger than everything else that they hold.
    // Boxed, it takes memory only while the request is made.
    match answered(LONGEST_REQUEST, request.boxed()).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(match &error {
            kube::Error::Api(status) => match status.code {
                404 => WriteError::Gone,
                409 => WriteError::Conflict,
                400 | 422 => WriteError::Invalid(error.into()),
                _ => WriteError::Other(error.into()),
            },
            _ => WriteError::Other(error.into()),
        }),
        Err(error) => Err(WriteError::Other(error)),
    }
}

impl<O: Operator> World<O::Machine> for Remote<O>
where
    ManifestOf<O::Machine>: KubeObject,
{
    fn now(&self) -> Now {
        Now {
            elapsed: self.clock.elapsed(),
            time: self.clock.time(),
            random: host::random(),
            leader: self.leader,
        }
    }
    fn instant(&self, elapsed: Duration) -> Instant {
        self.clock.instant(elapsed)
    }
    fn shared(&self) -> &Arc<SharedOf<O::Machine>> {
        &self.shared
    }
    fn may_act(&self) -> bool {
        self.leadership.holds()
    }
    async fn initialize(
        &self,
        manifest: &ManifestOf<O::Machine>,
    ) -> Result<<O::Machine as Machine>::ObjectState> {
        self.operator.initialize_object_state(manifest).await
    }

    async fn find(&self, manifest: &ManifestOf<O::Machine>) -> Result<Vec<RelatedObject>> {
        // An error here is handled like one of the handler that was about to run.
        #[cfg(feature = "dev")]
        if let Some(failures) = &self.failures {
            failures.strike(&Target::of(&self.endpoint, manifest))?;
        }
        self.cluster.find(manifest).await
    }

    async fn write_status(
        &self,
        manifest: &ManifestOf<O::Machine>,
        status: &StatusOf<O::Machine>,
    ) -> Result<Arc<ManifestOf<O::Machine>>, WriteError> {
        let answer = self.apply_whole(manifest, status).await;
        if let Err(WriteError::Invalid(error)) = &answer
            && let Some(note) = self.crd_mismatch.explain(error)
        {
            self.publish(manifest, Event::warning(OLDER, note.clone()));
            return Err(WriteError::Other(Error::blocked(note)));
        }
        answer
    }

    fn schema_epoch(&self) -> u64 {
        self.crd_mismatch.epoch()
    }

    fn pruned(&self, manifest: &ManifestOf<O::Machine>) {
        if let Some(note) = self.crd_mismatch.note() {
            self.publish(manifest, Event::warning(OLDER, note));
        }
    }

    async fn write_condition(
        &self,
        manifest: &ManifestOf<O::Machine>,
        condition: &Condition,
    ) -> Result<Arc<ManifestOf<O::Machine>>, WriteError> {
        let _permit = self.permit().await;
        stored(&self.apply_condition(manifest.meta(), condition).await?)
    }

    async fn set_finalizer(
        &self,
        manifest: &ManifestOf<O::Machine>,
        finalizer: &str,
        present: bool,
    ) -> Result<Arc<ManifestOf<O::Machine>>, WriteError> {
        let _permit = self.permit().await;
        stored(&self.patch_finalizer(manifest.meta(), finalizer, present).await?)
    }

    async fn delete(&self, manifest: &ManifestOf<O::Machine>) -> Result<(), WriteError> {
        let _permit = self.permit().await;
        let this = Preconditions {
            uid: manifest.meta().uid.clone(),
            resource_version: None,
        };
        let params = DeleteParams {
            preconditions: Some(this),
            ..DeleteParams::default()
        };
        match request(self.api(manifest.namespace()).delete(manifest.name(), &params)).await {
            Ok(_) | Err(WriteError::Gone) => Ok(()),
            Err(error) => Err(error),
        }
    }

    async fn end_children(&self, manifest: &ManifestOf<O::Machine>) -> Result<()> {
        if !self.cluster.has_outliving() {
            return Ok(());
        }
        let _permit = self.permit().await;
        let kept = |child: &str| self.publish(manifest, Event::released(child));
        answered(LONGEST_REQUEST, self.cluster.end_children(manifest, kept).boxed()).await?
    }

    async fn read(&self, manifest: &ManifestOf<O::Machine>) -> Result<Option<Arc<ManifestOf<O::Machine>>>> {
        let _permit = self.permit().await;
        let answer = request(self.api(manifest.namespace()).get(manifest.name())).await;
        match answer.and_then(|answer| stored(&answer)) {
            Ok(object) => Ok(Some(object)),
            Err(WriteError::Gone) => Ok(None),
            Err(WriteError::Conflict) => Err(Error::from("a read was answered with a conflict")),
            Err(WriteError::Invalid(error) | WriteError::Other(error)) => Err(error),
        }
    }

    fn kind(&self) -> &str {
        &self.cluster.kind
    }

    fn claim(&self, manifest: &ManifestOf<O::Machine>, claim: Claim, is_unsure: bool) -> bool {
        let places = self.places.as_ref();
        places.is_some_and(|places| places.claim(manifest, claim, is_unsure))
    }

    fn moved(&self, manifest: &ManifestOf<O::Machine>, moved: &Moved<'_>) {
        self.metrics.moved(moved);
        if let Some(history) = &self.history {
            history.record(manifest, moved, self.clock.time());
        }
        self.queue(manifest.object_ref(&()), "Transition", Event::of_entry(moved));
    }

    fn measured(&self, ended: Ended) {
        self.metrics.measured(ended);
    }

    fn ran(&self, state: StateId, took: Option<Duration>, end: RunEnd) {
        self.metrics.ran(state, took, end);
    }

    fn poll_times(&self, state: StateId) -> Option<&Arc<PollTimes>> {
        self.poll_times.get(usize::from(state.0))
    }

    fn polled(&self, state: StateId, slow: Slow, took: Duration) {
        self.metrics.polled_slowly(state);
        slow.report(self.kind(), O::Machine::GRAPH.state(state).name, took);
    }

    fn publish(&self, manifest: &ManifestOf<O::Machine>, event: Event) {
        self.queue(manifest.object_ref(&()), RUN, event);
    }

    fn backend(&self) -> &(dyn Any + Send + Sync) {
        &self.cluster
    }
}
