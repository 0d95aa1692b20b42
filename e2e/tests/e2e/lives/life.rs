//! The life of an object: the states that it leaves until it is deleted, and how it leaves them.

use crate::scripted_operator::{Action, Route, route};
use krator::model::{Kind, State, StateId, StateKind, Times};

/// An object and its way through the graph of its kind.
pub struct Life<'a> {
    pub kind: &'a Kind,
    pub name: String,
    /// The states that it leaves, and how it leaves each.
    pub steps: Vec<(StateId, Action)>,
    /// The state in which the steps end.
    pub end: StateId,
}

impl<'a> Life<'a> {
    /// For each state of a kind a life that leads there, if one of its edges can; see [`route`]. No life deletes an
    /// object in a state whose handler delays the deletion, because the handler would have to end at the right time. No
    /// life fails in a state with a timeout, because it is uncertain which of both limits is reached first.
    pub fn all(kind: &'a Kind) -> Vec<Life<'a>> {
        let may = |state: &State, action| match action {
            Action::Delete => !is_uninterruptible(state),
            Action::Fail => state.timeout.is_none(),
            _ => true,
        };
        let mut lives: Vec<Life> = kind
            .state_ids()
            .filter_map(|(id, state)| Some(Life::new(kind, state, route(kind, id, may)?, id)))
            .collect();
        lives.extend(Life::beyond_a_limit(kind));
        lives
    }

    fn new(kind: &'a Kind, target: &State, Route(mut steps): Route, mut end: StateId) -> Life<'a> {
        // A deletion does not interrupt the handlers of some states, so the object continues until it is at rest.
        while let state = kind.state(end)
            && is_uninterruptible(state)
            && let Some(next) = state.next.first()
            && steps.len() < 20
        {
            // A script sends an object from a state always to the same target, so a second visit would repeat the
            // first. A failure in a state with `effects: once` leads to the state in `resume` instead.
            let has_been_there = steps.iter().any(|(left, _)| *left == next.to.value);
            let (action, to) = match &state.resume {
                Some(resume) if has_been_there => (Action::Fail, resume.value),
                _ => (Action::Next(next.to.value), next.to.value),
            };
            steps.push((end, action));
            end = to;
        }
        Life {
            kind,
            name: name(kind, target.name.as_str()),
            steps,
            end,
        }
    }

    /// A life that exceeds the limit of a state by entering it again and again. The entries of a state are counted only
    /// until the object is at rest, so other kinds have no such life.
    fn beyond_a_limit(kind: &'a Kind) -> Option<Life<'a>> {
        let (first, again): (&[&str], &[&str]) = match kind.resource.kind.as_str() {
            "BareMetalHost" => (
                &["Unmanaged", "Registering", "Preparing", "Available"],
                &["Provisioning", "Deprovisioning", "Available"],
            ),
            "TaskRun" => (&["Started", "Resolving"], &["CreatingPod", "Running", "Retrying"]),
            "HelmRelease" => (&["Preparing"], &["Determining", "Remediating", "RetryWait"]),
            _ => return None,
        };
        let id = |name: &&str| kind.state_named(name).expect("a state of the description");
        let (limited, limit) = kind
            .state_ids()
            .find_map(|(id, state)| Some((id, state.limit.as_ref()?)))
            .expect("a state with a limit");
        let Times::Number(times) = limit.times.value else {
            panic!("the limits of these kinds are numbers");
        };
        // The limited state is entered as often as its limit allows, and then once more.
        let rounds = usize::try_from(times).expect("few") + 1;
        let again = again.iter().cycle().take(again.len() * rounds);
        let ids: Vec<StateId> = first.iter().chain(again).map(id).collect();
        let last = ids
            .iter()
            .rposition(|id| *id == limited)
            .expect("it is among them");
        let step = |at: usize| (ids[at], Action::Next(ids[at + 1]));
        Some(Life {
            kind,
            name: name(kind, "limit"),
            steps: (0..last).map(step).collect(),
            end: limit.then.value,
        })
    }

    /// The script that its handlers follow.
    pub fn script(&self) -> String {
        let mut script = Route(
            self.steps
                .iter()
                .copied()
                .filter(|(_, action)| *action != Action::Delete)
                .collect(),
        )
        .script(self.kind);
        let deleted_in = self.steps.iter().find(|(_, action)| *action == Action::Delete);
        let waits_in = deleted_in.map_or(self.end, |(state, _)| *state);
        let state = self.kind.state(waits_in);
        if !state.on_deletion_path && state.kind.value == StateKind::Working {
            // The handler stays in the state until the object is deleted.
            script.push_str(&format!("{}>hang,", state.name.as_str()));
        }
        script
    }
}

fn name(kind: &Kind, what: &str) -> String {
    format!("{}-{what}", kind.resource.kind.as_str()).to_lowercase()
}

/// Whether a deletion waits for the handler of a state.
fn is_uninterruptible(state: &State) -> bool {
    let is_at_work = state.kind.value == StateKind::Working && !state.on_deletion_path;
    is_at_work && state.on_delete.waits
}
