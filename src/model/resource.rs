//! The custom resource, what surrounds it in the cluster, and how its operator is run.

use std::time::Duration;

use super::{FieldPath, KindId};
use crate::finding::{Span, Spanned};
use crate::names::{
    Category, ColumnName, ConditionName, GroupName, KindName, LabelKey, NamespaceName, ResourceName, Verb,
    VersionName,
};

/// The custom resource.
#[derive(Debug, Clone, PartialEq)]
pub struct Resource {
    /// The mapping under `resource`.
    pub span: Span,
    /// API group.
    pub group: Spanned<GroupName>,
    /// The one version.
    pub version: Spanned<VersionName>,
    /// Kind.
    pub kind: Spanned<KindName>,
    /// Plural: the kind's English one by default.
    pub plural: Spanned<ResourceName>,
    /// Singular: the kind in lower case by default.
    pub singular: Spanned<ResourceName>,
    /// Short names.
    pub short_names: Vec<Spanned<ResourceName>>,
    /// Categories.
    pub categories: Vec<Spanned<Category>>,
    /// Whether objects live in namespaces.
    pub scope: Spanned<Scope>,
    /// The scale subresource.
    pub scale: Option<Scale>,
    /// Fields that field selectors may use.
    pub selectable_fields: Vec<Spanned<FieldPath>>,
}

/// Whether objects of a kind live in namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// In namespaces.
    Namespaced,
    /// In none.
    Cluster,
}

/// The scale subresource.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    /// Path of the wanted count.
    pub spec: Spanned<FieldPath>,
    /// Path of the present count.
    pub status: Spanned<FieldPath>,
    /// Path of the label selector, as text.
    pub selector: Option<Spanned<FieldPath>>,
}

/// A printer column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its head.
    pub name: Spanned<ColumnName>,
    /// What it shows, as the JSON path of a CRD.
    pub path: Spanned<FieldPath>,
    /// How the value is shown; follows from the schema unless it is written.
    pub column_type: ColumnType,
    /// 0 is always shown, more with `-o wide`.
    pub priority: u32,
    /// What it means.
    pub description: Option<Spanned<String>>,
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
    /// `date`: shown as an age.
    Date,
}

impl ColumnType {
    /// As a CRD writes it.
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
    /// What the condition means.
    pub doc: Spanned<String>,
}

/// Another kind, as `owns`, `watches`, `access` and `wait` name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectKind {
    /// API group; empty for the core group.
    pub group: String,
    /// Version.
    pub version: String,
    /// Kind.
    pub kind: KindName,
    /// Plural: known, given, or the kind's English one.
    pub plural: ResourceName,
    /// Whether its objects live in namespaces; none when that is not known here.
    pub scope: Option<Scope>,
    /// The kind of this description that it is, if it is one.
    pub described: Option<KindId>,
    /// Whether k8s-openapi has its type; otherwise, and if not described here, it is an opaque object.
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

    /// As a description writes it: `core/v1.Service`.
    pub fn reference(&self) -> String {
        let group = if self.group.is_empty() {
            "core"
        } else {
            &self.group
        };
        format!("{group}/{}.{}", self.version, self.kind)
    }

    /// Whether it is the same kind, whatever the version.
    pub(crate) fn is_same_kind(&self, other: &ObjectKind) -> bool {
        self.group == other.group && self.kind == other.kind
    }
}

/// A kind that the operator creates.
#[derive(Debug, Clone, PartialEq)]
pub struct Owned {
    /// The kind.
    pub kind: Spanned<ObjectKind>,
}

/// A kind that the operator looks at.
#[derive(Debug, Clone, PartialEq)]
pub struct Watch {
    /// The kind.
    pub kind: Spanned<ObjectKind>,
    /// Which of its objects.
    pub by: WatchBy,
    /// In which namespace; none: the object's own. Means nothing for a cluster-scoped kind.
    pub namespace: Option<Spanned<LookIn>>,
}

/// Which objects of a watched kind concern an object of ours.
#[derive(Debug, Clone, PartialEq)]
pub enum WatchBy {
    /// Those that the field names; the last segments may lead through lists.
    Path(Spanned<FieldPath>),
    /// Those whose label of this key has our name as value.
    Label(Spanned<LabelKey>),
    /// All of them.
    All,
}

/// The namespace of watched objects.
#[derive(Debug, Clone, PartialEq)]
pub enum LookIn {
    /// The one that the field names.
    Path(FieldPath),
    /// This one.
    Name(NamespaceName),
}

/// Further rights.
#[derive(Debug, Clone, PartialEq)]
pub struct Access {
    /// The kind; its group is that of `resource` too.
    pub kind: Spanned<ObjectKind>,
    /// What may be done.
    pub verbs: Vec<Spanned<Verb>>,
    /// The resource that the rights are for, when it is not the kind's own.
    pub resource: Option<Spanned<Grant>>,
}

/// A resource with or without a subresource: `pods/exec`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// The plural.
    pub plural: ResourceName,
    /// The subresource.
    pub subresource: Option<ResourceName>,
}

/// Admission handlers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Webhooks {
    /// The validating one.
    pub validate: Option<Webhook>,
    /// The mutating one.
    pub mutate: Option<Webhook>,
}

/// How the API server calls an admission handler.
#[derive(Debug, Clone, PartialEq)]
pub struct Webhook {
    /// Where it is asked for.
    pub span: Span,
    /// For which operations; create and update by default.
    pub operations: Vec<Spanned<Operation>>,
    /// What happens when it cannot be reached.
    pub failure_policy: FailurePolicy,
    /// How long the API server waits: 1 to 30 seconds, 10 by default.
    pub timeout: Duration,
    /// CEL that must hold for the handler to be called.
    pub match_conditions: Vec<MatchCondition>,
}

/// An operation of the API server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// `CREATE`.
    Create,
    /// `UPDATE`.
    Update,
    /// `DELETE`.
    Delete,
}

impl Operation {
    /// As a webhook configuration writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Operation::Create => "CREATE",
            Operation::Update => "UPDATE",
            Operation::Delete => "DELETE",
        }
    }
}

/// What happens when a webhook cannot be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailurePolicy {
    /// The request is refused.
    Fail,
    /// The request goes on.
    Ignore,
}

/// A condition of a webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchCondition {
    /// Its name.
    pub name: Spanned<LabelKey>,
    /// CEL.
    pub expression: Spanned<String>,
}

/// How the operator is run.
#[derive(Debug, Clone, PartialEq)]
pub struct Deploy {
    /// Pods; 1 by default.
    pub replicas: Spanned<u32>,
    /// Whether the pods elect a leader.
    pub leader_election: Option<Spanned<bool>>,
    /// Into how many shards objects are split.
    pub shards: Option<Spanned<u32>>,
    /// The namespaces that it works in; all, when empty.
    pub namespaces: Vec<Spanned<NamespaceName>>,
    /// Requests and limits of the container.
    pub resources: PodResources,
}

/// Requests and limits of a container: resource to quantity.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PodResources {
    /// What the pod is promised.
    pub requests: Vec<(LabelKey, Spanned<String>)>,
    /// What it may use at most.
    pub limits: Vec<(LabelKey, Spanned<String>)>,
}
