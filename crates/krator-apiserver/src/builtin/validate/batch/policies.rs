//! Policies of Jobs for pods that fail, succeed or are replaced.

use super::super::report::Report;
use super::is_indexed;
use crate::builtin::json::{get, int, list, text};
use crate::builtin::names;
use krator_schema::{Path, ProblemKind};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;

pub(super) fn failure(report: &mut Report, at: &Path, spec: &Json) {
    let Some(policy) = get(spec, "podFailurePolicy") else {
        return;
    };
    let rules = list(policy, "rules");
    let at = at.field("rules");
    if rules.len() > 20 {
        report.too_many(&at, rules.len(), 20);
    }
    for (index, rule) in rules.iter().enumerate() {
        failure_rule(report, &at.index(index), rule, spec);
    }
}

fn failure_rule(report: &mut Report, at: &Path, rule: &Json, spec: &Json) {
    const ACTIONS: [&str; 4] = ["Count", "FailIndex", "FailJob", "Ignore"];
    let action_at = at.field("action");
    match text(rule, "action") {
        "" => report.required(
            &action_at,
            "valid values: [\"Count\" \"FailIndex\" \"FailJob\" \"Ignore\"]",
        ),
        "FailIndex" if get(spec, "backoffLimitPerIndex").is_none() => {
            report.invalid(
                &action_at,
                "FailIndex",
                "requires the backoffLimitPerIndex to be set",
            );
        }
        action if !ACTIONS.contains(&action) => report.not_supported(&action_at, action, &ACTIONS),
        _ => {}
    }
    let codes = get(rule, "onExitCodes");
    let conditions = list(rule, "onPodConditions");
    if let Some(codes) = codes {
        exit_codes(report, &at.field("onExitCodes"), codes, spec);
    }
    for (index, pattern) in conditions.iter().enumerate() {
        let at = at.field("onPodConditions").index(index);
        let type_ = text(pattern, "type");
        report.messages(&at.field("type"), type_, names::qualified(type_));
        let status = text(pattern, "status");
        const STATUSES: [&str; 3] = ["False", "True", "Unknown"];
        if !STATUSES.contains(&status) {
            report.not_supported(&at.field("status"), status, &STATUSES);
        }
    }
    let detail = match (codes.is_some(), conditions.is_empty()) {
        (true, false) => "specifying both OnExitCodes and OnPodConditions is not supported",
        (false, true) => "specifying one of OnExitCodes and OnPodConditions is required",
        _ => return,
    };
    report.without_value(at, ProblemKind::Invalid, detail);
}

fn exit_codes(report: &mut Report, at: &Path, codes: &Json, spec: &Json) {
    let operator = text(codes, "operator");
    match operator {
        "" => report.required(&at.field("operator"), "valid values: [\"In\" \"NotIn\"]"),
        "In" | "NotIn" => {}
        other => report.not_supported(&at.field("operator"), other, &["In", "NotIn"]),
    }
    if let Some(name) = get(codes, "containerName").and_then(Json::as_str) {
        let containers = ["containers", "initContainers"];
        let mut all = containers
            .iter()
            .flat_map(|field| list(&spec["template"]["spec"], field));
        if !all.any(|container| text(container, "name") == name) {
            let detail = "must be one of the container or initContainer names in the pod template";
            report.invalid(&at.field("containerName"), name, detail);
        }
    }
    let at = at.field("values");
    let values: Vec<i64> = list(codes, "values").iter().filter_map(Json::as_i64).collect();
    if values.is_empty() {
        report.invalid(&at, Json::Null, "at least one value is required");
    } else if values.len() > 255 {
        report.too_many(&at, values.len(), 255);
    }
    let mut seen = BTreeSet::new();
    for (index, value) in values.iter().enumerate() {
        if operator == "In" && *value == 0 {
            report.invalid(&at.index(index), 0, "must not be 0 for the In operator");
        }
        if !seen.insert(value) {
            report.duplicate(&at.index(index), *value);
        }
    }
    if !values.is_sorted() {
        report.invalid(&at, values, "must be ordered");
    }
}

pub(super) fn success(report: &mut Report, at: &Path, spec: &Json) {
    let Some(policy) = get(spec, "successPolicy") else {
        return;
    };
    if !is_indexed(spec) {
        // The original prints its internal type, which has other names of fields.
        let rule = |rule: &Json| json!({"SucceededIndexes": rule["succeededIndexes"], "SucceededCount": rule["succeededCount"]});
        let rules: Vec<Json> = list(policy, "rules").iter().map(rule).collect();
        return report.invalid(at, json!({"Rules": rules}), "requires indexed completion mode");
    }
    let rules = list(policy, "rules");
    let at = at.field("rules");
    if rules.is_empty() {
        report.required(
            &at,
            "at least one rules must be specified when the successPolicy is specified",
        );
    }
    if rules.len() > 20 {
        report.too_many(&at, rules.len(), 20);
    }
    let completions = int(spec, "completions").unwrap_or_default();
    for (index, rule) in rules.iter().enumerate() {
        let at = at.index(index);
        if get(rule, "succeededCount").is_none() && get(rule, "succeededIndexes").is_none() {
            report.required(
                &at,
                "at least one of succeededCount or succeededIndexes must be specified",
            );
        }
        report.non_negative(&at.field("succeededCount"), &rule["succeededCount"]);
        if let Some(count) = int(rule, "succeededCount").filter(|count| *count > completions) {
            let detail =
                format!("must be less than or equal to {completions} (the number of specified completions)");
            report.invalid(&at.field("succeededCount"), count, detail);
        }
    }
}

pub(super) fn replacement(report: &mut Report, at: &Path, spec: &Json) {
    let Some(policy) = get(spec, "podReplacementPolicy").and_then(Json::as_str) else {
        return;
    };
    let supported: &[&str] = if get(spec, "podFailurePolicy").is_some() {
        &["Failed"]
    } else {
        &["Failed", "TerminatingOrFailed"]
    };
    if !supported.contains(&policy) {
        report.not_supported(at, policy, supported);
    }
}
