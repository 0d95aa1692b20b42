//! The custom resource, the other kinds that its operator uses, and how the operator is deployed.

use std::collections::BTreeSet;
use std::fmt;

use super::{FieldPath, JsonPath, KindId, StateId};
use crate::catalog::keys::{DeployKey, SectionKey as _};
use crate::finding::{Span, Spanned};
use crate::names::{
    Category, ColumnName, ConditionName, GroupName, ImageName, KindName, LabelKey, NamespaceName,
    PageAddress, ResourceName, RustKindName, Verb, VersionName,
};
use serde_json::Value as Json;

/// The custom resource: `resource` in the description.
#[derive(Debug, Clone, PartialEq)]
pub struct Resource {
    /// The mapping under `resource`.
    pub span: Span,
    /// Its API group.
    pub group: Spanned<GroupName>,
    /// The annotation `api-approved.kubernetes.io` of the CRD, which the API server requires for groups of Kubernetes.
    pub api_approved: Option<Spanned<String>>,
    /// Its newest version.
    pub version: Spanned<VersionName>,
    /// Its kind.
    pub kind: Spanned<KindName>,
    /// Its name in Rust, from which the names of types and modules are derived.
    pub rust_name: Spanned<RustKindName>,
    /// The plural; by default the English plural of the kind, in lower case.
    pub plural: Spanned<ResourceName>,
    /// The singular; by default the kind in lower case.
    pub singular: Spanned<ResourceName>,
    /// Short names for kubectl, such as `po` for pods.
    pub short_names: Vec<Spanned<ResourceName>>,
    /// Categories such as `all`, by which kubectl lists several kinds at once.
    pub categories: Vec<Spanned<Category>>,
    /// Whether objects live in namespaces.
    pub scope: Spanned<Scope>,
    /// The constraint on the names of objects.
    pub name: Option<NameRule>,
    /// The scale subresource.
    pub scale: Option<Scale>,
    /// Fields that field selectors may use.
    pub selectable_fields: Vec<Spanned<FieldPath>>,
}

impl Resource {
    /// The name of its definition, by which tools also refer to the resource: `moose.animals.com`.
    pub fn definition(&self) -> String {
        format!("{}.{}", self.plural.value, self.group.value)
    }
}

/// Whether objects of a kind live in namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Each object is in a namespace.
    Namespaced,
    /// Objects have no namespace.
    Cluster,
}

impl Scope {
    /// All of them, as descriptions write them.
    pub(crate) const ALL: [(&'static str, Scope); 2] =
        [("Namespaced", Scope::Namespaced), ("Cluster", Scope::Cluster)];
}

/// The constraint on the name of a new object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameRule {
    /// A regular expression that the name has to match.
    pub pattern: Spanned<String>,
    /// The message of the API server for other names.
    pub message: Option<Spanned<String>>,
}

/// The scale subresource.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    /// The field with the desired number of replicas.
    pub spec: Spanned<FieldPath>,
    /// The field with the actual number of replicas.
    pub status: Spanned<FieldPath>,
    /// The field with the label selector, which is a string.
    pub selector: Option<Spanned<FieldPath>>,
}

/// A printer column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// The heading.
    pub name: Spanned<ColumnName>,
    /// The content, as a JSON path of a CRD.
    pub path: Spanned<ColumnPath>,
    /// The format of the value. By default it follows from the schema.
    pub column_type: ColumnType,
    /// Columns of priority 0 are always shown, others only with `-o wide`.
    pub priority: u32,
    /// A description for users.
    pub description: Option<Spanned<String>>,
}

/// The content of a printer column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnPath {
    /// A field, which the schema has.
    Field(FieldPath),
    /// The result of a JSON path that is not the path of a field.
    Other(JsonPath),
}

impl fmt::Display for ColumnPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ColumnPath::Field(path) => path.fmt(f),
            ColumnPath::Other(path) => f.write_str(path.as_str()),
        }
    }
}

/// The types that a printer column may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ColumnType {
    /// `string`.
    String,
    /// `integer`.
    Integer,
    /// `number`.
    Number,
    /// `boolean`.
    Boolean,
    /// `date`, which kubectl shows as an age.
    Date,
}

