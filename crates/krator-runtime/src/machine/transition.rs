//! The edges of the graph as types, so that a transition that the graph does not have fails to compile.
use super::{Machine, Node};
use crate::graph::{Exit, Graph, StateId};
use std::{fmt, marker::PhantomData};

/// An edge of the state graph that a handler may choose. Generated.
#[diagnostic::on_unimplemented(
    message = "the state graph has no transition from `{Self}` to `{T}`",
    label = "not a next state of `{Self}`",
    note = "add the state to `next` of `{Self}` in krator.yaml, then run `krator gen`"
)]
pub trait TransitionTo<T: Node>: Node<Machine = T::Machine> {}

/// A state whose handler may stay. Generated. The parameter `S` allows generated code to give the compiler a message
/// about the specific state.
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

/// The default of the parameter of [`MayStay`].
#[derive(Debug)]
pub struct Stay;

/// A state that is in no machine. It implements generated traits that would have a single implementor or none: rustc
/// names a sole implementor instead of printing the note of the trait, and a hidden second implementor prevents that.
#[doc(hidden)]
#[derive(Debug)]
pub struct Never<M>(PhantomData<fn() -> M>);

impl<M: Machine> Node for Never<M> {
    type Machine = M;
    const ID: StateId = StateId(u16::MAX);
}

/// The result of a handler: the next state of the object after the state `F`.
///
/// Only transitions that `krator.yaml` declares compile. Two transitions are equal if they take the same edge, even
/// with other [reasons](Self::because), so that a test of a handler does not depend on the wording of reasons.
///
/// ```
#[doc = include_str!("../doc/website.txt")]
/// impl State for Publish {
///     async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
///         Ok(if cx.object.updates < 3 {
///             Transition::stay()
///         } else {
///             Transition::to(Live)
///         })
///     }
/// }
/// ```
#[must_use = "a transition takes effect only when the handler returns it"]
pub struct Transition<F> {
    exit: Exit,
    reason: Option<String>,
    from: PhantomData<fn() -> F>,
}

impl<F: Node> Transition<F> {
    /// The object enters the state `T`, which must be in the `next` of the state in `krator.yaml`.
    ///
    /// ```
    #[doc = include_str!("../doc/website.txt")]
    #[doc = include_str!("../doc/publish.txt")]
    /// # let transition: Transition<Publish> =
    /// Transition::to(Live)
    /// # ;
    /// ```
    pub fn to<T: Node>(_state: T) -> Self
    where
        F: TransitionTo<T>,
    {
        const {
            assert!(
                size_of::<T>() == 0,
                "a state carries no data: keep data in the object state or in the status"
            );
            assert!(
                Graph::has_edge(F::Machine::GRAPH, F::ID, T::ID),
                "this transition is implemented by hand, but the state graph does not have it"
            );
        }
        Self::of(Exit::To(T::ID))
    }

    /// The object stays in the state, and the handler runs again when the state's `wait` is over: after its `poll`
    /// interval, or when an object or a field that it watches changes.
    ///
    /// ```
    #[doc = include_str!("../doc/website.txt")]
    #[doc = include_str!("../doc/publish.txt")]
    /// # let transition: Transition<Publish> =
    /// Transition::stay()
    /// # ;
    /// ```
    pub fn stay() -> Self
    where
        F: MayStay,
    {
        Self::of(Exit::Stay)
    }

    /// The machine has ended. An object that is being deleted loses its finalizer; any other object is deleted.
    ///
    /// ```
    #[doc = include_str!("../doc/website.txt")]
    #[doc = include_str!("../doc/publish.txt")]
    /// # let transition: Transition<Released> =
    /// Transition::done()
    /// # ;
    /// ```
    pub fn done() -> Self
    where
        F: Final,
    {
        Self::of(Exit::Done)
    }

    /// Adds a reason for people. It becomes the message of the state that the object enters, in `.status.message` and
    /// in the conditions, in place of the `message` of that state in `krator.yaml` and of a
    /// [`Context::message`](crate::Context::message) of the run.
    ///
    /// ```
    #[doc = include_str!("../doc/website.txt")]
    #[doc = include_str!("../doc/publish.txt")]
    /// # fn updated(updates: u32) -> Transition<Publish> {
    /// Transition::to(Live).because(format!("online after {updates} updates"))
    /// # }
    /// # assert_eq!(updated(3).reason(), Some("online after 3 updates"));
    /// # assert_eq!(updated(3), Transition::to(Live));
    /// ```
    pub fn because(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// The reason that was set with [`because`](Self::because).
    ///
    /// ```
    #[doc = include_str!("../doc/website.txt")]
    #[doc = include_str!("../doc/publish.txt")]
    /// let transition = Transition::<Publish>::to(Live).because("online");
    /// assert_eq!(transition.reason(), Some("online"));
    /// ```
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    const fn of(exit: Exit) -> Self {
        Self {
            exit,
            reason: None,
            from: PhantomData,
        }
    }
    pub(crate) fn into_parts(self) -> (Exit, Option<String>) {
        (self.exit, self.reason)
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
        }?;
        match &self.reason {
            Some(reason) => write!(f, " because {reason:?}"),
            None => Ok(()),
        }
    }
}
