//! What an object goes through: the states that it leaves, and how, until it is deleted.

use crate::scripted_operator::{Action, Route, route};
use krator::model::{Kind, State, StateId, StateKind, Times};

/// An object and its way through the graph of its kind.
pub struct Life<'a> {
    pub kind: &'a Kind,
    pub name: String,
    /// The states that it leaves, and how.
    pub steps: Vec<(StateId, Action)>,
    /// Where the steps lead to.
    pub end: StateId,
}

impl<'a> Life<'a> {
    /// For each state of a kind a life that leads there, if one of its edges can; see [`route`]. A deletion is not led into
    /// a handler that it waits for, because that handler would have to end at the right time; and nobody knows whether a
    /// state first times out or has failed too often.
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
        // A deletion does not interrupt the handlers of some states, so the object goes on until it rests.
        while let state = kind.state(end)
            && is_uninterruptible(state)
            && let Some(next) = state.next.first()
            && steps.len() < 20
        {
            // A script sends a state always the same way, so that a state that was left before would be left again. A
            // failure in a state whose effects happen once leads to the state in `resume`.
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

    /// A life that leads past the limit of a state: there again and again. The entries of a state are counted only until
    /// the object rests, so that other kinds have no such life.
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
        // The limited state is entered as often as it may be, and once more it is not.
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
            // It stays there until it is deleted.
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