impl ColumnType {
    /// The name in a CRD.
    pub fn as_str(self) -> &'static str {
        match self {
            ColumnType::String => "string",
            ColumnType::Integer => "integer",
            ColumnType::Number => "number",
            ColumnType::Boolean => "boolean",
            ColumnType::Date => "date",
        }
    }
}

/// A condition that handlers set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredCondition {
    /// Its type.
    pub name: Spanned<ConditionName>,
    /// The meaning of the condition.
    pub doc: Spanned<String>,
}

/// Another kind that `owns`, `watches`, `access` or `wait` refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectKind {
    /// Its API group, which is empty for the core group.
    pub group: String,
    /// Its version.
    pub version: String,
    /// The name of the kind.
    pub kind: KindName,
    /// The plural: that of a known kind, the one in the description, or otherwise the English plural.
    pub plural: ResourceName,
    /// Its scope; `None` if unknown.
    pub scope: Option<Scope>,
    /// Set if this description defines the kind.
    pub described: Option<KindId>,
    /// Whether k8s-openapi has its type. Kinds that neither k8s-openapi nor this description defines become untyped
    /// objects.
    pub has_type: bool,
}

impl ObjectKind {
    /// `v1` or `apps/v1`.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// The form that descriptions use: `core/v1.Service`.
    pub fn reference(&self) -> String {
        let group = if self.group.is_empty() {
            "core"
        } else {
            &self.group
        };
        format!("{group}/{}.{}", self.version, self.kind)
    }

    /// Whether group and kind are the same. Versions may differ.
    pub(crate) fn is_same_kind(&self, other: &ObjectKind) -> bool {
        self.group == other.group && self.kind == other.kind
    }
}

/// A kind that the operator creates.
#[derive(Debug, Clone, PartialEq)]
pub struct Owned {
    /// The kind.
    pub kind: Spanned<ObjectKind>,
    /// The treatment of its objects when their owner is deleted. Without the key, the span is that of the kind.
    pub deletion: Spanned<ChildDeletion>,
}

/// The treatment of an owned object when its owner is deleted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ChildDeletion {
    /// The garbage collector deletes it.
    #[default]
    Owner,
    /// The operator deletes it when the deletion path has ended.
    Last,
    /// The operator releases it when the deletion path has ended.
    Keep,
}

impl ChildDeletion {
    /// All of them, as descriptions write them.
    pub(crate) const ALL: [(&'static str, ChildDeletion); 3] = [
        ("owner", ChildDeletion::Owner),
        ("last", ChildDeletion::Last),
        ("keep", ChildDeletion::Keep),
    ];
}

/// A kind whose objects the operator watches.
#[derive(Debug, Clone, PartialEq)]
pub struct Watch {
    /// The kind.
    pub kind: Spanned<ObjectKind>,
    /// The relation between its objects and ours.
    pub by: WatchBy,
    /// The namespace of the watched objects, or `None` for the namespace of our object. Ignored for cluster-scoped
    /// kinds.
    pub namespace: Option<Spanned<LookIn>>,
}

/// The relation between objects of a watched kind and an object of ours.
#[derive(Debug, Clone, PartialEq)]
pub enum WatchBy {
    /// The field of our object that has the names of watched objects. The path may lead through lists.
    Path(Spanned<FieldPath>),
    /// The key of a label of watched objects whose value is the name of our object.
    Label(Spanned<LabelKey>),
    /// All objects of the kind.
    All,
}

/// The namespace of watched objects.
#[derive(Debug, Clone, PartialEq)]
pub enum LookIn {
    /// The field of our object that has the name of the namespace.
    Path(FieldPath),
    /// This namespace.
    Name(NamespaceName),
}

/// Permissions that handlers need in addition to those that follow from the rest of the description.
#[derive(Debug, Clone, PartialEq)]
pub struct Access {
    /// The kind. `resource`, if there is one, is in the same API group.
    pub kind: Spanned<ObjectKind>,
    /// The verbs that are allowed.
    pub verbs: Vec<Spanned<Verb>>,
    /// The resource that the permissions are for, if it is not that of the kind.
    pub resource: Option<Spanned<Grant>>,
}

/// A resource, with its subresource if any, such as `pods/exec`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// The plural.
    pub plural: ResourceName,
    /// The subresource.
    pub subresource: Option<ResourceName>,
}

