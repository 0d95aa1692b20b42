//! Edges that code may take. What is not an edge does not compile.
use crate::{Graph, Machine, Node, StateId};
use std::{fmt, marker::PhantomData};

/// An edge of the state graph that a handler may choose. Generated.
#[diagnostic::on_unimplemented(
    message = "the state graph has no transition from `{Self}` to `{T}`",
    label = "not a next state of `{Self}`",
    note = "add the state to `next` of `{Self}` in krator.yaml, then run `krator gen`"
)]
pub trait TransitionTo<T: Node>: Node<Machine = T::Machine> {}

/// A state whose handler may stay. `S` is only there for the messages of generated code.
#[diagnostic::on_unimplemented(
    message = "the state `{Self}` may not stay",
    label = "`{Self}` has no `wait`",
    note = "give `{Self}` a `wait` in krator.yaml, then run `krator gen`"
)]
pub trait MayStay<S = Stay>: Node {}

/// A state that ends the machine. Generated.
#[diagnostic::on_unimplemented(
    message = "the state `{Self}` is not final",
    label = "only a state of kind `final` can be done",
    note = "choose a next state with `Transition::to`"
)]
pub trait Final: Node {}

/// The answer "stay" as a type.
#[derive(Debug)]
pub struct Stay;

/// Nobody's state: implements generated traits that would have no implementor else, of which rustc would say
/// "implement the trait" instead of the graph's words.
#[doc(hidden)]
#[derive(Debug)]
pub struct Never<M>(PhantomData<fn() -> M>);

impl<M: Machine> Node for Never<M> {
    type Machine = M;
    const ID: StateId = StateId(u16::MAX);
}

/// What a handler answers; `F` is the state that it leaves or stays in.
#[must_use = "a transition is taken by returning it"]
pub struct Transition<F> {
    exit: Exit,
    from: PhantomData<fn() -> F>,
}

/// A transition without its type, as the runtime handles it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// On to a state.
    To(StateId),
    /// Here, until the state's wait is over.
    Stay,
    /// The machine is over.
    Done,
}

impl<F: Node> Transition<F> {
    /// On to `T`.
    pub fn to<T: Node>(_state: T) -> Self
    where
        F: TransitionTo<T>,
    {
        const {
            assert!(
                size_of::<T>() == 0,
                "a state carries no data: keep it in the object state or in the status"
            );
            assert!(
                Graph::has_edge(F::Machine::GRAPH, F::ID, T::ID),
                "this transition is implemented by hand, but the state graph does not have it"
            );
        }
        Self {
            exit: Exit::To(T::ID),
            from: PhantomData,
        }
    }

    /// Stay here until the state's wait is over.
    pub fn stay() -> Self
    where
        F: MayStay,
    {
        Self {
            exit: Exit::Stay,
            from: PhantomData,
        }
    }

    /// The machine is over: a deleted object may go, any other one is deleted.
    pub fn done() -> Self
    where
        F: Final,
    {
        Self {
            exit: Exit::Done,
            from: PhantomData,
        }
    }

    pub(crate) fn exit(self) -> Exit {
        self.exit
    }
}

impl<F> PartialEq for Transition<F> {
    fn eq(&self, other: &Self) -> bool {
        self.exit == other.exit
    }
}

impl<F: Node> fmt::Debug for Transition<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |id| F::Machine::GRAPH.state(id).name;
        match self.exit {
            Exit::To(to) => write!(f, "{} -> {}", name(F::ID), name(to)),
            Exit::Stay => write!(f, "{} stays", name(F::ID)),
            Exit::Done => write!(f, "{} done", name(F::ID)),
        }
    }
}
