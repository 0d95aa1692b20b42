//! The meaning of a description, from which all rules, diagrams, Rust code, CRDs, RBAC and manifests are made.
//!
//! Shape:
//!
//! ```text
//! Description            one file, one operator
//!   operator, doc, deploy
//!   types: Vec<NamedType>        named once, referenced by TypeId
//!   foreign: Vec<ForeignKind>    kinds with a schema in a file of `schemas`      (model/foreign.rs)
//!   kinds: Vec<Kind>             one a document, referenced by KindId
//!     resource                   group, version, kind, plural, columns' scale, …  (model/resource.rs)
//!     spec: Schema, status       a tree to walk, see Schema and Shape             (model/schema.rs)
//!     machine, states            a State is referenced by its StateId             (model/machine.rs)
//!       timeout, gate            when time leads on, and when states are entered  (model/calendar.rs)
//!     owns, watches, access      other kinds                                      (model/resource.rs)
//!     versions: Vec<Version>     older ones, made of the newest                    (model/version.rs)
//!     properties, allow
//! ```
//!
//! Names are valid (crate::names), durations parsed and defaults filled in. Settings that a state inherits from the
//! machine are resolved into the state, so that no consumer has to look into `machine`. Every value carries its span.
//! Lowering is total: a mistake becomes a finding and a placeholder takes its place, so that one run reports
//! everything. A crate is generated only from a description without errors, which has no placeholders.

mod calendar;
mod foreign;
mod json_path;
pub mod kubernetes;
mod lineage;
mod lower;
mod machine;
mod path;
mod period;
mod resource;
mod schema;
mod status;
mod version;
mod webhooks;

pub use calendar::{Gate, Places, Recurrence, TextSource, Timeout, When, Window};
pub use foreign::ForeignKind;
pub use json_path::JsonPath;
pub use lineage::{KindLineage, Lineage};
pub(crate) use lower::{DEEPEST_PHRASE, lower, type_words};
pub use machine::{
    ConditionSetting, ConditionStatus, Effects, Limit, Machine, Next, Objective, OnDelete, OnSpecChange,
    Property, PropertyKind, Ready, Retry, RetryLimit, SpecChange, StandardConditions, State, StateKind,
    StateSet, Times, Wait, WatchSource,
};
pub use path::{FieldPath, PathRoot, Segment};
pub use period::{MomentField, MomentUnit, Period, format_duration, parse_duration};
pub use resource::{
    Access, Admission, Certificates, ChildDeletion, Column, ColumnPath, ColumnType, DeclaredCondition,
    Deploy, Extra, Grant, LookIn, NameRule, ObjectKind, Owned, PodResources, PublishedEvents, Resource,
    Scale, Scope, Watch, WatchBy,
};
pub use schema::{Constraints, Field, FieldChange, KubernetesType, NamedType, Schema, Shape, Validation};
pub use status::machine_status;
pub use status::machine_status_of;
pub use version::DURATION_UNITS;
pub use version::Version;
pub use webhooks::{FailurePolicy, MatchCondition, Operation, Webhook, Webhooks};

use crate::finding::{Span, Spanned};
use crate::names::OperatorName;

/// Index of a kind in [`Description::kinds`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KindId(pub usize);

/// Index of a type in [`Description::types`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeId(pub usize);

/// Index of a state in [`Kind::states`]: the order of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateId(pub usize);

/// One operator.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// Name of the crate, Deployment and ServiceAccount; the default's span is that of the kind.
    pub operator: Spanned<OperatorName>,
    /// One paragraph for README, crate docs and CRD.
    pub doc: Option<Spanned<String>>,
    /// `types` of all documents.
    pub types: Vec<NamedType>,
    /// One kind a document; never empty.
    pub kinds: Vec<Kind>,
    /// The kinds of `schemas` of all documents.
    pub foreign: Vec<ForeignKind>,
    /// The files of `schemas`, by their paths in the folder of the description, with their texts.
    pub schema_files: std::collections::BTreeMap<String, String>,
    /// Its deployment.
    pub deploy: Deploy,
    /// Whether everything that schemas depend on could be read; otherwise schemas have harmless placeholders for it.
    pub has_sound_schemas: bool,
    /// The namespace that the operator runs in.
    pub namespace: String,
}

/// A custom resource and its machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Kind {
    /// The document.
    pub span: Span,
    /// `doc` of its document.
    pub doc: Option<Spanned<String>>,
    /// The custom resource.
    pub resource: Resource,
    /// `.spec`: fields, or a named type. Its `validations` are the rules of `spec` itself.
    pub spec: Schema,
    /// Fields of `.status` besides those that the machine keeps.
    pub status: Vec<Field>,
    /// Printer columns before the default ones.
    pub columns: Vec<Column>,
    /// Conditions that handlers set.
    pub conditions: Vec<DeclaredCondition>,
    /// Settings of the whole graph.
    pub machine: Machine,
    /// The time that objects should take from one state to another.
    pub objectives: Vec<Objective>,
    /// The maximum number of objects in sets of states.
    pub limits: Vec<Places>,
    /// The states, in the order of the text; never empty.
    pub states: Vec<State>,
    /// Kinds that the operator creates.
    pub owns: Vec<Owned>,
    /// Kinds that the operator watches.
    pub watches: Vec<Watch>,
    /// Additional permissions.
    pub access: Vec<Access>,
    /// The webhooks that the API server calls before it stores an object.
    pub webhooks: Webhooks,
    /// The requests that policies deny.
    pub admission: Admission,
    /// Older versions, the newest of them first.
    pub versions: Vec<Version>,
    /// Properties that the graph must have.
    pub properties: Vec<Property>,
    /// The accepted findings that belong to no state.
    pub allow: Vec<Allow>,
    /// Some edges failed to parse and were reported already, so rules must not conclude anything from missing edges.
    pub lacks_edges: bool,
}

