//! Findings as JSON and as SARIF.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::{EdgeKind, Finding, Severity, Source, Span};

/// A finding as `krator check --format json` prints it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FindingReport<'a> {
    /// The name of the rule, which never changes.
    pub rule: &'a str,
    /// How bad it is.
    pub severity: Severity,
    /// The problem, in one sentence.
    pub message: &'a str,
    /// The file.
    pub file: &'a str,
    /// The place in the file.
    #[serde(flatten)]
    pub place: Place,
    /// The remedy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// The states of a path through the graph that shows the problem.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub path: &'a [String],
    /// The edges between these states, if the rule says which ones it means.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepReport<'a>>,
}

/// A step of such a path.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StepReport<'a> {
    /// The state that it leaves.
    pub from: &'a str,
    /// The state that it enters.
    pub to: &'a str,
    /// The cause of the edge.
    pub by: EdgeKind,
    /// The line at which the description names the target.
    pub line: usize,
}

/// A place in a text; lines and columns count from 1.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Place {
    /// The first line.
    pub line: usize,
    /// The first column, in characters.
    pub column: usize,
    /// The last line.
    pub end_line: usize,
    /// The column after the last character.
    pub end_column: usize,
}

impl Place {
    /// The place of a span in a text.
    pub(crate) fn of(source: &Source, span: Span) -> Self {
        let (start, end) = (source.position(span.start), source.position(span.end));
        Place {
            line: start.line,
            column: start.column,
            end_line: end.line,
            end_column: end.column,
        }
    }
}

/// The array that `--format json` prints.
pub fn reports<'a>(findings: impl IntoIterator<Item = (&'a Source, &'a Finding)>) -> Vec<FindingReport<'a>> {
    let findings = findings.into_iter();
    findings
        .map(|(source, finding)| FindingReport {
            rule: finding.rule.name,
            severity: finding.rule.severity,
            message: &finding.message,
            file: source.name(),
            place: Place::of(source, finding.span),
            help: help(finding),
            path: &finding.path,
            steps: steps(source, finding),
        })
        .collect()
}

fn steps<'a>(source: &Source, finding: &'a Finding) -> Vec<StepReport<'a>> {
    let steps = finding.steps.iter();
    let reports = steps.map(|step| StepReport {
        from: &step.from,
        to: &step.to,
        by: step.by,
        line: source.position(step.span.start).line,
    });
    reports.collect()
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
