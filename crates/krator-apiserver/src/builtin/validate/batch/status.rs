//! Statuses of Jobs: the counts and conditions must fit each other, and Jobs that have ended stay so.

use super::super::report::{Report, root};
use super::is_indexed;
use crate::builtin::json::{flag, get, int, list, text, texts};
use krator_schema::ProblemKind;
use serde_json::Value as Json;
use std::collections::BTreeSet;

fn is(job: &Json, type_: &str) -> bool {
    let conditions = list(job, "status.conditions");
    conditions
        .iter()
        .any(|found| text(found, "type") == type_ && text(found, "status") == "True")
}

fn is_finished(job: &Json) -> bool {
    is(job, "Complete") || is(job, "Failed")
}

/// Most rules only hold for what this update changes, so that Jobs of older servers can still be updated.
pub(in super::super) fn job_status(report: &mut Report, job: &Json, old: &Json) {
    let at = root("status");
    report.all_non_negative(
        &at,
        &job["status"],
        &["active", "succeeded", "failed", "ready", "terminating"],
    );
    uncounted(report, job);
    outcome(report, job, old);
    finished(report, job, old);
    indexes(report, job, old);
    success_criteria(report, job);
    unchanged(report, job, old);
}

fn changed(job: &Json, old: &Json, paths: &[&str]) -> bool {
    paths.iter().any(|path| get(job, path) != get(old, path))
}

fn changed_condition(job: &Json, old: &Json, type_: &str) -> bool {
    is(job, type_) != is(old, type_)
}

fn conditions(report: &mut Report, detail: &str) {
    report.without_value(&root("status.conditions"), ProblemKind::Invalid, detail);
}

fn uncounted(report: &mut Report, job: &Json) {
    let mut seen = BTreeSet::new();
    for field in ["succeeded", "failed"] {
        let at = root("status.uncountedTerminatedPods").field(field);
        for (index, uid) in texts(&job["status"]["uncountedTerminatedPods"], field)
            .into_iter()
            .enumerate()
        {
            if uid.is_empty() {
                report.invalid(&at.index(index), uid, "must not be empty");
            } else if !seen.insert(uid) {
                report.duplicate(&at.index(index), uid);
            }
        }
    }
}

fn outcome(report: &mut Report, job: &Json, old: &Json) {
    let complete_changed = changed_condition(job, old, "Complete");
    let time_changed = changed(job, old, &["status.completionTime"]);
    let (complete, failed) = (is(job, "Complete"), is(job, "Failed"));
    if (complete_changed || changed_condition(job, old, "Failed")) && complete && failed {
        conditions(report, "cannot set Complete=True and Failed=true conditions");
    }
    if (complete_changed || changed_condition(job, old, "FailureTarget"))
        && complete
        && is(job, "FailureTarget")
    {
        conditions(
            report,
            "cannot set Complete=True and FailureTarget=true conditions",
        );
    }
    let at = root("status.completionTime");
    let time = get(job, "status.completionTime");
    if complete_changed || time_changed {
        match time {
            Some(time) if !complete => {
                let detail = "cannot set completionTime when there is no Complete=True condition";
                report.invalid(&at, time.clone(), detail);
            }
            None if complete => report.required(&at, "completionTime is required for Complete jobs"),
            _ => {}
        }
    }
    let start = text(job, "status.startTime");
    if (time_changed || changed(job, old, &["status.startTime"]))
        && let Some(time) = time
        && !start.is_empty()
        && time.as_str().unwrap_or_default() < start
    {
        report.invalid(&at, time.clone(), "must be equal to or after `startTime`");
    }
    let failed_changed =
        changed_condition(job, old, "Failed") || changed(job, old, &["status.failedIndexes"]);
    if failed_changed && failed && !is(job, "FailureTarget") {
        conditions(
            report,
            "cannot set Failed=True condition without the FailureTarget=true condition",
        );
    }
    let criteria_changed = complete_changed || changed_condition(job, old, "SuccessCriteriaMet");
    if criteria_changed && complete && !is(job, "SuccessCriteriaMet") {
        conditions(
            report,
            "cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
        );
    }
}

fn finished(report: &mut Report, job: &Json, old: &Json) {
    let at = root("status");
    let now_finished = is_finished(job) != is_finished(old);
    let count = |field: &str| int(&job["status"], field).unwrap_or_default();
    let ends = |paths: &[&str]| is_finished(job) && (now_finished || changed(job, old, paths));
    if ends(&["status.active"]) && count("active") > 0 {
        report.invalid(
            &at.field("active"),
            count("active"),
            "active>0 is invalid for finished job",
        );
    }
    let ran_nothing = flag(job, "spec.suspend") && int(job, "spec.completions") == Some(0);
    if ends(&["status.startTime"]) && !ran_nothing && get(job, "status.startTime").is_none() {
        report.required(&at.field("startTime"), "startTime is required for finished job");
    }
    let pods = &job["status"]["uncountedTerminatedPods"];
    let any_pods = !list(pods, "succeeded").is_empty() || !list(pods, "failed").is_empty();
    if ends(&["status.uncountedTerminatedPods"]) && any_pods {
        report.invalid(
            &at.field("uncountedTerminatedPods"),
            pods.clone(),
            "must be empty for finished job",
        );
    }
    if ends(&["status.terminating"]) && count("terminating") > 0 {
        let detail = "terminating>0 is invalid for finished job";
        report.invalid(&at.field("terminating"), count("terminating"), detail);
    }
    let has_ready = get(job, "status.ready").is_some();
    if has_ready && changed(job, old, &["status.ready", "status.active"]) && count("ready") > count("active")
    {
        report.invalid(
            &at.field("ready"),
            count("ready"),
            "cannot set more ready pods than active",
        );
    }
}

