//! Tests of a state graph, edge by edge. Generated crates run them for each of their machines.
//!
//! The engine, the actor and the graph are those of the operator. The handlers are scripted and the object is kept
//! in memory, so the result does not depend on what your handlers do. On a stopped clock a timeout of hours takes
//! no time.
//!
//! Each edge is taken once without faults, and then again with each fault at each of its writes: the process dies
//! before or after the write, the write fails, its answer is lost, or another client writes first. Each time the
//! object must arrive, and a judge checks everything that was stored on the way.
//!
//! [`crashes`] does the same to your handlers.
mod case;
#[cfg(feature = "versions")]
mod conversions;
mod crashes;
mod edges;
mod judge;
mod recorder;
mod scripted;
mod script;
#[cfg(test)]
mod search;
mod walk;
mod witness;

use crate::{
    graph::{Exit, Graph, StateId},
    local::Fault,
    machine::{Final, Machine, MayStay, Node, Stay, Transition, TransitionTo},
};
use case::Case;
pub use case::Cause;
#[cfg(feature = "versions")]
pub use conversions::conversions;
pub use crashes::{Surroundings, crashes};
use std::{collections::BTreeSet, future::Future, pin::Pin};

/// A test of one edge, to be run on tokio's paused clock. It returns everything that is wrong.
pub type Check = Pin<Box<dyn Future<Output = Vec<String>>>>;

/// Runs checks one after the other, on tokio's paused clock.
///
/// ```
#[doc = include_str!("doc/moose.txt")]
#[doc = include_str!("doc/eat.txt")]
/// use krator_runtime::testing::{at, hold};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(async {
/// hold(vec![at(Eat).to(Sleep), at(Eat).stays(), at(Sleep).is_deleted(Released)]).await;
/// # });
/// ```
///
/// # Panics
///
/// If anything is wrong. The message lists all of it.
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

/// An object that is about to leave the state `F`. Each method checks one edge and where it leads.
#[derive(Debug)]
pub struct At<F>(std::marker::PhantomData<fn() -> F>);

impl<F: Node> At<F> {
    /// The handler chooses `to`.
    pub fn to<T: Node>(self, to: T) -> Check
    where
        F: TransitionTo<T>,
    {
        check::<F>(Cause::Code(Transition::<F>::to(to).exit()), Some(T::ID))
    }
    /// The handler stays: it runs again when its poll is over or what it watches changes, and no sooner.
    pub fn stays(self) -> Check
    where
        F: MayStay<Stay>,
    {
        check::<F>(Cause::Code(Transition::<F>::stay().exit()), Some(F::ID))
    }
    /// The machine ends, and the object is gone.
    pub fn ends(self) -> Check
    where
        F: Final,
    {
        check::<F>(Cause::Code(Transition::<F>::done().exit()), None)
    }
    /// The machine ends, and the object enters its deletion path.
    pub fn ends_in<T: Node>(self, _deletion: T) -> Check
    where
        F: Final,
    {
        check::<F>(Cause::Code(Exit::Done), Some(T::ID))
    }
    /// The timeout passes, with and without a restart in between.
    pub fn times_out<T: Node>(self, _to: T) -> Check {
        check::<F>(Cause::TimesOut, Some(T::ID))
    }
    /// The handler fails more often than its `retry` allows; or once, if its effects may happen only once.
    pub fn fails<T: Node>(self, _to: T) -> Check {
        check::<F>(Cause::Fails, Some(T::ID))
    }
    /// The handler of a final state fails more often than its `retry` allows. The object goes nevertheless.
    pub fn fails_and_ends(self) -> Check {
        check::<F>(Cause::Fails, None)
    }
    /// The handler returns a permanent error, which is not retried.
    pub fn fails_for_good<T: Node>(self, _to: T) -> Check {
        check::<F>(Cause::FailsForGood, Some(T::ID))
    }
    /// The state would be entered more often than its `limit` allows.
    pub fn exceeds_limit<T: Node>(self, _then: T) -> Check {
        check::<F>(Cause::ExceedsLimit, Some(T::ID))
    }
    /// The object is deleted while the handler runs.
    pub fn is_deleted<T: Node>(self, _to: T) -> Check {
        check::<F>(Cause::Deleted, Some(T::ID))
    }
    /// The object is deleted, and its machine has no deletion path that would hold it.
    pub fn is_deleted_at_once(self) -> Check {
        check::<F>(Cause::Deleted, None)
    }
    /// The spec changes, and the object enters `to`. If the state tells changes of some fields apart, it is another one that
    /// changes.
    pub fn changes<T: Node>(self, _to: T) -> Check {
        check::<F>(Cause::Changes, Some(T::ID))
    }
    /// The spec changes, and the object stays: its handler runs again, or only `observedGeneration` is updated.
    pub fn sees_changes(self) -> Check {
        check::<F>(Cause::SeesChanges, Some(F::ID))
    }
    /// The field of the spec at `path` changes, and the object enters `to`.
    pub fn changes_of<T: Node>(self, path: &'static str, _to: T) -> Check {
        check::<F>(Cause::ChangesOf(path), Some(T::ID))
    }
    /// The field of the spec at `path` changes, and the object stays.
    pub fn sees_changes_of(self, path: &'static str) -> Check {
        check::<F>(Cause::SeesChangesOf(path), Some(F::ID))
    }
    /// The operator restarts while the handler runs. The object is in the same state afterwards, or in the state that
    /// `resume` names.
    pub fn restarts<T: Node>(self, _at: T) -> Check {
        check::<F>(Cause::Restarts, Some(T::ID))
    }
}

