//! Jobs and CronJobs, after `pkg/apis/batch/validation`.

mod schedule;

use super::labels;
use super::workloads::selects;
use crate::builtin::json::{entry, flag, get, int, remove, text};
use crate::builtin::report::{Report, root};
use krator_schema::Path;
use serde_json::{Value as Json, json};

/// The fields of a Job that cannot change. The number of completions is another one, unless its pods are indexed.
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
    } else if !flag(spec, "manualSelector") {
        generated_selector(report, job, selector);
    }
    if selector.is_null() || labels::can_be_evaluated(selector) {
        selects(report, selector, &spec["template"]);
    }
    job_spec(report, &root("spec"), spec);
}

/// A Job selects its pods by labels that the server generates.
fn generated_selector(report: &mut Report, job: &Json, selector: &Json) {
    let (uid, name) = (text(job, "metadata.uid"), text(job, "metadata.name"));
    let expected = json!({
        "controller-uid": uid,
        "job-name": name,
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": name,
    });
    const LABELS: &str = "spec.template.metadata.labels";
    for (label, value) in expected.as_object().into_iter().flatten() {
        let (at, detail) = (
            root(LABELS).key(label),
            format!("must be '{}'", value.as_str().unwrap_or_default()),
        );
        match entry(job, LABELS, label) {
            None => report.required(&at, detail),
            Some(found) if found != value => {
                report.invalid(&at, get(job, LABELS).cloned().unwrap_or_default(), detail);
            }
            Some(_) => {}
        }
    }
    if labels::can_be_evaluated(selector) && !labels::selects(selector, &expected) {
        let detail = "`selector` not auto-generated";
        report.invalid(&root("spec.selector"), selector.clone(), detail);
    }
}

/// Checks that Jobs and the templates of CronJobs share.
fn job_spec(report: &mut Report, at: &Path, spec: &Json) {
    let is_indexed = text(spec, "completionMode") == "Indexed";
    if is_indexed && get(spec, "completions").is_none() {
        report.required(&at.field("completions"), "when completion mode is Indexed");
    }
    let at = at.field("template").field("spec").field("restartPolicy");
    match text(spec, "template.spec.restartPolicy") {
        "" | "Always" => report.required(&at, "valid values: \"OnFailure\", \"Never\""),
        _ => {}
    }
}

pub(in super::super) fn job_update(report: &mut Report, job: &Json, old: &Json) {
    let completions_at = root("spec.completions");
    let completions = int(job, "spec.completions");
    if text(job, "spec.completionMode") != "Indexed" {
        report.immutable(&completions_at, job, old);
    } else if completions != int(old, "spec.completions") && completions != int(job, "spec.parallelism") {
        let detail = "can only be modified in tandem with spec.parallelism";
        report.invalid(&completions_at, completions, detail);
    }
    if fixed_template(job, old) != fixed_template(old, old) {
        let template = job["spec"]["template"].clone();
        report.invalid(&root("spec.template"), template, "field is immutable");
    }
}

/// The part of the template that cannot change: while a Job is suspended and has not started, where pods run can.
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
    let schedule_at = at.field("schedule");
    let schedule = text(spec, "schedule");
    if !schedule.is_empty()
        && let Err(error) = schedule::check(schedule)
    {
        report.invalid(&schedule_at, schedule, error);
    }
    if schedule.contains("TZ") {
        let detail = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
        report.invalid(&schedule_at, schedule, detail);
    }
    if let Some(zone) = get(spec, "timeZone").and_then(Json::as_str) {
        for message in schedule::check_time_zone(zone) {
            report.invalid(&at.field("timeZone"), zone, message);
        }
    }
    let at = at.field("jobTemplate").field("spec");
    let template = &spec["jobTemplate"]["spec"];
    job_spec(report, &at, template);
    if let Some(selector) = get(template, "selector") {
        let detail = "`selector` will be auto-generated";
        report.invalid(&at.field("selector"), selector.clone(), detail);
    }
    if flag(template, "manualSelector") {
        report.not_supported(&at.field("manualSelector"), true, &["nil", "false"]);
    }
}

pub(in super::super) fn new_cron_job(report: &mut Report, cron: &Json) {
    let name = text(cron, "metadata.name");
    if name.len() > 52 {
        report.invalid(&root("metadata.name"), name, "must be no more than 52 characters");
    }
}
