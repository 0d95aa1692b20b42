//! Objects that violate the validation rules of the good descriptions. Violations of rules cannot be derived from the
//! schema.

/// A validation rule, and changes of the sample that violate it.
pub struct BrokenRule {
    pub kind: &'static str,
    /// The message of the rule.
    pub message: &'static str,
    /// The stored object before the change, for transition rules, as a merge patch of the sample's spec.
    pub before: Option<&'static str>,
    /// The object that is refused, as a merge patch of the sample's spec.
    pub refused: &'static str,
}

const fn created(kind: &'static str, message: &'static str, refused: &'static str) -> BrokenRule {
    let before = None;
    BrokenRule {
        kind,
        message,
        before,
        refused,
    }
}

const fn changed(
    kind: &'static str,
    message: &'static str,
    before: &'static str,
    refused: &'static str,
) -> BrokenRule {
    let before = Some(before);
    BrokenRule {
        kind,
        message,
        before,
        refused,
    }
}

pub const RULES: &[BrokenRule] = &[
    changed(
        "Backup",
        ".spec.database cannot change after creation",
        "{}",
        r#"{"database": "other"}"#,
    ),
    created(
        "Backup",
        "a namespace can be included or excluded, not both",
        r#"{"includedNamespaces": ["a", "b"], "excludedNamespaces": ["b"]}"#,
    ),
    changed(
        "Database",
        ".spec.version cannot change after creation",
        "{}",
        r#"{"version": "17"}"#,
    ),
    created(
        "HelmRelease",
        "either chart or chartRef must be set",
        r#"{"chart": null, "chartRef": null}"#,
    ),
    created(
        "HelmRelease",
        "retryInterval needs RetryOnFailure",
        r#"{"upgrade": {"strategy": {"name": "RemediateOnFailure", "retryInterval": "1m"}}}"#,
    ),
    created(
        "NodeClaim",
        "requirements with operator 'In' must have a value defined",
        r#"{"requirements": [{"key": "a", "operator": "In"}]}"#,
    ),
    changed("NodeClaim", "spec is immutable", "{}", r#"{"expireAfter": "1h"}"#),
    created(
        "NodePool",
        "requirements with operator 'In' must have a value defined",
        r#"{"template": {"spec": {"requirements": [{"key": "a", "operator": "In"}]}}}"#,
    ),
    changed(
        "NodePool",
        "nodeClassRef.group is immutable",
        "{}",
        r#"{"template": {"spec": {"nodeClassRef": {"group": "other"}}}}"#,
    ),
    changed(
        "NodePool",
        "nodeClassRef.kind is immutable",
        "{}",
        r#"{"template": {"spec": {"nodeClassRef": {"kind": "Other"}}}}"#,
    ),
    changed(
        "Order",
        "an order never changes",
        "{}",
        r#"{"commonName": "other"}"#,
    ),
    created(
        "Postgresql",
        "a logical backup needs a schedule",
        r#"{"enableLogicalBackup": true}"#,
    ),
    changed(
        "Postgresql",
        "a major version never goes down",
        r#"{"postgresql": {"version": "14"}}"#,
        r#"{"postgresql": {"version": "13"}}"#,
    ),
    changed(
        "Restore",
        ".spec.database cannot change after creation",
        "{}",
        r#"{"database": "other"}"#,
    ),
    changed(
        "Restore",
        ".spec.backup cannot change after creation",
        "{}",
        r#"{"backup": "other"}"#,
    ),
    changed(
        "Database",
        "a volume cannot shrink",
        r#"{"storage": "2Gi"}"#,
        r#"{"storage": "1536Mi"}"#,
    ),
    created(
        "Database",
        "at least a minute lies between two backups",
        r#"{"backups": {"every": "30s"}}"#,
    ),
    changed(
        "Restore",
        "an approval cannot be taken back",
        r#"{"approved": true}"#,
        r#"{"approved": false}"#,
    ),
    created(
        "Rollout",
        "exactly one of template and workloadRef",
        r#"{"template": null, "workloadRef": null}"#,
    ),
    changed(
        "Rollout",
        "selector is immutable",
        r#"{"selector": {"matchLabels": {"app": "a"}}}"#,
        r#"{"selector": {"matchLabels": {"app": "b"}}}"#,
    ),
    created(
        "TaskRun",
        "exactly one of taskRef and taskSpec",
        r#"{"taskRef": {"name": "a"}, "taskSpec": {"steps": []}}"#,
    ),
];
