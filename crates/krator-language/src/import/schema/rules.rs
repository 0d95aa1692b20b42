//! Rules in CEL.

use krator_schema::Path;
use serde_json::Value as Json;

use crate::import::{Findings, Rest, clean, mapping};

/// The rules in CEL of a schema.
pub(super) fn rules(rules: &[Json], path: &Path, findings: &mut Findings) -> Vec<Json> {
    let mut out: Vec<Json> = Vec::new();
    for (at, rule) in rules.iter().enumerate() {
        let path = path.index(at);
        let mut rest = Rest::of(rule);
        let mut keys = mapping();
        let text = rest.text("rule").unwrap_or_default();
        if out.iter().any(|other| other["rule"] == text) {
            findings.add(&path, "the rule is repeated, so only the first one is kept");
            continue;
        }
        keys.insert("rule".to_owned(), text.into());
        if let Some(message) = rest.text("message") {
            keys.insert("message".to_owned(), clean(message).trim().into());
        }
        for key in ["messageExpression", "reason", "fieldPath"] {
            if let Some(text) = rest.text(key) {
                keys.insert(key.to_owned(), text.into());
            }
        }
        if rest.is_true("optionalOldSelf") {
            keys.insert("optionalOldSelf".to_owned(), true.into());
        }
        findings.unread(&path, rest);
        out.push(Json::Object(keys));
    }
    out
}
