//! The kinds of changes, each with its name in the JSON of `krator diff`.

macro_rules! change_kinds {
    ($($kind:ident $name:literal,)*) => {
        /// The kind of change that an edit makes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum ChangeKind {
            $(#[doc = concat!("`", $name, "`")] $kind,)*
        }

        impl ChangeKind {
            /// The name in the JSON of `krator diff`.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(ChangeKind::$kind => $name,)*
                }
            }
        }
    };
}

change_kinds! {
    AppliedAsWhole "applied-as-whole",
    BoundLoosened "bound-loosened",
    BoundTightened "bound-tightened",
    CheckpointChanged "checkpoint-changed",
    ColumnsChanged "columns-changed",
    ConditionsChanged "conditions-changed",
    DefaultAdded "default-added",
    DefaultChanged "default-changed",
    DefaultRemoved "default-removed",
    DeletionAdded "deletion-added",
    DeletionChanged "deletion-changed",
    DeletionRemoved "deletion-removed",
    EdgeAdded "edge-added",
    EdgeRemoved "edge-removed",
    EdgeRetargeted "edge-retargeted",
    EffectsChanged "effects-changed",
    EnumNarrowed "enum-narrowed",
    EnumWidened "enum-widened",
    FieldAdded "field-added",
    FieldRemoved "field-removed",
    FormatChanged "format-changed",
    FormatRemoved "format-removed",
    InitialChanged "initial-changed",
    KindAdded "kind-added",
    KindRemoved "kind-removed",
    KindRenamed "kind-renamed",
    LegacyStateRemoved "legacy-state-removed",
    LimitChanged "limit-changed",
    ListTypeChanged "list-type-changed",
    NamesChanged "names-changed",
    NullableAdded "nullable-added",
    NullableRemoved "nullable-removed",
    NumberWidened "number-widened",
    OnDeleteChanged "on-delete-changed",
    OperatorRenamed "operator-renamed",
    OwnedAdded "owned-added",
    OwnedDeletionChanged "owned-deletion-changed",
    OwnedRemoved "owned-removed",
    PatternChanged "pattern-changed",
    PatternRemoved "pattern-removed",
    PhaseChanged "phase-changed",
    RequiredAdded "required-added",
    RequiredRemoved "required-removed",
    ResourceEmbedded "resource-embedded",
    ResourceRenamed "resource-renamed",
    RetryChanged "retry-changed",
    RuleAdded "rule-added",
    RuleRemoved "rule-removed",
    ScaleChanged "scale-changed",
    SchemaChanged "schema-changed",
    ScopeChanged "scope-changed",
    SelectableFieldsChanged "selectable-fields-changed",
    SpecChangeChanged "spec-change-changed",
    StateAdded "state-added",
    StateKindChanged "state-kind-changed",
    StateMerged "state-merged",
    StateNameReused "state-name-reused",
    StateRemoved "state-removed",
    StateRenamed "state-renamed",
    StateRetired "state-retired",
    TimeoutChanged "timeout-changed",
    TransitionRuleAdded "transition-rule-added",
    TypeChanged "type-changed",
    TypeWidened "type-widened",
    UnknownFieldsDropped "unknown-fields-dropped",
    UnknownFieldsKept "unknown-fields-kept",
    VersionChanged "version-changed",
    WaitChanged "wait-changed",
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
