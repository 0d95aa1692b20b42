//! The state graph for programs, as `krator graph --json` prints it.

use schemars::JsonSchema;
use serde::Serialize;

use super::label;
use crate::finding::EdgeKind;
use crate::graph::StateGraph;
use crate::model::{Description, Kind, StateId};

/// The state graphs of an operator.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct GraphReport<'a> {
    /// The name of the operator.
    operator: &'a str,
    /// The graph of each kind.
    kinds: Vec<KindReport<'a>>,
}

/// The state graph of a kind.
#[derive(Debug, Serialize, JsonSchema)]
struct KindReport<'a> {
    /// The kind.
    kind: &'a str,
    /// The state in which objects begin.
    initial: &'a str,
    /// The state that a deletion leads to.
    deletion: Option<&'a str>,
    /// The states, in the order of the description.
    states: Vec<StateReport<'a>>,
    /// The edges, by the order of the states that they leave.
    edges: Vec<EdgeReport<'a>>,
}

/// A state.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct StateReport<'a> {
    /// Its name.
    name: &'a str,
    /// Its kind: `working`, `ready`, `failed` or `final`.
    kind: &'a str,
    /// Its phase, if the description gives it one.
    phase: Option<&'a str>,
    /// Its group, if the description gives it one.
    group: Option<&'a str>,
    /// Whether its handler may leave objects in it.
    may_stay: bool,
    /// Whether only objects that are deleted are in it.
    on_deletion_path: bool,
}

/// An edge.
#[derive(Debug, Serialize, JsonSchema)]
struct EdgeReport<'a> {
    /// The state that it leaves.
    from: &'a str,
    /// The state that it leads to.
    to: &'a str,
    /// The cause of the edge.
    by: EdgeKind,
    /// The note of a diagram beside it, if any.
    label: Option<String>,
}

impl<'a> GraphReport<'a> {
    /// The report of a description.
    pub(crate) fn of(description: &'a Description) -> Self {
        GraphReport {
            operator: description.operator.as_str(),
            kinds: description.kinds.iter().map(KindReport::of).collect(),
        }
    }
}

impl<'a> KindReport<'a> {
    fn of(kind: &'a Kind) -> Self {
        let name = |id: StateId| kind.state(id).name.as_str();
        let states = kind.states.iter().map(|state| StateReport {
            name: state.name.as_str(),
            kind: state.kind.value.as_str(),
            phase: state.phase.as_ref().map(|phase| phase.value.as_str()),
            group: state.group.as_ref().map(|group| group.value.as_str()),
            may_stay: state.may_stay(),
            on_deletion_path: state.on_deletion_path,
        });
        let graph = StateGraph::of(kind);
        let edges = graph.steps().map(|step| EdgeReport {
            from: name(step.from),
            to: name(step.to),
            by: step.edge.kind,
            label: label(kind, step),
        });
        KindReport {
            kind: kind.resource.kind.as_str(),
            initial: name(kind.machine.initial.value),
            deletion: kind
                .machine
                .deletion
                .as_ref()
                .map(|deletion| name(deletion.value)),
            states: states.collect(),
            edges: edges.collect(),
        }
    }
}