fn indexes(report: &mut Report, job: &Json, old: &Json) {
    let at = root("status");
    let completed = text(job, "status.completedIndexes");
    if changed(job, old, &["status.completedIndexes"]) {
        let detail = indexes_error(completed, int(job, "spec.completions"));
        if let Some(detail) = detail {
            let detail = format!("error parsing completedIndexes: {detail}");
            report.invalid(&at.field("completedIndexes"), completed, detail);
        }
        if !completed.is_empty() && !is_indexed(&job["spec"]) {
            let detail = "cannot set non-empty completedIndexes when non-indexed completion mode";
            report.invalid(&at.field("completedIndexes"), completed, detail);
        }
    }
    if let (true, Some(failed)) = (
        changed(job, old, &["status.failedIndexes"]),
        get(job, "status.failedIndexes").and_then(Json::as_str),
    ) {
        let at = at.field("failedIndexes");
        if get(job, "spec.backoffLimitPerIndex").is_none() {
            report.invalid(
                &at,
                failed,
                "cannot set non-null failedIndexes when backoffLimitPerIndex is null",
            );
        } else if let Some(detail) = indexes_error(failed, int(job, "spec.completions")) {
            report.invalid(&at, failed, format!("error parsing failedIndexes: {detail}"));
        }
    }
}

/// What is wrong with a list of indexes such as `0,3-5`.
fn indexes_error(text: &str, completions: Option<i64>) -> Option<String> {
    let completions = completions?;
    let mut last: Option<i64> = None;
    for interval in text.split(',').filter(|_| !text.is_empty()) {
        let ends: Vec<&str> = interval.split('-').collect();
        if ends.len() > 2 {
            return Some(format!(
                "the fragment {interval:?} violates the requirement that an index interval can have at most two parts separated by '-'"
            ));
        }
        for end in ends {
            let Ok(index) = end.parse::<i64>() else {
                return Some(format!("cannot convert string to integer for index: {end:?}"));
            };
            if index >= completions {
                return Some(format!("too large index: {end:?}"));
            }
            if let Some(last) = last.filter(|last| *last >= index) {
                return Some(format!(
                    "non-increasing order, previous: {last}, current: {index}"
                ));
            }
            last = Some(index);
        }
    }
    None
}

fn success_criteria(report: &mut Report, job: &Json) {
    let met = is(job, "SuccessCriteriaMet");
    if met && is(job, "Failed") {
        conditions(
            report,
            "cannot set SuccessCriteriaMet=True and Failed=true conditions",
        );
    }
    if met && is(job, "FailureTarget") {
        conditions(
            report,
            "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions",
        );
    }
    if get(job, "spec.successPolicy").is_some() && !met && is(job, "Complete") {
        conditions(
            report,
            "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True",
        );
    }
}

/// What cannot be taken back.
fn unchanged(report: &mut Report, job: &Json, old: &Json) {
    let at = root("status");
    for type_ in ["Failed", "Complete", "FailureTarget"] {
        if is(old, type_) && !is(job, type_) {
            conditions(
                report,
                &format!("cannot disable the terminal {type_}=True condition"),
            );
        }
    }
    let elastic = is_indexed(&job["spec"]) && get(job, "spec.completions") == get(job, "spec.parallelism");
    for (field, checked) in [("failed", true), ("succeeded", !elastic)] {
        let count = |job: &Json| int(&job["status"], field).unwrap_or_default();
        if checked && count(job) < count(old) {
            report.invalid(
                &at.field(field),
                count(job),
                format!("cannot decrease the {field} counter"),
            );
        }
    }
    let time = |job: &Json, field: &str| get(&job["status"], field).cloned();
    if let (Some(new), Some(before)) = (time(job, "completionTime"), time(old, "completionTime"))
        && new != before
    {
        report.invalid(&at.field("completionTime"), new, "field is immutable");
    }
    let started = time(old, "startTime").is_some_and(|before| time(job, "startTime") != Some(before));
    let was_suspended = {
        let of = |job: &Json, status: &str| {
            let conditions = list(job, "status.conditions");
            conditions
                .iter()
                .any(|found| text(found, "type") == "Suspended" && text(found, "status") == status)
        };
        of(old, "True") && of(job, "False")
    };
    if started && !was_suspended && !flag(job, "spec.suspend") {
        let detail = "field is immutable for unsuspended job once set";
        report.invalid(
            &at.field("startTime"),
            time(job, "startTime").unwrap_or_default(),
            detail,
        );
    }
    if is(old, "SuccessCriteriaMet") && !is(job, "SuccessCriteriaMet") {
        conditions(report, "cannot disable the SuccessCriteriaMet=True condition");
    }
    if is(old, "Complete") && !is(old, "SuccessCriteriaMet") && is(job, "SuccessCriteriaMet") {
        conditions(
            report,
            "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions",
        );
    }
}
