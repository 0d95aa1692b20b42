//! Tests of a state graph, edge by edge.
//!
//! The engine, the actor and the graph are those of an operator. The handlers are scripted and the object is kept in
//! memory, so one type serves all graphs, including those of random descriptions. On a stopped clock a timeout of hours
//! takes no time.
//!
//! Each edge is taken once without faults, and then again with each fault at each of its writes: the process dies
//! before or after the write, the write fails, its answer is lost, or another client writes first. Each time the
//! object must arrive, and an oracle checks everything that was stored on the way.
mod case;
mod edges;
mod oracle;
mod recorder;
mod script;
mod scripted;
#[cfg(test)]
mod search;
mod walk;
mod witness;

use crate::{
    graph::{Graph, Policy, StateId, Timeout},
    local::Fault,
};
use case::Case;
pub use case::Cause;
use std::{collections::BTreeSet, time::Duration};

/// The states that may be stored after `from`, or in a new object, under any fault: all tests refuse any other state.
pub fn may_follow(graph: &Graph<'_>, from: Option<StateId>) -> BTreeSet<StateId> {
    edges::leads_at_any_time(graph, from, true)
}

/// Takes one edge of any graph, without faults and with each of them, and returns all problems. Without a state `to`,
/// the object has to be gone. If the handler of `from` is not written, an edge that a handler takes must not be taken.
/// It has to run on tokio's paused clock.
pub async fn drive(graph: &Graph<'_>, from: StateId, cause: Cause, to: Option<StateId>) -> Vec<String> {
    // The tests check the target of an edge, and not its time.
    let states: Vec<_> = graph.states.iter().map(without_calendar).collect();
    let graph = &graph.with_states(&states);
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

/// A state that may be entered at any time without an approval, and whose schedule starts after an hour.
fn without_calendar<'g>(policy: &Policy<'g>) -> Policy<'g> {
    const HOUR: Duration = Duration::from_secs(3600);
    let policy = Policy {
        during: None,
        needs_approval: false,
        ..*policy
    };
    match policy.timeout {
        Some((Timeout::At(..), to)) => policy.timeout(HOUR, to),
        _ => policy,
    }
}

/// Takes one edge like [`drive`], as if all handlers were written, because those of the tests are.
pub async fn drive_written(
    graph: &Graph<'_>,
    from: StateId,
    cause: Cause,
    to: Option<StateId>,
) -> Vec<String> {
    let states: Vec<_> = graph.states.iter().map(|state| state.handler("", true)).collect();
    drive(&graph.with_states(&states), from, cause, to).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Exit, Policy, StateKind};
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
