//! Decodes the objects of a kind, and deals with those that have no value of their type: such an object is marked, or released
//! if it is being deleted.
use super::{
    remote::{RUN, Remote},
    undecodable::{self, Decoded},
};
use crate::{
    cluster::{api::raw::Raw, host},
    conditions,
    error::Result,
    graph::Retry,
    machine::{Event, Machine, ManifestOf},
    operator::Operator,
    resource::KubeObject,
    world::{World as _, WriteError},
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource as _;
use std::sync::Arc;

impl<O: Operator> Remote<O>
where
    ManifestOf<O::Machine>: KubeObject,
{
    /// Decodes an object. One that has no value of its type is marked, and there is none; a deleted one is read without the
    /// fields that have none, or else released.
    pub fn decode(self: &Arc<Self>, raw: &Arc<Raw>) -> Option<Arc<ManifestOf<O::Machine>>> {
        let (object, why) = match undecodable::decode(raw) {
            Decoded::Whole(object) => return Some(Arc::new(object)),
            Decoded::Partly(object, why) => (Some(object), why),
            Decoded::Not(why) => (None, why),
        };
        let finalizer = O::Machine::GRAPH.finalizer;
        let is_held = why.meta.finalizers.iter().flatten().any(|it| it == finalizer);
        let note = match (&object, why.meta.deletion_timestamp.is_some()) {
            (_, false) => {
                self.in_background(raw, Self::mark);
                "the object cannot be decoded, so no handler runs for it"
            }
            (_, true) if !is_held => return None,
            (Some(_), true) => "the deletion of the object proceeds without a field that cannot be decoded",
            (None, true) => {
                self.in_background(raw, Self::release);
                "removing the finalizer without running a handler, because the object cannot be decoded"
            }
        };
        let note = format!("{note}: {}: {}", why.path, why.error);
        self.report_undecodable(&why.meta, &note);
        object.map(Arc::new)
    }

    /// Makes a write about an object that has no actor, again until it is answered or another version will be observed.
    fn in_background<F>(
        self: &Arc<Self>,
        raw: &Arc<Raw>,
        write: impl Fn(Arc<Self>, Arc<Raw>) -> F + Send + 'static,
    ) where
        F: Future<Output = Result<(), WriteError>> + Send,
    {
        let (world, raw) = (Arc::clone(self), Arc::clone(raw));
        tokio::spawn(host::own(async move {
            for failures in 1.. {
                let (error, is_final) = match write(Arc::clone(&world), Arc::clone(&raw)).await {
                    Ok(()) | Err(WriteError::Conflict | WriteError::Gone) => return,
                    Err(WriteError::Invalid(error)) => (error, true),
                    Err(WriteError::Other(error)) => (error, false),
                };
                tracing::warn!(
                    kind = world.cluster.kind,
                    namespace = raw.meta().namespace,
                    name = raw.meta().name,
                    ?error,
                    "a request failed"
                );
                if is_final {
                    return;
                }
                tokio::time::sleep(Retry::OF_REQUESTS.delay(failures, world.now().random)).await;
            }
        }));
    }

    /// Says in the status of an object that it cannot be decoded, unless it says so already.
    async fn mark(self: Arc<Self>, raw: Arc<Raw>) -> Result<(), WriteError> {
        let generation = raw.read_metadata::<ObjectMeta>().generation.unwrap_or_default();
        let stored = undecodable::machine_status(&raw);
        let (_, path) = undecodable::rest::<ManifestOf<O::Machine>>(&raw);
        let condition = conditions::undecodable(&stored, &path, generation, self.clock.time());
        if stored.conditions.contains(&condition) {
            return Ok(());
        }
        let _permit = self.permit().await;
        self.apply_condition(raw.meta(), &condition).await.map(drop)
    }

    /// Takes the finalizer off an object for which no handler can run.
    async fn release(self: Arc<Self>, raw: Arc<Raw>) -> Result<(), WriteError> {
        let _permit = self.permit().await;
        self.patch_finalizer(&raw.read_metadata(), O::Machine::GRAPH.finalizer, false)
            .await
            .map(drop)
    }

    fn report_undecodable(&self, meta: &ObjectMeta, note: &str) {
        tracing::warn!(
            group = O::Machine::GRAPH.group(),
            kind = self.cluster.kind,
            namespace = meta.namespace,
            name = meta.name,
            "{}",
            note.escape_debug()
        );
        let about = self.endpoint.reference(meta);
        self.queue(about, RUN, Event::warning("Undecodable", note));
    }
}
