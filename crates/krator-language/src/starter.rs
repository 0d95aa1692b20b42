//! Descriptions to start from: a commented one for a new kind, and a graph that is proposed from the names of states.
//!
//! A proposal guesses from the names which states are ready, failed or part of a deletion. It has no errors and no
//! warnings, and users are expected to change it.

use crate::names::{GroupName, KindName, StateName};
use crate::yaml::scalar;

/// The states of a description if none are given.
pub const STATES: [&str; 3] = ["Pending", "Live", "Failed"];

/// A state of a proposed graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProposedState {
    /// Its name.
    pub name: StateName,
    /// Its phase, if the kind has phases.
    pub phase: Option<String>,
}

/// The role that the name of a state suggests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Working,
    Ready,
    Failed,
    /// A working state of the deletion path.
    Deletion,
    Final,
}

/// A commented description of a kind with these states. Without states it has [`STATES`].
///
/// Valid names may still be taken, for example by an import of the generated code; `krator::check` reports this.
pub fn starter(kind: &KindName, group: &GroupName, states: &[StateName]) -> String {
    let states: Vec<ProposedState> = states
        .iter()
        .map(|name| ProposedState {
            name: name.clone(),
            phase: None,
        })
        .collect();
    let graph = graph(&states);
    let (kind, group) = (scalar(kind.as_str()), scalar(group.as_str()));
    format!(
        "\
# An operator: a resource of Kubernetes, and the states that its objects go through.
#
#   krator check              checks this file
#   krator explain states     explains a key
#   krator new krator.yaml    writes the crate of the operator
krator: 1

resource:
  group: {group}
  version: v1alpha1
  kind: {kind}

# The fields of `.spec`, which users set. A field is required, unless it is optional or has a default.
spec:
  size: {{type: integer, minimum: 1, maximum: 10, default: 1, description: Desired number}}
  # title: optional string
  # labels: optional map of string

# The fields of `.status` that your handlers set. The machine writes `state`, `message` and `conditions`.
# status:
#   address: optional string

columns:
  - {{name: Size, path: .spec.size}}

# The kinds whose objects your handlers create. A change of such an object triggers its owner.
# owns: [apps/v1.Deployment, core/v1.Service]

{graph}"
    )
}

/// `machine` and `states` of a description with these states, or with [`STATES`] if there are none.
pub(crate) fn graph(states: &[ProposedState]) -> String {
    let defaults = STATES.map(|name| ProposedState {
        // The names are constants of the right form.
        name: StateName::parse(name).expect("a name of a state"),
        phase: None,
    });
    let states = if states.is_empty() { &defaults } else { states };
    let roles = roles(states);
    let graph = Graph {
        initial: initial(&roles),
        states,
        roles,
    };
    graph.text()
}

struct Graph<'a> {
    states: &'a [ProposedState],
    roles: Vec<Role>,
    initial: usize,
}

