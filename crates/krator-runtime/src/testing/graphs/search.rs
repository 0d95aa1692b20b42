//! A search of interleavings: every schedule of an object within bounds, replayed over the engine, the actor and the
//! world of the operator.
//!
//! A schedule is a list of choices. A replay makes the next one at each point with alternatives: which fault hits a
//! write, what another client does at a point, and what a handler answers. The first choice is always the ordinary one.
//! After a replay, the last choice with another alternative takes it, and the choices after it are made again, so all
//! schedules are replayed, depth first. The actor is async, so its state cannot be copied, and each schedule begins
//! with a new object.
mod choices;
mod play;

mod tests;

use choices::{Bounds, Choices, Kind};

use crate::graph::{Graph, StateId};
use std::sync::Arc;

/// The result of a search.
#[derive(Debug, Default)]
struct Searched {
    /// The number of schedules that were replayed.
    schedules: u64,
    /// The broken promises of the first schedule that breaks one, and its trace.
    wrong: Vec<String>,
}

/// Replays every schedule within `bounds` of an object that is new, or found in the state `found`, and stops at the
/// first one that breaks a promise. The machine obeys the graph `driven`, and is judged by `graph`. They differ only in
/// a test of the search itself. It has to run on tokio's paused clock.
async fn search(graph: &Graph<'_>, driven: &Graph<'_>, found: Option<StateId>, bounds: Bounds) -> Searched {
    let mut searched = Searched::default();
    let mut path = Some(Vec::new());
    while let Some(known) = path.take() {
        let choices = Arc::new(Choices::new(known, bounds));
        searched.schedules += 1;
        searched.wrong = play::replay(graph, driven, found, &choices).await;
        if !searched.wrong.is_empty() {
            break;
        }
        path = choices.next();
    }
    searched
}