/// The requests that policies deny.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Admission {
    /// `status`: only clients with the verb `operate` on the resource may write the status.
    pub status: Option<Span>,
    /// The states whose objects may not be deleted.
    pub protect: Vec<Spanned<StateId>>,
    /// `transitions`: the stored state may change only along edges.
    pub transitions: Option<Span>,
}

/// Files that not every deployment needs. A crate has them if its description requests them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extra {
    /// The Helm chart.
    Chart,
    /// All manifests in one file.
    Install,
    /// Alerts and a dashboard.
    Monitoring,
    /// A NetworkPolicy.
    NetworkPolicy,
}

impl Extra {
    /// All of them.
    pub const ALL: [Extra; 4] = [
        Extra::Chart,
        Extra::Install,
        Extra::Monitoring,
        Extra::NetworkPolicy,
    ];

    /// The name of the key of `deploy` that requests the files.
    pub fn key(self) -> &'static str {
        self.deploy_key().key().name
    }

    /// The key of `deploy` that requests the files.
    pub(super) fn deploy_key(self) -> DeployKey {
        match self {
            Extra::Chart => DeployKey::Chart,
            Extra::Install => DeployKey::Install,
            Extra::Monitoring => DeployKey::Monitoring,
            Extra::NetworkPolicy => DeployKey::NetworkPolicy,
        }
    }

    /// The folder of the files, or the path if there is only one.
    pub fn place(self) -> &'static str {
        match self {
            Extra::Chart => "deploy/chart",
            Extra::Install => "dist/install.yaml",
            Extra::Monitoring => "deploy/components/monitoring",
            Extra::NetworkPolicy => "deploy/components/network-policy",
        }
    }
}

/// The deployment of the operator.
#[derive(Debug, Clone, PartialEq)]
pub struct Deploy {
    /// The number of pods; 1 by default.
    pub replicas: Spanned<u32>,
    /// Whether the pods elect a leader; true by default.
    pub leader_election: Spanned<bool>,
    /// The namespaces that it works in; empty for all namespaces.
    pub namespaces: Vec<Spanned<NamespaceName>>,
    /// The events that it publishes.
    pub events: PublishedEvents,
    /// The certificates of its webhooks.
    pub certificates: Certificates,
    /// Whether it migrates stored objects to the current storage version.
    pub migrate: bool,
    /// The files that it requests.
    pub extras: BTreeSet<Extra>,
    /// The address of the runbook.
    pub runbook: Option<Spanned<PageAddress>>,
    /// The image of the container, if the description names one.
    pub image: Option<Spanned<ImageName>>,
    /// Arguments after those that follow from the description.
    pub args: Vec<String>,
    /// The environment of the container, in the form of a Pod.
    pub env: Vec<Json>,
    /// Requests and limits of the container.
    pub resources: PodResources,
    /// The labels of nodes on which pods may run.
    pub node_selector: Vec<(LabelKey, String)>,
    /// The taints of nodes that pods tolerate, in the form of a Pod.
    pub tolerations: Vec<Json>,
    /// The preferred or required nodes of pods, in the form of a Pod.
    pub affinity: Option<Json>,
}

/// The issuer of the certificates of webhooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Certificates {
    /// The operator.
    #[default]
    Own,
    /// An external issuer, whose certificates are mounted.
    Mounted,
}

/// The Kubernetes events that an operator publishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PublishedEvents {
    /// All events: one for each transition, and those of handlers.
    #[default]
    All,
    /// Only warnings.
    Warnings,
}

/// Requests and limits of a container, each as quantities by resource.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PodResources {
    /// The resources that are reserved for the container.
    pub requests: Vec<(LabelKey, Spanned<String>)>,
    /// The most that the container may use.
    pub limits: Vec<(LabelKey, Spanned<String>)>,
}
