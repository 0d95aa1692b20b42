//! The traits of a machine, its states and its objects.
use crate::{Context, Exit, Graph, ObjectStatus, Policy, Result, StateId, Told, Transition};
use std::{fmt, future::Future, hash::Hash, pin::Pin};

/// What belongs to a machine: a state. Generated.
#[diagnostic::on_unimplemented(message = "`{Self}` is not a state of any machine", label = "not a state")]
pub trait Node: Sized + Send + Sync + 'static {
    /// The machine.
    type Machine: Machine;
    /// The state's number there.
    const ID: StateId;
}

/// A handler: what happens in a state, and where to go from there. Yours.
#[diagnostic::on_unimplemented(
    message = "the state `{Self}` has no handler",
    label = "no `impl State for {Self}`",
    note = "write it in the state's file: `impl State for {Self}` with `async fn next`"
)]
pub trait State: Node {
    /// Does the work of the state and answers where to go: `Transition::to`, `stay` or `done`. May be dropped at
    /// any await (by deletion or a timeout), and may run again unless the state's effects are `once`.
    fn next(
        self,
        cx: &mut Context<'_, Self::Machine>,
    ) -> impl Future<Output = Result<Transition<Self>>> + Send;
}

/// All states of one machine: a closed, fieldless enum. Generated.
pub trait Machine: Copy + Eq + Hash + fmt::Debug + Send + Sync + 'static {
    /// What one object carries in memory.
    type ObjectState: ObjectState;
    /// The state graph.
    const GRAPH: &'static Graph;

    /// The state's number.
    fn id(self) -> StateId;
    /// The state of this number.
    fn from_id(id: StateId) -> Option<Self>;
    /// Runs the handler of this state.
    fn run<'a>(self, cx: &'a mut Context<'_, Self>) -> Dispatch<'a>;

    /// What the fields say that the graph's periods and limits name, in the order of their numbers. `status` is
    /// the one to come, `manifest` what else is known.
    fn told(manifest: &ManifestOf<Self>, status: Option<&StatusOf<Self>>) -> Vec<Option<Told>> {
        let _ = (manifest, status);
        Vec::new()
    }

    /// What the description says of this state.
    fn policy(self) -> &'static Policy {
        Self::GRAPH.state(self.id())
    }
    /// The state's name.
    fn name(self) -> &'static str {
        self.policy().name
    }
    /// The state of this name, also of a former one.
    fn from_name(name: &str) -> Option<Self> {
        Self::from_id(Self::GRAPH.find(name)?)
    }
}

/// One run of a handler, boxed: as large as that handler and no larger.
pub type Dispatch<'a> = Pin<Box<dyn Future<Output = Result<Exit>> + Send + 'a>>;

/// Boxes the handler of `state`; each arm of the generated match calls it. A function of its own, so that the
/// match has no future on its stack: with a thousand states that halves the compiler's time and memory.
#[inline(never)]
pub fn dispatch<'a, F: State>(state: F, cx: &'a mut Context<'_, F::Machine>) -> Dispatch<'a> {
    Box::pin(async move { Ok(state.next(cx).await?.exit()) })
}

/// What one object carries in memory from handler to handler; a restart begins with a new one.
pub trait ObjectState: Sized + Send + Sync + 'static {
    /// The object's type.
    type Manifest: Object;
    /// What all objects share; bring your own lock.
    type SharedState: Send + Sync + 'static;

    /// The object is gone. Not called when the process ends.
    fn async_drop(self, shared: &Self::SharedState) -> impl Future<Output = ()> + Send {
        let _ = shared;
        async move { drop(self) }
    }
}

/// What the machine asks of an object. Every custom resource with a status is one.
pub trait Object: Clone + Send + Sync + 'static {
    /// Its status.
    type Status: ObjectStatus;

    /// `metadata.name`.
    fn name(&self) -> &str;
    /// `metadata.namespace`; empty for cluster-scoped objects.
    fn namespace(&self) -> &str;
    /// `metadata.uid`.
    fn uid(&self) -> &str;
    /// `metadata.generation`: raised with each change of the spec, and by deletion.
    fn generation(&self) -> i64;
    /// `metadata.resourceVersion` as a number: greater is later. 0 when there is none.
    fn version(&self) -> u64;
    /// Whether a deletionTimestamp is set.
    fn deleting(&self) -> bool;
    /// Whether this finalizer is set.
    fn has_finalizer(&self, name: &str) -> bool;
    /// Whether labels and annotations are the same.
    fn same_labels(&self, other: &Self) -> bool;
    /// The status, once there is one.
    fn status(&self) -> Option<&Self::Status>;
    /// Changes the object as an API server would; only machines in memory need it.
    fn edit(&mut self, edit: Edit<'_, Self::Status>);
}

/// One change of an object in memory.
#[derive(Debug)]
pub enum Edit<'a, S> {
    /// A new `metadata.resourceVersion`.
    Version(u64),
    /// A new `metadata.generation`.
    Generation(i64),
    /// A deletionTimestamp.
    Delete,
    /// A finalizer set or taken.
    Finalizer(&'a str, bool),
    /// A new status.
    Status(S),
}

/// The object's type of a machine.
pub type ManifestOf<M> = <<M as Machine>::ObjectState as ObjectState>::Manifest;
/// What the objects of a machine share.
pub type SharedOf<M> = <<M as Machine>::ObjectState as ObjectState>::SharedState;
/// The status's type of a machine.
pub type StatusOf<M> = <ManifestOf<M> as Object>::Status;
