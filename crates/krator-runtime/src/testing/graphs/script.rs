//! The plan of a walk: handlers follow the script of a case, and at most one write has a fault.
use super::{
    case::{Action, timeout},
    scripted::{Plan, Role, Scripted, TestObject, entry},
};
use crate::{
    error::{Error, Result},
    graph::{Exit, Graph, StateId, Watch},
    local::{Fault, FaultKind, Handle},
    machine::Context,
};
use futures::{FutureExt as _, future::BoxFuture};
use std::sync::Arc;

/// The script of the case that is recorded, with a fault.
pub(super) struct Script(pub Option<Fault>);

impl Plan for Script {
    fn before_write<'a>(
        &'a self,
        nth: usize,
        _: &'a Role,
        _: &'a Graph<'_>,
    ) -> BoxFuture<'a, Option<FaultKind>> {
        let fault = self.0.filter(|fault| fault.write == nth);
        std::future::ready(fault.map(|fault| fault.kind)).boxed()
    }

    fn act<'a>(
        &'a self,
        state: StateId,
        nth: usize,
        cx: &'a mut Context<'_, Scripted>,
    ) -> BoxFuture<'a, Result<Exit>> {
        follow(state, nth, cx).boxed()
    }
}

async fn follow(state: StateId, nth: usize, cx: &Context<'_, Scripted>) -> Result<Exit> {
    let (recorder, graph) = (Arc::clone(&cx.object.recorder), cx.graph);
    // Another client acts during the first run only.
    let once = |act: &dyn Fn(&Handle<Scripted>)| {
        if nth == 0 {
            act(&cx.object.outside);
            cx.object.look(graph);
        }
    };
    let forever = std::future::pending::<Exit>();
    match recorder.case.answers.get(&state).copied() {
        None | Some(Action::Hang) => Ok(forever.await),
        Some(Action::Exit(exit)) => Ok(exit),
        Some(Action::Fail) => Err(Error::transient("the script says so")),
        Some(Action::FailForGood) => Err(Error::permanent("the script says so")),
        // On the deletion path the first stay may have failed to be stored.
        Some(Action::Die(after)) if nth < 2 && recorder.is_first(entry(cx)) => {
            tokio::time::sleep(after).await;
            recorder.dies.notify_one();
            Ok(forever.await)
        }
        Some(answer @ (Action::Linger { .. } | Action::Die(_))) => {
            let policy = graph.state(state);
            let may_stay = policy.wait.poll.is_some() || !policy.wait.watch.is_empty();
            let stays = matches!(answer, Action::Linger { stays } if nth < stays);
            // A timeout that passed before the run fires when the run has ended, or after the same time has passed
            // again.
            let late = timeout(graph, policy).is_some_and(|after| after <= cx.in_state_for());
            match (stays || late, may_stay) {
                (true, true) => Ok(Exit::Stay),
                _ => Ok(forever.await),
            }
        }
        Some(Action::BeDeleted(after, exit)) => {
            once(&|outside| outside.delete());
            // A deletion interrupts the handler at its next await point, however short the time.
            tokio::task::yield_now().await;
            tokio::time::sleep(after).await;
            Ok(exit)
        }
        Some(Action::SeeChange(changed)) => {
            once(&|outside| outside.update_spec(|object| object.change(changed)));
            Ok(Exit::Stay)
        }
        Some(Action::SeeWatched(what)) => {
            once(&|outside| match what {
                Watch::Itself => outside.update(TestObject::relabel),
                other => outside.changed(other),
            });
            Ok(Exit::Stay)
        }
    }
}
