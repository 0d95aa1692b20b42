//! The subject of the checks of one kind.

use std::cell::OnceCell;

use krator_schema::{Definition, Path, Problem, validate_definition};

use crate::crd;
use crate::finding::{Finding, PathStep, Span};
use crate::graph::{EdgeKind, StateGraph, Step};
use crate::model::{Description, Kind, StateId};

/// The input of a check of one kind.
pub(super) struct Subject<'a> {
    pub(super) description: &'a Description,
    pub(super) kind: &'a Kind,
    pub(super) graph: &'a StateGraph,
    definition: OnceCell<Definition>,
    problems: OnceCell<Vec<Problem>>,
}

impl<'a> Subject<'a> {
    pub(super) fn new(description: &'a Description, kind: &'a Kind, graph: &'a StateGraph) -> Self {
        Subject {
            description,
            kind,
            graph,
            definition: OnceCell::new(),
            problems: OnceCell::new(),
        }
    }

    /// The CRD of the kind, in the form that the API server reads.
    pub(super) fn definition(&self) -> &Definition {
        self.definition
            .get_or_init(|| crd::as_read(crd::specification(self.description, self.kind)))
    }

    /// The reasons why the API server would refuse the CRD, except for its CEL rules.
    pub(super) fn problems(&self) -> &[Problem] {
        let approval = self.kind.resource.api_approved.as_ref();
        let approval = approval.map(|approval| approval.value.as_str());
        self.problems
            .get_or_init(|| validate_definition(self.definition(), approval))
    }

    /// The schema of the kind's objects, with its path in the CRD.
    pub(super) fn schema(&self) -> (&krator_schema::Schema, Path) {
        // `crd::definition` writes at least one version.
        self.schemas().next().expect("the CRD has a schema")
    }

    /// The schema of the objects of each version, the newest first, with its path in the CRD.
    pub(super) fn schemas(&self) -> impl Iterator<Item = (&krator_schema::Schema, Path)> {
        let versions = Path::root().field("spec").field("versions");
        let parts = self.definition().versions.iter().enumerate();
        parts.filter_map(move |(at, version)| {
            let path = versions.index(at).field("schema").field("openAPIV3Schema");
            let schema = version.schema.as_ref()?.open_api_v3_schema.as_ref()?;
            Some((schema, path))
        })
    }

    /// The place in the description of a part of the CRD.
    pub(super) fn place(&self, path: &Path) -> Span {
        crd::place(self.description, self.kind, path)
    }

    /// The name of a state.
    pub(super) fn name(&self, id: StateId) -> &str {
        self.kind.state(id).name.as_str()
    }

    /// The place of the state's name.
    pub(super) fn span(&self, id: StateId) -> Span {
        self.kind.state(id).name.span
    }

    /// Whether objects may pass through a state without running its handler. A state whose limit is exceeded is not
    /// entered: the object goes to `then` at once, regardless of the time that the state would take.
    pub(super) fn is_passed(&self, id: StateId) -> bool {
        self.kind.state(id).limit.is_some()
    }

    /// Whether an object may take an edge immediately after it has entered the source state, unless it may rest in that
    /// state. An edge of `next` from a state to itself is a finding of the rule self-edge.
    pub(super) fn is_taken_at_once(&self, step: Step) -> bool {
        match step.edge.kind {
            EdgeKind::Limit => true,
            EdgeKind::Next | EdgeKind::Resume => !self.is_passed(step.from) && step.from != step.to,
            _ => false,
        }
    }

    /// The finding with a path, and with the first of the `wanted` edges for each of its steps.
    pub(super) fn with_path(
        &self,
        finding: Finding,
        path: &[StateId],
        wanted: impl Fn(Step) -> bool,
    ) -> Finding {
        let steps = path.iter().zip(path.iter().skip(1)).filter_map(|(from, to)| {
            let mut leaving = self.graph.leaving(*from);
            let step = leaving.find(|step| step.to == *to && wanted(*step))?;
            Some(PathStep {
                from: self.name(*from).to_owned(),
                to: self.name(*to).to_owned(),
                by: step.edge.kind,
                span: step.edge.span,
            })
        });
        finding.path(self.names(path)).steps(steps.collect())
    }

    /// The names of the states of a path.
    pub(super) fn names(&self, path: &[StateId]) -> Vec<String> {
        path.iter().map(|id| self.name(*id).to_owned()).collect()
    }
}
