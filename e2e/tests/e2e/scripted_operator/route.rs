//! How a scripted object comes to a state.

use krator::graph::{EdgeKind, StateGraph};
use krator::model::{Kind, State, StateId, StateKind};

/// What makes an object leave a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Its handler names the next state.
    Next(StateId),
    /// Its handler does not return, until the state times out.
    Hang,
    /// Its handler fails, until no retry is left.
    Fail,
    /// Its spec has to be changed.
    Change,
    /// It has to be deleted.
    Delete,
}

/// The states that an object leaves until it is in the one that is wanted, and how.
#[derive(Clone, Debug, Default)]
pub struct Route(pub Vec<(StateId, Action)>);

impl Route {
    /// The script that the handlers of the object have to follow.
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

    /// Whether the object leaves a state: by itself, or because what has to be done to it there is `done`. It may have gone on to another
    /// state before it was deleted, and a watch may not have shown yet that it was.
    pub fn leaves(&self, at: StateId, done: bool) -> bool {
        let leaves = |does: Action| done || !matches!(does, Action::Change | Action::Delete);
        done && self.has(Action::Delete) || self.0.iter().any(|(state, does)| *state == at && leaves(*does))
    }

    /// Whether something has to be done to the object on the way.
    pub fn has(&self, action: Action) -> bool {
        self.0.iter().any(|(_, does)| *does == action)
    }
}

/// The shortest path to a state among those that need no limit to be passed and no restart, and whose actions `may` be
/// taken in their states. None when there is none.
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
                // What is changed is a field that no state tells apart.
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