impl Graph<'_> {
    fn text(&self) -> String {
        let mut out = format!("machine:\n  initial: {}\n", self.name(self.initial));
        if let Some(at) = self.all(Role::Deletion).chain(self.all(Role::Final)).next() {
            out.push_str(
                "  # The state that deleted objects enter. Their finalizer stays until the deletion path has ended.\n",
            );
            out.push_str(&format!("  deletion: {}\n", self.name(at)));
        }
        out.push_str("\nstates:\n");
        for at in 0..self.states.len() {
            out.push_str(&self.state(at));
        }
        out
    }

    fn state(&self, at: usize) -> String {
        let mut out = String::new();
        let mut line = |text: String| out.push_str(&format!("    {text}\n"));
        if let Some(phase) = &self.states[at].phase {
            line(format!("phase: {}", scalar(phase)));
        }
        match self.roles[at] {
            Role::Working => {
                line("# The handler runs every 10 s until it chooses another state.".to_owned());
                line("wait: {poll: 10s}".to_owned());
                line(format!("next: [{}]", self.list(&self.next_of_working(at))));
                if let Some(failed) = self.all(Role::Failed).next() {
                    line(format!("timeout: {{after: 1h, to: {}}}", self.name(failed)));
                }
            }
            Role::Ready => {
                line("kind: ready".to_owned());
                let next = self.next_of_ready(at);
                if !next.is_empty() {
                    line(format!("next: [{}]", self.list(&next)));
                }
                if at != self.initial {
                    line("# After a change of the spec, objects go back to the initial state.".to_owned());
                    line(format!("onSpecChange: {}", self.name(self.initial)));
                }
            }
            Role::Failed => {
                line("kind: failed".to_owned());
                line(format!("onSpecChange: {}", self.name(self.initial)));
            }
            Role::Deletion => {
                let next = self.all(Role::Deletion).find(|other| *other > at);
                if let Some(next) = next.or(self.all(Role::Final).next()) {
                    line(
                        "# The handler runs every 10 s until it chooses another state; the timeout bounds the deletion."
                            .to_owned(),
                    );
                    line("wait: {poll: 10s}".to_owned());
                    line(format!("next: [{}]", self.name(next)));
                    line(format!("timeout: {{after: 1h, to: {}}}", self.name(next)));
                }
            }
            Role::Final => line("kind: final".to_owned()),
        }
        format!("  {}:\n{out}", self.name(at))
    }

    /// For a working state before the first ready one: the next working state or, for the last of them, all ready
    /// states. For others: back to the last ready state before them. In addition, all failed states.
    fn next_of_working(&self, at: usize) -> Vec<usize> {
        let following = self
            .all(Role::Working)
            .find(|other| *other > at && self.ready_before(*other).is_none());
        let mut next: Vec<usize> = match (self.ready_before(at), following) {
            (Some(ready), _) => vec![ready],
            (None, Some(following)) => vec![following],
            (None, None) => self.all(Role::Ready).collect(),
        };
        next.extend(self.all(Role::Failed));
        next
    }

    /// The working states that are listed after it. If it is the initial state, because no working state is listed
    /// before it, also all other ready states and all failed states.
    fn next_of_ready(&self, at: usize) -> Vec<usize> {
        let work = self
            .all(Role::Working)
            .filter(|work| self.ready_before(*work) == Some(at));
        let mut next: Vec<usize> = work.collect();
        if at == self.initial {
            next.extend(self.all(Role::Ready).filter(|other| *other != at));
            next.extend(self.all(Role::Failed));
        }
        next
    }

    /// The last ready state that is listed before a state.
    fn ready_before(&self, at: usize) -> Option<usize> {
        self.all(Role::Ready).take_while(|ready| *ready < at).last()
    }

    fn all(&self, role: Role) -> impl Iterator<Item = usize> + '_ {
        (0..self.states.len()).filter(move |at| self.roles[*at] == role)
    }

    fn name(&self, at: usize) -> String {
        scalar(self.states[at].name.as_str())
    }

    fn list(&self, states: &[usize]) -> String {
        let names: Vec<String> = states.iter().map(|at| self.name(*at)).collect();
        names.join(", ")
    }
}

/// The roles by the names, corrected so that there is a ready state and at most one final state. Other states with a
/// final role become working states of the deletion.
fn roles(states: &[ProposedState]) -> Vec<Role> {
    let mut roles: Vec<Role> = states.iter().map(|state| role(state.name.as_str())).collect();
    let last_final = roles.iter().rposition(|role| *role == Role::Final);
    for (at, role) in roles.iter_mut().enumerate() {
        if *role == Role::Final && Some(at) != last_final {
            *role = Role::Deletion;
        }
    }
    if !roles.contains(&Role::Ready) {
        let last_working = roles.iter().rposition(|role| *role == Role::Working);
        roles[last_working.unwrap_or(0)] = Role::Ready;
    }
    roles
}

fn initial(roles: &[Role]) -> usize {
    // `roles` guarantees a ready state.
    let first = |role| roles.iter().position(|other| *other == role);
    let ready = first(Role::Ready).unwrap_or_default();
    first(Role::Working).filter(|work| *work < ready).unwrap_or(ready)
}

fn role(name: &str) -> Role {
    const READY: &str = "ready live running active available succeeded success successful complete completed bound healthy \
                         deployed done valid ok provisioned established synced up online approved finished issued";
    const FAILED: &str = "failed failure fail error errored invalid broken degraded unhealthy lost expired denied rejected \
                          aborted timeout crashed";
    const FINAL: &str = "deleting deleted terminating terminated releasing released removing removed destroying destroyed gone deregistering \
         deregistered unregistering unregistered uninstalling uninstalled deprovisioning deprovisioned decommissioning \
         decommissioned draining drained finalizing finalized cleanup teardown";
    let words = crate::names::snake(name);
    // The last word is the most significant: `PowerOnFailed`, `NotReady`.
    let word = words.rsplit('_').next().unwrap_or_default();
    let is_in = |list: &str| list.split_ascii_whitespace().any(|other| other == word);
    let is_negated = words
        .split('_')
        .any(|word| matches!(word, "not" | "un" | "never" | "partially"));
    match () {
        () if is_negated => Role::Working,
        () if is_in(READY) => Role::Ready,
        () if is_in(FAILED) => Role::Failed,
        () if is_in(FINAL) => Role::Final,
        () => Role::Working,
    }
}
