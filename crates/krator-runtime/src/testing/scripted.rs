//! A machine with the graph of another one and handlers that follow a script; its objects are of paper.
use super::{
    case::{Answer, timeout},
    stage::{Note, Stage, Started, Stored},
};
use crate::{
    Context, Dispatch, Edit, Error, Exit, Graph, Handle, Machine, MachineStatus, ManifestOf, Object,
    ObjectState, ObjectStatus, Result, StateId, StatusOf, Told, Watch,
};
use std::sync::Arc;

/// The states of `M`, with other handlers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Scripted<M>(M);

impl<M: Machine> Machine for Scripted<M> {
    type ObjectState = Role<M>;
    const GRAPH: &'static Graph = M::GRAPH;

    fn id(self) -> StateId {
        self.0.id()
    }
    fn from_id(id: StateId) -> Option<Self> {
        M::from_id(id).map(Self)
    }
    fn run<'a>(self, cx: &'a mut Context<'_, Self>) -> Dispatch<'a> {
        Box::pin(act(self.id(), cx))
    }
    fn told(paper: &ManifestOf<Self>, _: Option<&StatusOf<Self>>) -> Vec<Option<Told>> {
        paper.told.clone()
    }
}

/// What an object has in memory: the script, and the world outside.
pub(super) struct Role<M: Machine> {
    pub stage: Arc<Stage>,
    pub outside: Handle<Scripted<M>>,
}

impl<M: Machine> ObjectState for Role<M> {
    type Manifest = Paper;
    type SharedState = ();
}

async fn act<M: Machine>(state: StateId, cx: &mut Context<'_, Scripted<M>>) -> Result<Exit> {
    let (stage, outside) = (Arc::clone(&cx.object.stage), cx.object.outside.clone());
    let nth = stage.starts(state);
    stage.note(Note::Started(Started {
        state,
        entry: cx.entry().to_owned(),
        attempt: cx.attempt(),
        in_state_for: cx.in_state_for(),
        deleting: cx.deleting(),
    }));
    let running = Running(Some(&stage));
    // What somebody else does is done once.
    let once = |act: &dyn Fn(&Handle<Scripted<M>>)| {
        if nth == 0 {
            act(&outside);
            stage.saw(outside.stored().as_deref().map(|paper| paper.seen(M::GRAPH)));
        }
    };
    let forever = std::future::pending::<Exit>();
    let ended = match stage.case.answers.get(&state).copied() {
        None | Some(Answer::Hang) => Ok(forever.await),
        Some(Answer::Exit(exit)) => Ok(exit),
        Some(Answer::Fail) => Err(Error::transient("it failed, as it was told to")),
        Some(Answer::FailForGood) => Err(Error::permanent("it failed, as it was told to")),
        Some(Answer::Die(after)) if nth == 0 => {
            tokio::time::sleep(after).await;
            stage.dies.notify_one();
            Ok(forever.await)
        }
        Some(answer @ (Answer::Linger { .. } | Answer::Die(_))) => {
            let policy = M::GRAPH.state(state);
            let may_stay = policy.wait.poll.is_some() || !policy.wait.watch.is_empty();
            let stays = matches!(answer, Answer::Linger { stays } if nth < stays);
            // A time that was up before the run is seen when it has ended.
            let late = timeout(M::GRAPH, policy).is_some_and(|after| after <= cx.in_state_for());
            match (stays || late, may_stay) {
                (true, true) => Ok(Exit::Stay),
                (_, false) if late => Err(Error::transient("it takes too long")),
                _ => Ok(forever.await),
            }
        }
        Some(Answer::BeDeleted(after, exit)) => {
            once(&|outside| outside.delete());
            tokio::time::sleep(after).await;
            Ok(exit)
        }
        Some(Answer::SeeChange) => {
            once(&|outside| outside.update_spec(|_| ()));
            Ok(Exit::Stay)
        }
        Some(Answer::SeeWatched(what)) => {
            once(&|outside| match what {
                Watch::Itself => outside.update(|paper| paper.label += 1),
                other => outside.changed(other),
            });
            Ok(Exit::Stay)
        }
    };
    running.end(ended.as_ref().ok().copied());
    ended
}

/// Notes how a run ended, also when it is dropped.
struct Running<'a>(Option<&'a Stage>);

impl Running<'_> {
    fn end(mut self, exit: Option<Exit>) {
        if let Some(stage) = self.0.take() {
            stage.note(Note::Ended(exit));
        }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if let Some(stage) = self.0.take() {
            stage.note(Note::Dropped);
        }
    }
}

/// An object without Kubernetes.
#[derive(Clone, Debug)]
pub(super) struct Paper {
    pub version: u64,
    pub generation: i64,
    pub deleting: bool,
    pub held: bool,
    pub label: u64,
    pub told: Vec<Option<Told>>,
    pub status: Option<PaperStatus>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PaperStatus(pub MachineStatus);

impl ObjectStatus for PaperStatus {
    fn machine(&self) -> &MachineStatus {
        &self.0
    }
    fn machine_mut(&mut self) -> &mut MachineStatus {
        &mut self.0
    }
}

impl Paper {
    pub fn seen(&self, graph: &Graph) -> Stored {
        let state = self.status.as_ref().and_then(|status| status.0.state.as_deref());
        Stored {
            state: state.and_then(|name| graph.find(name)),
            generation: self.generation,
            deleting: self.deleting,
            held: self.held,
            status: self.status.as_ref().map(|status| status.0.clone()),
        }
    }
}

impl Object for Paper {
    type Status = PaperStatus;

    fn name(&self) -> &str {
        "paper"
    }
    fn namespace(&self) -> &str {
        "default"
    }
    fn uid(&self) -> &str {
        "paper"
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
    fn status(&self) -> Option<&PaperStatus> {
        self.status.as_ref()
    }
    fn edit(&mut self, edit: Edit<'_, PaperStatus>) {
        match edit {
            Edit::Version(version) => self.version = version,
            Edit::Generation(generation) => self.generation = generation,
            Edit::Delete => self.deleting = true,
            Edit::Finalizer(_, held) => self.held = held,
            Edit::Status(status) => self.status = Some(status),
        }
    }
}