/// A finding that the description accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allow {
    /// Name of a rule.
    pub rule: Spanned<String>,
    /// The reason.
    pub reason: Spanned<String>,
}

impl Description {
    /// Whether the API server calls the operator: a kind has webhooks, or versions with different schemas.
    pub fn has_webhooks(&self) -> bool {
        self.kinds.iter().any(|kind| !kind.webhooks.is_empty()) || self.converts()
    }

    /// Whether a kind has versions between which objects are converted.
    pub fn converts(&self) -> bool {
        self.kinds.iter().any(Kind::converts)
    }

    /// Whether a kind has several versions, so that stored objects can be moved to another one.
    pub fn has_versions(&self) -> bool {
        self.kinds.iter().any(|kind| !kind.versions.is_empty())
    }

    /// A kind by its index.
    pub fn kind(&self, id: KindId) -> &Kind {
        &self.kinds[id.0]
    }

    /// A type by its index.
    pub fn type_(&self, id: TypeId) -> &NamedType {
        &self.types[id.0]
    }

    /// The type of `types` that is the `.spec` of the kind and whose name is also that of the kind's Rust type, such as
    /// `MooseSpec`. It is generated once.
    pub fn own_spec_type(&self, kind: &Kind) -> Option<TypeId> {
        let Shape::Named(id) = kind.spec.shape else {
            return None;
        };
        let is_object = matches!(self.resolve(&kind.spec).shape, Shape::Object(_));
        let name = format!("{}Spec", kind.resource.rust_name.as_str());
        (is_object && self.type_(id).name.as_str() == name).then_some(id)
    }

    /// A schema with references to named types resolved: its shape is never [`Shape::Named`].
    pub fn resolve<'a>(&'a self, schema: &'a Schema) -> &'a Schema {
        let mut schema = schema;
        // Lowering refuses recursive types; the limit guarantees termination regardless.
        for _ in 0..=self.types.len() {
            match &schema.shape {
                Shape::Named(id) => schema = &self.type_(*id).schema,
                _ => break,
            }
        }
        schema
    }

    /// The schema, then the named type that it refers to, then the type that this one refers to, and so on. Keys of an
    /// earlier schema override those of later ones.
    pub fn chain<'a>(&'a self, schema: &'a Schema) -> impl Iterator<Item = &'a Schema> {
        let next = |schema: &&'a Schema| match &schema.shape {
            Shape::Named(id) => Some(&self.type_(*id).schema),
            _ => None,
        };
        // Lowering refuses recursive types; the limit guarantees termination regardless.
        std::iter::successors(Some(schema), next).take(self.types.len() + 1)
    }

    /// Whether the schema, or a named type that it refers to, allows null.
    pub fn is_nullable(&self, schema: &Schema) -> bool {
        self.chain(schema).any(|schema| schema.nullable)
    }

    /// Whether the API server sets a default if the value is absent.
    pub fn is_filled_in(&self, schema: &Schema) -> bool {
        self.chain(schema).any(|schema| schema.default.is_some())
    }
}

impl Kind {
    /// Whether `allow` of the kind silences a rule.
    pub fn allows(&self, rule: &str) -> bool {
        self.allow.iter().any(|allow| allow.rule.value == rule)
    }

    /// A state by its index.
    pub fn state(&self, id: StateId) -> &State {
        &self.states[id.0]
    }

    /// The states with their indices.
    pub fn state_ids(&self) -> impl Iterator<Item = (StateId, &State)> {
        self.states
            .iter()
            .enumerate()
            .map(|(at, state)| (StateId(at), state))
    }

    /// Whether the machine keeps `.status.phase`: if no state has a phase, the field would only repeat `.status.state`.
    pub fn names_phases(&self) -> bool {
        self.states.iter().any(|state| state.phase.is_some())
    }

    /// The fields of the spec whose changes states distinguish, each once, in an order that does not depend on that of
    /// the description.
    pub fn watched_fields(&self) -> Vec<&FieldPath> {
        let changes = self.states.iter().flat_map(|state| &state.on_spec_change_of);
        let mut paths: Vec<&FieldPath> = Vec::new();
        for path in changes.flat_map(|change| &change.of) {
            if !paths.contains(&&path.value) {
                paths.push(&path.value);
            }
        }
        paths.sort_by_key(ToString::to_string);
        paths
    }

    /// The kinds of `owns`, `watches` and `access`, with repetitions.
    pub fn other_kinds(&self) -> impl Iterator<Item = &Spanned<ObjectKind>> {
        let owned = self.owns.iter().map(|owned| &owned.kind);
        let watched = self.watches.iter().map(|watch| &watch.kind);
        let accessed = self.access.iter().map(|access| &access.kind);
        owned.chain(watched).chain(accessed)
    }

    /// A state by its name.
    pub fn state_named(&self, name: &str) -> Option<StateId> {
        self.states
            .iter()
            .position(|state| state.name.as_str() == name)
            .map(StateId)
    }

    /// The types of the conditions besides Ready, Reconciling and Stalled that states set or handlers may set, each
    /// once, in alphabetical order.
    pub fn condition_types(&self) -> Vec<&str> {
        let declared = self.conditions.iter().map(|condition| condition.name.as_str());
        let set = self.states.iter().flat_map(|state| &state.conditions);
        let all: std::collections::BTreeSet<&str> =
            declared.chain(set.map(|setting| setting.name.as_str())).collect();
        all.into_iter().collect()
    }
}
