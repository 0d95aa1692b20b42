//! The kinds of changes.

use schemars::JsonSchema;
use serde::Serialize;

/// The kind of change that an edit makes. Its serialization is the name in the JSON of `krator diff`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the names describe the changes")]
pub enum ChangeKind {
    AppliedAsWhole,
    BoundLoosened,
    BoundTightened,
    CheckpointChanged,
    ColumnsChanged,
    ConditionsChanged,
    DefaultAdded,
    DefaultChanged,
    DefaultRemoved,
    DeletionAdded,
    DeletionChanged,
    DeletionRemoved,
    EdgeAdded,
    EdgeRemoved,
    EdgeRetargeted,
    EffectsChanged,
    EnumNarrowed,
    EnumWidened,
    FieldAdded,
    FieldRemoved,
    FormatChanged,
    FormatRemoved,
    InitialChanged,
    KindAdded,
    KindRemoved,
    KindRenamed,
    LegacyStateRemoved,
    LimitChanged,
    /// The times in which a state may be entered.
    GateChanged,
    LimitsChanged,
    ListTypeChanged,
    NameRuleAdded,
    NameRuleRemoved,
    NamesChanged,
    NullableAdded,
    NullableRemoved,
    NumberWidened,
    OnDeleteChanged,
    OperatorRenamed,
    OwnedAdded,
    OwnedDeletionChanged,
    OwnedRemoved,
    PatternChanged,
    PatternRemoved,
    PhaseChanged,
    PolicyAdded,
    PolicyRemoved,
    RequiredAdded,
    RequiredRemoved,
    ResourceEmbedded,
    ResourceRenamed,
    RetryChanged,
    RuleAdded,
    RuleRemoved,
    ScaleChanged,
    SchemaChanged,
    ScopeChanged,
    SelectableFieldsChanged,
    SpecChangeChanged,
    StateAdded,
    StateKindChanged,
    StateMerged,
    StateNameReused,
    StateRemoved,
    StateRenamed,
    StateRetired,
    StorageMoved,
    StoredAtOnce,
    StoredVersionRemoved,
    TimeoutChanged,
    TransitionRuleAdded,
    TypeChanged,
    TypeWidened,
    UnknownFieldsDropped,
    UnknownFieldsKept,
    VersionAdded,
    VersionDeprecated,
    VersionServed,
    VersionSkipped,
    VersionUnserved,
    WaitChanged,
    WebhookAdded,
    WebhookChanged,
    WebhookRemoved,
}

impl ChangeKind {
    /// Whether the change is about a CEL rule, which the API server evaluates on every write of an object.
    pub(super) fn is_cel_rule(self) -> bool {
        matches!(
            self,
            ChangeKind::RuleAdded | ChangeKind::RuleRemoved | ChangeKind::TransitionRuleAdded
        )
    }
}
