//! Where pods run: affinity, tolerations, spread and gates.

use super::labels;
use super::report::Report;
use crate::builtin::json::{get, int, list, text, texts};
use crate::builtin::names;
use krator_schema::Path;
use serde_json::Value as Json;
use std::collections::BTreeSet;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

pub(super) fn affinity(report: &mut Report, at: &Path, affinity: &Json) {
    if let Some(node) = get(affinity, "nodeAffinity") {
        node_affinity(report, &at.field("nodeAffinity"), node);
    }
    for field in ["podAffinity", "podAntiAffinity"] {
        let (here, terms) = (at.field(field), &affinity[field]);
        for (index, term) in list(terms, REQUIRED).iter().enumerate() {
            pod_term(report, &here.field(REQUIRED).index(index), term);
        }
        for (index, term) in list(terms, PREFERRED).iter().enumerate() {
            let at = here.field(PREFERRED).index(index);
            weight(report, &at, term);
            pod_term(report, &at.field("podAffinityTerm"), &term["podAffinityTerm"]);
        }
    }
}

fn weight(report: &mut Report, at: &Path, term: &Json) {
    let weight = int(term, "weight").unwrap_or_default();
    if !(1..=100).contains(&weight) {
        report.invalid(&at.field("weight"), weight, "must be in the range 1-100");
    }
}

fn node_affinity(report: &mut Report, at: &Path, affinity: &Json) {
    if let Some(required) = get(affinity, REQUIRED) {
        let at = at.field(REQUIRED).field("nodeSelectorTerms");
        let terms = list(required, "nodeSelectorTerms");
        if terms.is_empty() {
            report.required(&at, "must have at least one node selector term");
        }
        for (index, term) in terms.iter().enumerate() {
            node_term(report, &at.index(index), term, true);
        }
    }
    for (index, term) in list(affinity, PREFERRED).iter().enumerate() {
        let at = at.field(PREFERRED).index(index);
        weight(report, &at, term);
        node_term(report, &at.field("preference"), &term["preference"], false);
    }
}

fn node_term(report: &mut Report, at: &Path, term: &Json, check_values: bool) {
    for (index, requirement) in list(term, "matchExpressions").iter().enumerate() {
        let at = at.field("matchExpressions").index(index);
        let values = texts(requirement, "values");
        let values_at = at.field("values");
        match text(requirement, "operator") {
            "In" | "NotIn" if values.is_empty() => {
                report.required(&values_at, "must be specified when `operator` is 'In' or 'NotIn'");
            }
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                report.forbidden(
                    &values_at,
                    "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
                );
            }
            "Gt" | "Lt" if values.len() != 1 => {
                report.required(
                    &values_at,
                    "must be specified single value when `operator` is 'Lt' or 'Gt'",
                );
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
            operator => report.invalid(&at.field("operator"), operator, "not a valid selector operator"),
        }
        let key = text(requirement, "key");
        report.messages(&at.field("key"), key, names::qualified(key));
        if check_values {
            for (index, value) in values.into_iter().enumerate() {
                report.messages(&values_at.index(index), value, names::label_value(value));
            }
        }
    }
}

fn pod_term(report: &mut Report, at: &Path, term: &Json) {
    labels::selector(report, &at.field("labelSelector"), &term["labelSelector"]);
    labels::selector(report, &at.field("namespaceSelector"), &term["namespaceSelector"]);
    for name in texts(term, "namespaces") {
        report.messages(&at.field("namespace"), name, names::label(name));
    }
    label_keys(report, at, term);
    let key = text(term, "topologyKey");
    if key.is_empty() {
        report.required(&at.field("topologyKey"), "can not be empty");
    }
    report.messages(&at.field("topologyKey"), key, names::qualified(key));
}

/// `matchLabelKeys` and `mismatchLabelKeys`.
fn label_keys(report: &mut Report, at: &Path, term: &Json) {
    let mismatch = texts(term, "mismatchLabelKeys");
    for field in ["matchLabelKeys", "mismatchLabelKeys"] {
        let keys = texts(term, field);
        if !keys.is_empty() && get(term, "labelSelector").is_none() {
            report.forbidden(
                &at.field(field),
                "must not be specified when labelSelector is not set",
            );
        }
        for (index, key) in keys.into_iter().enumerate() {
            report.messages(&at.field(field).index(index), key, names::qualified(key));
        }
    }
    for (index, key) in texts(term, "matchLabelKeys").into_iter().enumerate() {
        if mismatch.contains(&key) {
            let detail = "exists in both matchLabelKeys and mismatchLabelKeys";
            report.invalid(&at.field("matchLabelKeys").index(index), key, detail);
        }
    }
}

