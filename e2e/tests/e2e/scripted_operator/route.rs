//! The route of a scripted object to a state.

use krator::graph::{EdgeKind, StateGraph};
use krator::model::{Kind, State, StateId, StateKind};

/// The cause for which an object leaves a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Its handler returns the next state.
    Next(StateId),
    /// Its handler does not return, until the state times out.
    Hang,
    /// Its handler fails, until no retry is left.
    Fail,
    /// The test has to change its spec.
    Change,
    /// The test has to delete it.
    Delete,
}

/// The states that an object leaves on the way to the wanted one, and how it leaves each.
#[derive(Clone, Debug, Default)]
pub struct Route(pub Vec<(StateId, Action)>);

impl Route {
    /// The script for the handlers of the object.
    pub fn script(&self, kind: &Kind) -> String {
        let name = |id: StateId| kind.state(id).name.as_str();
        let steps = self.0.iter().map(|(state, action)| {
            let directive = match action {
                Action::Next(next) => name(*next),
                Action::Hang => "hang",
                Action::Fail => "fail",
                Action::Change | Action::Delete => "stay",
            };
            format!("{}>{directive},", name(*state))
        });
        steps.collect()
    }

    /// Whether the object leaves a state: by itself, or because the needed action of the test there is `done`. It may
    /// have moved to another state before it was deleted, and a watch may lag behind the deletion.
    pub fn leaves(&self, at: StateId, done: bool) -> bool {
        let leaves = |does: Action| done || !matches!(does, Action::Change | Action::Delete);
        done && self.has(Action::Delete) || self.0.iter().any(|(state, does)| *state == at && leaves(*does))
    }

    /// Whether the route needs an action of the test.
    pub fn has(&self, action: Action) -> bool {
        self.0.iter().any(|(_, does)| *does == action)
    }
}

/// The shortest path to a state without exceeded limits and without restarts, whose actions `may` be taken in their
/// states. None if there is none.
pub fn route(kind: &Kind, to: StateId, may: impl Fn(&State, Action) -> bool) -> Option<Route> {
    let graph = StateGraph::of(kind);
    let mut routes = vec![(kind.machine.initial.value, Route::default())];
    let mut at = 0;
    while let Some((here, route)) = routes.get(at).cloned() {
        if here == to {
            return Some(route);
        }
        let rests = matches!(kind.state(here).kind.value, StateKind::Ready | StateKind::Failed);
        for step in graph.leaving(here) {
            let action = match step.edge.kind {
                EdgeKind::Next => Action::Next(step.to),
                EdgeKind::Timeout => Action::Hang,
                EdgeKind::Retry => Action::Fail,
                // The change concerns a field without a special rule in any state.
                EdgeKind::SpecChange if rests && step.edge.span == kind.state(here).on_spec_change.span => {
                    Action::Change
                }
                EdgeKind::Deletion | EdgeKind::OnDelete => Action::Delete,
                EdgeKind::Limit | EdgeKind::SpecChange | EdgeKind::Resume => continue,
            };
            if may(kind.state(here), action) && routes.iter().all(|(known, _)| *known != step.to) {
                let mut next = route.clone();
                next.0.push((here, action));
                routes.push((step.to, next));
            }
        }
        at += 1;
    }
    None
}
