//! A machine whose handlers follow a script, for any graph, and the objects that it drives.
use super::{
    case::{Answer, covers, timeout},
    recorder::{Note, Recorder, Started, Stored},
    search::{self, Search},
};
use crate::{
    error::{Error, Result},
    field_value::FieldValue,
    graph::{Exit, Graph, StateId, Watch},
    local::Handle,
    machine::{Context, Dispatch, Edit, Machine, ManifestOf, Object, ObjectState, StatusOf},
    spec_digest::SpecDigest,
    status::{EntryId, MachineStatus, ObjectStatus},
};
use std::{collections::BTreeMap, sync::Arc};

/// A state of the graph under test. The graph is a value that the actor is given, so one type serves all graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Scripted(StateId);

impl Machine for Scripted {
    type ObjectState = Role;
    /// Nothing refers to states of this machine as types, so there is nothing to check against a graph.
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
        object.digests()
    }
    fn field_values(object: &ManifestOf<Self>, _: Option<&StatusOf<Self>>) -> Vec<Option<FieldValue>> {
        object.field_values.clone()
    }
}

/// What an object has in memory: the script, and access to the object from outside.
pub(super) struct Role {
    pub recorder: Arc<Recorder>,
    pub outside: Handle<Scripted>,
    /// The search that decides what handlers do, instead of a case.
    pub search: Option<Arc<Search>>,
}

impl ObjectState for Role {
    type Manifest = TestObject;
    type SharedState = ();
}

async fn act(state: StateId, cx: &mut Context<'_, Scripted>) -> Result<Exit> {
    let (recorder, outside, graph) = (
        Arc::clone(&cx.object.recorder),
        cx.object.outside.clone(),
        cx.graph,
    );
    let nth = recorder.starts(state);
    let entry = cx.entry().parse().unwrap_or(EntryId::new(0));
    recorder.note(Note::Started(Started {
        state,
        entry,
        attempt: cx.attempt(),
        in_state_for: cx.in_state_for(),
        deleting: cx.deleting(),
    }));
    let running = Running(Some(&recorder));
    if let Some(search) = cx.object.search.clone() {
        let ended = search::act(&search, &recorder, state, cx).await;
        running.end(ended.as_ref().ok().copied());
        return ended;
    }
    // What another client does happens during the first run only.
    let once = |act: &dyn Fn(&Handle<Scripted>)| {
        if nth == 0 {
            act(&outside);
            recorder.saw(outside.stored().as_deref().map(|object| object.seen(graph)));
        }
    };
    let forever = std::future::pending::<Exit>();
    let ended = match recorder.case.answers.get(&state).copied() {
        None | Some(Answer::Hang) => Ok(forever.await),
        Some(Answer::Exit(exit)) => Ok(exit),
        Some(Answer::Fail) => Err(Error::transient("the script says so")),
        Some(Answer::FailForGood) => Err(Error::permanent("the script says so")),
        // On the deletion path the first stay may be one that could not be stored.
        Some(Answer::Die(after)) if nth < 2 && recorder.is_first(entry) => {
            tokio::time::sleep(after).await;
            recorder.dies.notify_one();
            Ok(forever.await)
        }
        Some(answer @ (Answer::Linger { .. } | Answer::Die(_))) => {
            let policy = graph.state(state);
            let may_stay = policy.wait.poll.is_some() || !policy.wait.watch.is_empty();
            let stays = matches!(answer, Answer::Linger { stays } if nth < stays);
            // A timeout that passed before the run takes effect when the run has ended, or has taken as long again.
            let late = timeout(graph, policy).is_some_and(|after| after <= cx.in_state_for());
            match (stays || late, may_stay) {
                (true, true) => Ok(Exit::Stay),
                _ => Ok(forever.await),
            }
        }
        Some(Answer::BeDeleted(after, exit)) => {
            once(&|outside| outside.delete());
            // A deletion interrupts the handler at its next await point, however short the time.
            tokio::task::yield_now().await;
            tokio::time::sleep(after).await;
            Ok(exit)
        }
        Some(Answer::SeeChange(changed)) => {
            once(&|outside| outside.update_spec(|object| object.change(changed)));
            Ok(Exit::Stay)
        }
        Some(Answer::SeeWatched(what)) => {
            once(&|outside| match what {
                Watch::Itself => outside.update(|object| object.label += 1),
                other => outside.changed(other),
            });
            Ok(Exit::Stay)
        }
    };
    running.end(ended.as_ref().ok().copied());
    ended
}

/// Notes how a run ended, also when it is dropped.
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
#[derive(Clone, Debug)]
pub(super) struct TestObject {
    pub version: u64,
    pub generation: i64,
    pub deleting: bool,
    /// Whether the finalizer is set.
    pub held: bool,
    pub label: u64,
    pub field_values: Vec<Option<FieldValue>>,
    /// The fields of the spec that the graph tells apart, by their paths.
    pub spec: BTreeMap<String, u32>,
    pub status: Option<TestStatus>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct TestStatus(pub MachineStatus);

impl ObjectStatus for TestStatus {
    fn machine(&self) -> &MachineStatus {
        &self.0
    }
    fn machine_mut(&mut self) -> &mut MachineStatus {
        &mut self.0
    }
}

impl TestObject {
    /// Changes the field at this path, or one that the graph does not tell apart.
    pub fn change(&mut self, changed: Option<&str>) {
        for (path, value) in &mut self.spec {
            // Two values are enough to change a field and to change it back.
            *value ^= u32::from(changed.is_some_and(|changed| covers(path, changed)));
        }
    }

    fn digests(&self) -> Vec<SpecDigest> {
        digests(&self.spec)
    }

    pub fn seen(&self, graph: &Graph<'_>) -> Stored {
        let state = self.status.as_ref().and_then(|status| status.0.state.as_deref());
        Stored {
            state: state.and_then(|name| graph.find(name)),
            generation: self.generation,
            deleting: self.deleting,
            held: self.held,
            spec: self.spec.clone(),
            status: self.status.as_ref().map(|status| status.0.clone()),
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

impl Object for TestObject {
    type Status = TestStatus;

    fn name(&self) -> &str {
        "test"
    }
    fn namespace(&self) -> &str {
        "default"
    }
    fn uid(&self) -> &str {
        "1"
    }
    fn generation(&self) -> i64 {
        self.generation
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn deleting(&self) -> bool {
        self.deleting
    }
    fn has_finalizer(&self, _: &str) -> bool {
        self.held
    }
    fn same_labels(&self, other: &Self) -> bool {
        self.label == other.label
    }
    fn status(&self) -> Option<&TestStatus> {
        self.status.as_ref()
    }
    fn edit(&mut self, edit: Edit<'_, TestStatus>) {
        match edit {
            Edit::Version(version) => self.version = version,
            Edit::Generation(generation) => self.generation = generation,
            Edit::Delete => self.deleting = true,
            Edit::Finalizer(_, held) => self.held = held,
            Edit::Status(status) => self.status = Some(status),
        }
    }
}
