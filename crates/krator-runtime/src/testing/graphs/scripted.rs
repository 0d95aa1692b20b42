//! A machine whose handlers follow a script, for any graph, and the objects that it drives.
use super::{
    case::covers,
    recorder::{Note, Recorder, Started, Stored},
};
use crate::{
    error::Result,
    field_value::FieldValue,
    graph::{Exit, Graph, StateId},
    local::{FaultKind, Handle, LocalObject},
    machine::{Context, Dispatch, Machine, ManifestOf, Object as _, ObjectState, StatusOf},
    spec_digest::SpecDigest,
    status::EntryId,
};
use futures::future::BoxFuture;
use std::{collections::BTreeMap, sync::Arc};

/// A state of the graph under test. The graph is a value that is passed to the actor, so one type serves all graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Scripted(StateId);

impl Machine for Scripted {
    type ObjectState = Role;
    /// States of this machine are not used as types, so there is no graph to check them against.
    const GRAPH: &'static Graph<'static> = &Graph::new(&[], StateId(0), None, "");

    fn id(self) -> StateId {
        self.0
    }
    fn from_id(id: StateId) -> Option<Self> {
        Some(Self(id))
    }
    fn run<'a>(self, cx: &'a mut Context<'_, Self>) -> Dispatch<'a> {
        Box::pin(act(self.0, cx))
    }
    fn spec_digests(object: &ManifestOf<Self>) -> Vec<SpecDigest> {
        digests(&object.spec.fields)
    }
    fn field_values(object: &ManifestOf<Self>, _: Option<&StatusOf<Self>>) -> Vec<Option<FieldValue>> {
        object.spec.field_values.clone()
    }
}

/// The memory of an object: the plan, and access to the object from outside.
#[derive(Clone)]
pub(super) struct Role {
    pub recorder: Arc<Recorder>,
    pub outside: Handle<Scripted>,
    pub plan: Arc<dyn Plan>,
}

impl Role {
    /// Notes the stored object.
    pub fn look(&self, graph: &Graph<'_>) {
        let stored = self.outside.stored();
        self.recorder
            .saw(stored.as_deref().map(|object| object.seen(graph)));
    }
}

/// Determines the faults, and the behaviour of handlers.
pub(super) trait Plan: Send + Sync {
    /// The fault at the write with this number, if any.
    fn before_write<'a>(
        &'a self,
        nth: usize,
        role: &'a Role,
        graph: &'a Graph<'_>,
    ) -> BoxFuture<'a, Option<FaultKind>>;
    /// Whether the limits leave a place for the object.
    fn has_place(&self) -> bool {
        true
    }
    /// Runs the handler of a state, which has run `nth` times before.
    fn act<'a>(
        &'a self,
        state: StateId,
        nth: usize,
        cx: &'a mut Context<'_, Scripted>,
    ) -> BoxFuture<'a, Result<Exit>>;
}

impl ObjectState for Role {
    type Manifest = TestObject;
    type SharedState = ();
}

async fn act(state: StateId, cx: &mut Context<'_, Scripted>) -> Result<Exit> {
    let recorder = Arc::clone(&cx.object.recorder);
    let nth = recorder.starts(state);
    let entry = entry(cx);
    recorder.note(Note::Started(Started {
        state,
        entry,
        attempt: cx.attempt(),
        in_state_for: cx.in_state_for(),
        deleting: cx.deleting(),
    }));
    let running = Running(Some(&recorder));
    let plan = Arc::clone(&cx.object.plan);
    let ended = plan.act(state, nth, cx).await;
    running.end(ended.as_ref().ok().copied());
    ended
}

/// The stay that a handler runs in.
pub(super) fn entry(cx: &Context<'_, Scripted>) -> EntryId {
    cx.entry().parse().unwrap_or(EntryId::new(0))
}

/// Notes the end of a run, even if it is dropped.
struct Running<'a>(Option<&'a Recorder>);

impl Running<'_> {
    fn end(mut self, exit: Option<Exit>) {
        if let Some(recorder) = self.0.take() {
            recorder.note(Note::Ended(exit));
        }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if let Some(recorder) = self.0.take() {
            recorder.note(Note::Dropped);
        }
    }
}

/// An object without Kubernetes.
pub(super) type TestObject = LocalObject<TestSpec>;

/// The additional state of an object of a test.
#[derive(Clone, Debug)]
pub(super) struct TestSpec {
    pub field_values: Vec<Option<FieldValue>>,
    /// The fields of the spec that the graph distinguishes, by their paths.
    pub fields: BTreeMap<String, u32>,
}

impl TestObject {
    /// Changes the field at this path, or a field that the graph does not distinguish.
    pub(super) fn change(&mut self, changed: Option<&str>) {
        for (path, value) in &mut self.spec.fields {
            // Two values suffice to change a field and to change it back.
            *value ^= u32::from(changed.is_some_and(|changed| covers(path, changed)));
        }
    }

    /// Changes the labels.
    pub(super) fn relabel(&mut self) {
        let version = self.version().to_string();
        self.labels.insert("at".to_owned(), version);
    }

    pub(super) fn seen(&self, graph: &Graph<'_>) -> Stored {
        let status = self.status.as_ref().map(|status| &status.machine);
        let state = status.and_then(|status| status.state.as_deref());
        Stored {
            state: state.and_then(|name| graph.find(name)),
            generation: self.generation(),
            deleting: self.deleting(),
            held: self.has_finalizer(graph.finalizer),
            spec: self.spec.fields.clone(),
            status: status.cloned(),
        }
    }
}

fn digests(spec: &BTreeMap<String, u32>) -> Vec<SpecDigest> {
    let digest = |(path, value): (&String, &u32)| SpecDigest::new(path.clone(), Some(&value.to_string()));
    spec.iter().map(digest).collect()
}

/// The digests of the fields, as they are stored.
pub(super) fn stored_digests(spec: &BTreeMap<String, u32>) -> BTreeMap<String, String> {
    let digests = digests(spec);
    let each = digests.iter();
    each.map(|digest| (digest.path().to_owned(), digest.stored()))
        .collect()
}
