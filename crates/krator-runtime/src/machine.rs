//! The types of a machine: its states and the transitions between them, its objects, and the context of handlers.
//! Generated code and handlers implement and name them, and the modules of the runtime drive them.
mod condition;
mod context;
mod object;
mod transition;

pub use condition::OwnCondition;
pub use context::{Context, Event, Manifest};
pub(crate) use context::{RelatedObject, Run};
pub use object::{Edit, Object, ObjectState};
pub use transition::{Final, MayStay, Never, Stay, Transition, TransitionTo};

use crate::{
    error::Result,
    field_value::FieldValue,
    graph::{Exit, Graph, Policy, StateId},
    spec_digest::SpecDigest,
};
use std::{fmt, future::Future, hash::Hash, pin::Pin};

/// A state of a machine, as a type. Generated.
#[diagnostic::on_unimplemented(message = "`{Self}` is not a state of any machine", label = "not a state")]
pub trait Node: Sized + Send + Sync + 'static {
    /// The machine that the state belongs to.
    type Machine: Machine;
    /// The number of the state in its machine.
    const ID: StateId;
}

/// The policy of a state in the graph. `#[derive(TransitionTo)]` of `krator-derive` implements it for machines that are
/// written by hand; generated machines contain all policies in one place.
pub trait StatePolicy: Node {
    /// The policy. Its name is that of the state.
    const POLICY: Policy<'static>;
}

/// The handler of a state. You write it, in the state's file.
///
/// The runtime calls [`next`](State::next) when an object enters the state, and again when the state's `wait` is
/// over, after an error, after a restart, and when the spec changes. A handler therefore checks what is already
/// done before it does something. A state with `effects: once` is the exception: its handler runs at most once.
///
/// ```
#[doc = include_str!("doc/website.txt")]
/// impl State for Publish {
///     async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
///         if cx.first_run() {
///             cx.object.updates += 1;
///             return Ok(Transition::stay()); // The `wait` of `Publish` says when this handler runs again.
///         }
///         Ok(Transition::to(Live))
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "the state `{Self}` has no handler",
    label = "no `impl State for {Self}`",
    note = "write it in the state's file: `impl State for {Self}` with `async fn next`"
)]
pub trait State: Node {
    /// Whether the handler is written. In a handler that krator has generated it is `false`: the object then stays in
    /// the state, and its status says that the handler is not written, until the timeout, a change of the spec or its
    /// deletion ends the stay. Remove the line when you have written the handler.
    const WRITTEN: bool = true;

    /// Does the work of the state and chooses the next step: [`Transition::to`], [`Transition::stay`] or
    /// [`Transition::done`].
    ///
    /// The future may be dropped at any await point, when the object is deleted or the state's timeout passes. Panics
    /// are caught and handled like errors.
    ///
    /// # Errors
    ///
    /// Any error. The state's `retry` determines the number and the delays of retries; see [`Error`](crate::Error) for
    /// errors that are not retried.
    fn next(
        self,
        cx: &mut Context<'_, Self::Machine>,
    ) -> impl Future<Output = Result<Transition<Self>>> + Send;
}

/// The states of a machine, as an enum without fields. Generated.
pub trait Machine: Copy + Eq + Hash + fmt::Debug + Send + Sync + 'static {
    /// The memory of an object.
    type ObjectState: ObjectState;
    /// The state graph of the description. Transitions are checked against it at compile time, and operators and
    /// tests of this machine drive objects through it.
    const GRAPH: &'static Graph<'static>;

    /// The number of the state.
    fn id(self) -> StateId;
    /// The state with this number.
    fn from_id(id: StateId) -> Option<Self>;
    /// Runs the handler of this state.
    fn run<'a>(self, cx: &'a mut Context<'_, Self>) -> Dispatch<'a>;

    /// The values of the fields that the graph refers to by number, in the order of these numbers. `status` is the
    /// status that is about to be written; the one in `manifest` may be older.
    fn field_values(manifest: &ManifestOf<Self>, status: Option<&StatusOf<Self>>) -> Vec<Option<FieldValue>> {
        let _ = (manifest, status);
        Vec::new()
    }

    /// The digests of the fields of the spec whose changes the graph distinguishes, in any order.
    fn spec_digests(manifest: &ManifestOf<Self>) -> Vec<SpecDigest> {
        let _ = manifest;
        Vec::new()
    }

    /// The digest of the whole spec, if the kind is converted between versions: a conversion can change the spec, but
    /// the API server does not increment the generation for that.
    fn spec_digest(manifest: &ManifestOf<Self>) -> Option<u64> {
        let _ = manifest;
        None
    }

    /// The policy of this state in the description.
    fn policy(self) -> &'static Policy<'static> {
        Self::GRAPH.state(self.id())
    }
    /// The name of the state.
    fn name(self) -> &'static str {
        self.policy().name
    }
    /// The state with this name, which may be a former name.
    fn from_name(name: &str) -> Option<Self> {
        Self::from_id(Self::GRAPH.find(name)?)
    }
}

/// A run of a handler. It is boxed, so it takes only the memory of the future of this handler.
pub type Dispatch<'a> = Pin<Box<dyn Future<Output = Result<Exit>> + Send + 'a>>;

/// Starts the handler of `state`; each arm of the generated match calls it. It is a function of its own so that the
/// function with the match keeps no futures on its stack: with a thousand states that halves the compiler's time and
/// memory.
#[inline(never)]
pub fn dispatch<'a, F: State>(state: F, cx: &'a mut Context<'_, F::Machine>) -> Dispatch<'a> {
    Box::pin(async move {
        let (exit, reason) = state.next(cx).await?.into_parts();
        if let Some(reason) = reason {
            cx.message(reason);
        }
        Ok(exit)
    })
}

/// The type of a machine's objects.
pub type ManifestOf<M> = <<M as Machine>::ObjectState as ObjectState>::Manifest;
/// The state that the objects of a machine share.
pub type SharedOf<M> = <<M as Machine>::ObjectState as ObjectState>::SharedState;
/// The type of the status of a machine's objects.
pub type StatusOf<M> = <ManifestOf<M> as Object>::Status;