/// After `ValidateTolerations`.
pub(super) fn tolerations(report: &mut Report, at: &Path, tolerations: &[Json]) {
    for (index, toleration) in tolerations.iter().enumerate() {
        let at = at.index(index);
        let (key, operator) = (text(toleration, "key"), text(toleration, "operator"));
        let (value, effect) = (text(toleration, "value"), text(toleration, "effect"));
        if !key.is_empty() {
            report.messages(&at.field("key"), key, names::qualified(key));
        }
        if key.is_empty() && operator != "Exists" {
            let detail =
                "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            report.invalid(&at.field("operator"), operator, detail);
        }
        if get(toleration, "tolerationSeconds").is_some() && effect != "NoExecute" {
            let detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
            report.invalid(&at.field("effect"), effect, detail);
        }
        match operator {
            "Equal" | "" => {
                let messages = names::label_value(value);
                if !messages.is_empty() {
                    report.invalid(&at.field("operator"), value, messages.join(";"));
                }
            }
            "Exists" if !value.is_empty() => {
                report.invalid(
                    &at.field("operator"),
                    value,
                    "value must be empty when `operator` is 'Exists'",
                );
            }
            "Exists" => {}
            "Lt" | "Gt" => {
                report.not_supported(&at.field("operator"), operator, &["Equal", "Exists", "Lt", "Gt"])
            }
            _ => report.not_supported(&at.field("operator"), operator, &["Equal", "Exists"]),
        }
        if !effect.is_empty() {
            const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
            report.one_of(&at.field("effect"), effect, &EFFECTS);
        }
    }
}

/// A pod that exists can get more tolerations, and other times in those that it has.
pub(super) fn only_added_tolerations(report: &mut Report, at: &Path, pod: &Json, old: &Json) {
    let same = |new: &Json, old: &Json| {
        ["key", "operator", "value", "effect"]
            .iter()
            .all(|field| text(new, field) == text(old, field))
    };
    let new = list(pod, "spec.tolerations");
    if list(old, "spec.tolerations")
        .iter()
        .any(|old| !new.iter().any(|new| same(new, old)))
    {
        return report.forbidden(
            at,
            "existing toleration can not be modified except its tolerationSeconds",
        );
    }
    tolerations(report, at, new);
}

pub(super) fn gates(report: &mut Report, at: &Path, gates: &[Json]) {
    let mut seen = BTreeSet::new();
    for (index, gate) in gates.iter().enumerate() {
        let name = text(gate, "name");
        report.messages(&at.index(index), name, names::qualified(name));
        if !seen.insert(name) {
            report.duplicate(&at.index(index), name);
        }
    }
}

/// A pod that exists can only lose gates.
pub(super) fn only_removed_gates(report: &mut Report, at: &Path, pod: &Json, old: &Json) {
    let before: Vec<&str> = list(old, "spec.schedulingGates")
        .iter()
        .map(|gate| text(gate, "name"))
        .collect();
    for (index, gate) in list(pod, "spec.schedulingGates").iter().enumerate() {
        let name = text(gate, "name");
        if !before.contains(&name) {
            let detail = format!("only deletion is allowed, but found new scheduling gate '{name}'");
            report.forbidden(&at.index(index).field("name"), detail);
        }
    }
}

/// After `validateTopologySpreadConstraints`.
pub(super) fn spread(report: &mut Report, at: &Path, spec: &Json) {
    let constraints = list(spec, "topologySpreadConstraints");
    for (index, constraint) in constraints.iter().enumerate() {
        let at = at.index(index);
        let skew = int(constraint, "maxSkew").unwrap_or_default();
        if skew <= 0 {
            report.invalid(&at.field("maxSkew"), skew, "must be greater than zero");
        }
        let (key, action) = (
            text(constraint, "topologyKey"),
            text(constraint, "whenUnsatisfiable"),
        );
        if key.is_empty() {
            report.required(&at.field("topologyKey"), "can not be empty");
        }
        const ACTIONS: [&str; 2] = ["DoNotSchedule", "ScheduleAnyway"];
        if !ACTIONS.contains(&action) {
            report.not_supported(&at.field("whenUnsatisfiable"), action, &ACTIONS);
        }
        let same =
            |other: &Json| text(other, "topologyKey") == key && text(other, "whenUnsatisfiable") == action;
        if constraints[index + 1..].iter().any(same) {
            report.duplicate(
                &at.field("{topologyKey, whenUnsatisfiable}"),
                format!("{{{key}, {action}}}"),
            );
        }
        if let Some(domains) = int(constraint, "minDomains") {
            if domains <= 0 {
                report.invalid(&at.field("minDomains"), domains, "must be greater than zero");
            }
            if action != "DoNotSchedule" {
                let detail =
                    format!("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}");
                report.invalid(&at.field("minDomains"), domains, detail);
            }
        }
        for field in ["nodeAffinityPolicy", "nodeTaintsPolicy"] {
            if let Some(policy) = get(constraint, field).and_then(Json::as_str)
                && !["Honor", "Ignore"].contains(&policy)
            {
                report.not_supported(&at.field(field), policy, &["Honor", "Ignore"]);
            }
        }
        label_keys(report, &at, constraint);
        labels::selector(report, &at.field("labelSelector"), &constraint["labelSelector"]);
    }
}