/// This function is compiled for each state, so it does as little as possible.
fn check<F: Node>(cause: Cause, to: Option<StateId>) -> Check {
    Box::pin(drive_written(F::Machine::GRAPH, F::ID, cause, to))
}

/// Takes one edge as if all handlers were written: those of the tests are.
async fn drive_written(
    graph: &'static Graph<'static>,
    from: StateId,
    cause: Cause,
    to: Option<StateId>,
) -> Vec<String> {
    let states: Vec<_> = graph.states.iter().map(|state| state.handler("", true)).collect();
    drive(&graph.with_states(&states), from, cause, to).await
}

/// The states that may be stored after `from`, or in a new object, whatever goes wrong: no test lets another one pass.
pub fn may_follow(graph: &Graph<'_>, from: Option<StateId>) -> BTreeSet<StateId> {
    edges::leads_at_any_time(graph, from, true)
}

/// Takes one edge of any graph, without faults and with each of them, and returns everything that is wrong. Without a
/// state `to` the object has to be gone then. If the handler of `from` is not written, an edge that a handler takes must not
/// be taken. It has to run on tokio's paused clock.
pub async fn drive(graph: &Graph<'_>, from: StateId, cause: Cause, to: Option<StateId>) -> Vec<String> {
    let mut wrong = Vec::new();
    for case in Case::all(graph, from, cause, to) {
        let plain = walk::walk(graph, &case, None).await;
        wrong.extend(plain.wrong);
        if wrong.is_empty() {
            let is_hasty = case.is_hasty(graph);
            let faults = (0..plain.writes).flat_map(Fault::at);
            for fault in faults.filter(|fault| !(is_hasty && fault.delays())) {
                wrong.extend(walk::walk(graph, &case, Some(fault)).await.wrong);
            }
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Policy, StateKind};
    use std::time::Duration;

    /// A description that is read at run time: the states of a ring, each with a timeout to a shared last state.
    struct Described {
        names: Vec<String>,
        next: Vec<Vec<StateId>>,
    }

    impl Described {
        fn ring(states: u16) -> Self {
            Self {
                names: (0..states).map(|state| format!("State{state}")).collect(),
                next: (0..states)
                    .map(|state| vec![StateId((state + 1) % states)])
                    .collect(),
            }
        }

        fn last(&self) -> StateId {
            StateId(u16::try_from(self.names.len()).expect("few states"))
        }

        fn policies(&self) -> Vec<Policy<'_>> {
            let working = self.names.iter().zip(&self.next).map(|(name, next)| {
                Policy::new(name)
                    .next(next)
                    .poll(Duration::from_secs(60))
                    .timeout(Duration::from_secs(600), self.last())
            });
            let last = Policy::new("Last").kind(StateKind::Final).deletion_path();
            working.chain([last]).collect()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_graph_that_was_built_at_run_time_is_driven_like_a_generated_one() {
        let described = Described::ring(5);
        let policies = described.policies();
        let (first, last) = (StateId(0), described.last());
        let graph = Graph::new(&policies, first, Some(last), "example.com/things");
        for (state, next) in (0..).map(StateId).zip(&described.next) {
            let to = next[0];
            for (cause, to) in [
                (Cause::Code(Exit::To(to)), to),
                (Cause::Code(Exit::Stay), state),
                (Cause::TimesOut, last),
                (Cause::Deleted, last),
                (Cause::SeesChanges, state),
                (Cause::Restarts, state),
            ] {
                let wrong = drive(&graph, state, cause, Some(to)).await;
                assert!(wrong.is_empty(), "{state:?}, {cause:?}: {}", wrong.join("\n"));
            }
        }
        let wrong = drive(&graph, last, Cause::Code(Exit::Done), None).await;
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[tokio::test(start_paused = true)]
    async fn an_edge_that_leads_elsewhere_is_reported() {
        let described = Described::ring(5);
        let policies = described.policies();
        let graph = Graph::new(&policies, StateId(0), None, "example.com/things");
        let wrong = drive(&graph, StateId(1), Cause::TimesOut, Some(StateId(3))).await;
        assert!(!wrong.is_empty(), "the timeout leads to the last state");
    }
}
