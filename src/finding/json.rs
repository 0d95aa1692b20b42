//! Findings as JSON and as SARIF.

use serde_json::{Value, json};

use super::{Finding, Severity, Source};

/// The array that `--format json` prints; lines and columns count from 1.
pub fn to_json<'a>(findings: impl IntoIterator<Item = (&'a Source, &'a Finding)>) -> Value {
    findings
        .into_iter()
        .map(|(source, finding)| finding_to_json(source, finding))
        .collect()
}

fn finding_to_json(source: &Source, finding: &Finding) -> Value {
    let start = source.position(finding.span.start);
    let end = source.position(finding.span.end);
    let mut value = json!({
        "rule": finding.rule.name,
        "severity": finding.rule.severity.as_str(),
        "message": finding.message,
        "file": source.name(),
        "line": start.line,
        "column": start.column,
        "endLine": end.line,
        "endColumn": end.column,
    });
    if let Some(help) = help(finding) {
        value["help"] = help.into();
    }
    if !finding.path.is_empty() {
        value["path"] = finding.path.clone().into();
    }
    value
}

fn help(finding: &Finding) -> Option<String> {
    let parts: Vec<&str> = finding
        .fix
        .iter()
        .map(|fix| fix.message.as_str())
        .chain(finding.notes.iter().map(String::as_str))
        .chain(finding.help.as_deref())
        .collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// A SARIF 2.1.0 log, which code hosts show next to the code.
pub fn to_sarif<'a>(findings: impl IntoIterator<Item = (&'a Source, &'a Finding)>) -> Value {
    let mut rules: Vec<Value> = Vec::new();
    let mut results: Vec<Value> = Vec::new();
    for (source, finding) in findings {
        let rule = finding.rule;
        if !rules.iter().any(|known| known["id"] == rule.name) {
            rules.push(json!({"id": rule.name, "shortDescription": {"text": rule.summary}}));
        }
        let start = source.position(finding.span.start);
        let end = source.position(finding.span.end);
        let text = match help(finding) {
            Some(help) => format!("{}\n{help}", finding.message),
            None => finding.message.clone(),
        };
        let level = match rule.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "note",
        };
        results.push(json!({
            "ruleId": rule.name,
            "level": level,
            "message": {"text": text},
            "locations": [{"physicalLocation": {
                "artifactLocation": {"uri": source.name()},
                "region": {
                    "startLine": start.line, "startColumn": start.column,
                    "endLine": end.line, "endColumn": end.column,
                },
            }}],
        }));
    }
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "krator", "version": env!("CARGO_PKG_VERSION"), "rules": rules}},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}
