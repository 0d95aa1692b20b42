//! Jobs and CronJobs, after `pkg/apis/batch/validation`.

mod schedule;

use super::labels;
use super::workloads::selects;
use crate::builtin::json::{entry, flag, get, int, remove, text};
use crate::builtin::report::{Report, below, root};
use krator_schema::Path;
use serde_json::{Value as Json, json};

/// The immutable fields of a Job. The number of completions is immutable, too, unless its pods are indexed.
pub(in super::super) const IMMUTABLE: &[&str] = &[
    "spec.selector",
    "spec.completionMode",
    "spec.podFailurePolicy",
    "spec.backoffLimitPerIndex",
    "spec.managedBy",
    "spec.successPolicy",
];

pub(in super::super) fn job(report: &mut Report, job: &Json) {
    let spec = &job["spec"];
    let selector = &spec["selector"];
    if selector.is_null() {
        report.required(&root("spec.selector"), "");
    }
    if selector.is_null() || labels::can_be_evaluated(selector) {
        selects(report, selector, &spec["template"]);
    }
    job_spec(report, &root("spec"), spec);
}

/// Validates the selector and the labels that the server generates for a new Job. Updates cannot change them, so they
/// are compared with the uid only here.
pub(in super::super) fn new_job(report: &mut Report, job: &Json) {
    let selector = &job["spec"]["selector"];
    if selector.is_null() || flag(&job["spec"], "manualSelector") {
        return;
    }
    let (uid, name) = (text(job, "metadata.uid"), text(job, "metadata.name"));
    let expected = json!({
        "controller-uid": uid,
        "job-name": name,
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": name,
    });
    const LABELS: &str = "spec.template.metadata.labels";
    for (label, value) in expected.as_object().into_iter().flatten() {
        let at = root(LABELS).key(label);
        match entry(job, LABELS, label) {
            None => report.required(&at, "the server sets it"),
            found => report.unless(found == Some(value), &at, found.cloned(), "the server sets it"),
        }
    }
    let is_generated = !labels::can_be_evaluated(selector) || labels::selects(selector, &expected);
    report.unless(
        is_generated,
        &root("spec.selector"),
        selector.clone(),
        "the server generates it",
    );
}

/// The rules that Jobs and the templates of CronJobs share.
fn job_spec(report: &mut Report, at: &Path, spec: &Json) {
    let is_indexed = text(spec, "completionMode") == "Indexed";
    if is_indexed && get(spec, "completions").is_none() {
        report.required(&at.field("completions"), "when completion mode is Indexed");
    }
    if matches!(text(spec, "template.spec.restartPolicy"), "" | "Always") {
        let at = below(at, "template.spec.restartPolicy");
        report.required(&at, "valid values: \"OnFailure\", \"Never\"");
    }
}

pub(in super::super) fn job_update(report: &mut Report, job: &Json, old: &Json) {
    let completions_at = root("spec.completions");
    let completions = int(job, "spec.completions");
    if text(job, "spec.completionMode") != "Indexed" {
        report.immutable(&completions_at, job, old);
    } else if completions != int(old, "spec.completions") && completions != int(job, "spec.parallelism") {
        report.invalid(
            &completions_at,
            completions,
            "can only change with spec.parallelism",
        );
    }
    let is_same = fixed_template(job, old) == fixed_template(old, old);
    let template = job["spec"]["template"].clone();
    report.unless(is_same, &root("spec.template"), template, "field is immutable");
}

/// The part of the template that is immutable. While a Job is suspended and has not started, fields that affect
/// scheduling are mutable.
fn fixed_template(job: &Json, old: &Json) -> Json {
    let mut template = job["spec"]["template"].clone();
    if flag(old, "spec.suspend") && get(old, "status.startTime").is_none() {
        for path in [
            "spec.affinity",
            "spec.nodeSelector",
            "spec.tolerations",
            "spec.schedulingGates",
            "metadata.annotations",
            "metadata.labels",
        ] {
            remove(&mut template, path);
        }
    }
    template
}

pub(in super::super) fn cron_job(report: &mut Report, cron: &Json) {
    let (at, spec) = (root("spec"), &cron["spec"]);
    let schedule = text(spec, "schedule");
    let is_schedule = schedule.is_empty() || schedule::is_schedule(schedule) && !schedule.contains("TZ");
    let detail = "must be five fields of cron, or a name such as `@daily`; `timeZone` has the zone";
    report.unless(is_schedule, &at.field("schedule"), schedule, detail);
    if let Some(zone) = get(spec, "timeZone").and_then(Json::as_str) {
        let detail = "must be the name of a time zone, such as `Europe/Paris`";
        report.unless(schedule::is_time_zone(zone), &at.field("timeZone"), zone, detail);
    }
    let at = below(&at, "jobTemplate.spec");
    let template = &spec["jobTemplate"]["spec"];
    job_spec(report, &at, template);
    if let Some(selector) = get(template, "selector") {
        report.invalid(&at.field("selector"), selector.clone(), "the server generates it");
    }
    if flag(template, "manualSelector") {
        report.one_of(&at.field("manualSelector"), "true", &["nil", "false"]);
    }
}

pub(in super::super) fn new_cron_job(report: &mut Report, cron: &Json) {
    let name = text(cron, "metadata.name");
    let detail = "must be no more than 52 characters";
    report.unless(name.len() <= 52, &root("metadata.name"), name, detail);
}
