//! The state graph of a machine, driven edge by edge: what generated crates test of themselves.
//!
//! The engine, the actor and the graph are those of the operator; scripted are the handlers, and the object is one of
//! paper. So these tests hold whatever is written in the handlers, and on a stopped clock a timeout of hours takes
//! no time. An edge is taken once as it should be, and then again with each fault at each of its writes: the process
//! dies before or after it, the write fails, its answer is lost, somebody else is faster. Each time the object must
//! arrive, and a judge reads all that was stored on the way.
mod case;
mod judge;
mod scripted;
mod stage;
mod walk;
mod witness;

use crate::{Exit, Final, Machine, MayStay, Node, StateId, Transition, TransitionTo, transition::Stay};
use case::{Case, Way};
use std::{future::Future, pin::Pin};

/// A test of one edge, to be run on tokio's paused clock: everything that is wrong.
pub type Check = Pin<Box<dyn Future<Output = Vec<String>>>>;

/// Runs checks, one after the other, on tokio's paused clock.
///
/// # Panics
///
/// With everything that is wrong, if anything is.
pub async fn hold(checks: Vec<Check>) {
    let mut wrong = Vec::new();
    for check in checks {
        wrong.extend(check.await);
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// The edges that leave a state.
pub fn at<F: Node>(state: F) -> At<F> {
    let _ = state;
    At(std::marker::PhantomData)
}

/// An object in the state `F`, about to leave it. Each method takes one way on and says where it leads.
#[derive(Debug)]
pub struct At<F>(std::marker::PhantomData<fn() -> F>);

impl<F: Node> At<F> {
    /// The handler chooses `to`.
    pub fn to<T: Node>(self, to: T) -> Check
    where
        F: TransitionTo<T>,
    {
        check::<F>(Way::Code(Transition::<F>::to(to).exit()), Some(T::ID))
    }
    /// The handler stays: it runs again when its poll is over or what it watches changes, and no sooner.
    pub fn stays(self) -> Check
    where
        F: MayStay<Stay>,
    {
        check::<F>(Way::Code(Transition::<F>::stay().exit()), Some(F::ID))
    }
    /// The machine is over, and the object is gone.
    pub fn ends(self) -> Check
    where
        F: Final,
    {
        check::<F>(Way::Code(Transition::<F>::done().exit()), None)
    }
    /// The machine is over, and the object goes to its deletion.
    pub fn ends_in<T: Node>(self, _deletion: T) -> Check
    where
        F: Final,
    {
        check::<F>(Way::Code(Exit::Done), Some(T::ID))
    }
    /// Its time is up, also where a restart lies in between.
    pub fn times_out<T: Node>(self, _to: T) -> Check {
        check::<F>(Way::TimesOut, Some(T::ID))
    }
    /// The handler fails once more than it may; with effects that may happen once: it fails.
    pub fn fails<T: Node>(self, _to: T) -> Check {
        check::<F>(Way::Fails, Some(T::ID))
    }
    /// The handler of a final state fails once more than it may: the object goes all the same.
    pub fn fails_and_ends(self) -> Check {
        check::<F>(Way::Fails, None)
    }
    /// The handler fails for good: retries are skipped.
    pub fn fails_for_good<T: Node>(self, _to: T) -> Check {
        check::<F>(Way::FailsForGood, Some(T::ID))
    }
    /// The state would be entered once too often.
    pub fn is_full<T: Node>(self, _then: T) -> Check {
        check::<F>(Way::IsFull, Some(T::ID))
    }
    /// The object is deleted while the handler runs.
    pub fn is_deleted<T: Node>(self, _to: T) -> Check {
        check::<F>(Way::Deleted, Some(T::ID))
    }
    /// The object is deleted, and nothing holds it.
    pub fn is_deleted_at_once(self) -> Check {
        check::<F>(Way::Deleted, None)
    }
    /// The spec changes: the object enters `to`.
    pub fn changes<T: Node>(self, _to: T) -> Check {
        check::<F>(Way::Changes, Some(T::ID))
    }
    /// The spec changes, and the state deals with it: its handler runs again, or `observedGeneration` moves.
    pub fn sees_changes(self) -> Check {
        check::<F>(Way::SeesChanges, Some(F::ID))
    }
    /// The operator is restarted while the handler runs: the object is found there, or goes to look.
    pub fn restarts<T: Node>(self, _at: T) -> Check {
        check::<F>(Way::Restarts, Some(T::ID))
    }
}

/// Small, for there is one a test; all the rest is compiled once a machine.
fn check<F: Node>(way: Way, to: Option<StateId>) -> Check {
    drive::<F::Machine>(F::ID, way, to)
}

fn drive<M: Machine>(from: StateId, way: Way, to: Option<StateId>) -> Check {
    Box::pin(async move {
        let mut wrong = Vec::new();
        for case in Case::all(M::GRAPH, from, way, to) {
            let plain = walk::walk::<M>(&case, None).await;
            wrong.extend(plain.wrong);
            if wrong.is_empty() {
                for fault in (0..plain.writes).flat_map(witness::Fault::at) {
                    wrong.extend(walk::walk::<M>(&case, Some(fault)).await.wrong);
                }
            }
        }
        wrong
    })
}
