//! Jobs and CronJobs, after `pkg/apis/batch/validation`.

mod policies;
mod schedule;
mod status;

pub(super) use status::job_status;

use super::report::{Report, root};
use super::{labels, pods};
use crate::builtin::json::{entry, flag, get, int, remove, text};
use crate::builtin::names;
use krator_schema::Path;
use serde_json::{Value as Json, json};

const MOST_PARALLEL_INDEXED: i64 = 100_000;
const MOST_FAILED_INDEXES: i64 = 100_000;
/// Above so many completions, with limits for each index, other limits are lower.
const MANY_COMPLETIONS: i64 = 100_000;
const LIMIT_FOR_MANY: i64 = 10_000;

/// The labels by which a Job knows its pods, with what they have to be.
fn generated_labels(job: &Json) -> [(&'static str, &str); 4] {
    let (uid, name) = (text(job, "metadata.uid"), text(job, "metadata.name"));
    [
        ("controller-uid", uid),
        ("job-name", name),
        ("batch.kubernetes.io/controller-uid", uid),
        ("batch.kubernetes.io/job-name", name),
    ]
}

pub(super) fn job(report: &mut Report, job: &Json) {
    generated_selector(report, job);
    spec_of_job(report, &job["spec"]);
    if let (true, Some(completions)) = (
        is_indexed(&job["spec"]),
        int(job, "spec.completions").filter(|n| *n > 0),
    ) {
        let name = text(job, "metadata.name");
        let host = format!("{name}-{}", completions - 1);
        if !names::label(&host).is_empty() {
            let detail = format!("will not able to create pod with invalid DNS label: {host}");
            report.invalid(&root("metadata.name"), name, detail);
        }
    }
}

fn generated_selector(report: &mut Report, job: &Json) {
    if flag(job, "spec.manualSelector") || get(job, "spec.selector").is_none() {
        return;
    }
    if text(job, "metadata.uid").is_empty() {
        report.required(&root("metadata.uid"), "");
    }
    const LABELS: &str = "spec.template.metadata.labels";
    let mut expected = json!({});
    for (label, value) in generated_labels(job) {
        let at = root(LABELS).key(label);
        let detail = format!("must be '{value}'");
        match entry(job, LABELS, label) {
            None => report.required(&at, detail),
            Some(found) if found.as_str() != Some(value) => {
                report.invalid(&at, get(job, LABELS).cloned().unwrap_or_default(), detail);
            }
            Some(_) => {}
        }
        expected[label] = json!(value);
    }
    let selector = &job["spec"]["selector"];
    if labels::can_be_evaluated(selector) && !labels::selects(selector, &expected) {
        report.invalid(
            &root("spec.selector"),
            selector.clone(),
            "`selector` not auto-generated",
        );
    }
}

fn spec_of_job(report: &mut Report, spec: &Json) {
    let at = root("spec");
    job_spec(report, &at, spec);
    let selector = get(spec, "selector");
    match selector {
        Some(selector) => labels::selector(report, &at.field("selector"), selector),
        None => report.required(&at.field("selector"), ""),
    }
    let found = &spec["template"]["metadata"]["labels"];
    // No selector selects nothing.
    let misses = |selector| labels::can_be_evaluated(selector) && !labels::selects(selector, found);
    if selector.is_none_or(misses) {
        let at = at.field("template").field("metadata").field("labels");
        report.invalid(&at, found.clone(), "`selector` does not match template `labels`");
    }
}

fn is_indexed(spec: &Json) -> bool {
    text(spec, "completionMode") == "Indexed"
}

/// What Jobs and the templates of CronJobs have in common.
fn job_spec(report: &mut Report, at: &Path, spec: &Json) {
    const COUNTS: [&str; 7] = [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    ];
    report.all_non_negative(at, spec, &COUNTS);
    let per_index = get(spec, "backoffLimitPerIndex");
    if get(spec, "maxFailedIndexes").is_some() && per_index.is_none() {
        report.required(
            &at.field("backoffLimitPerIndex"),
            "when maxFailedIndexes is specified",
        );
    }
    if let Some(manager) = get(spec, "managedBy").and_then(Json::as_str) {
        domain_path(report, &at.field("managedBy"), manager);
        if manager.len() > 63 {
            report.too_long(&at.field("managedBy"), 63);
        }
    }
    let mode = text(spec, "completionMode");
    if !matches!(mode, "" | "NonIndexed" | "Indexed") {
        report.not_supported(&at.field("completionMode"), mode, &["NonIndexed", "Indexed"]);
    }
    if is_indexed(spec) {
        indexed(report, at, spec);
    }
    if matches!(mode, "" | "NonIndexed") {
        for field in ["backoffLimitPerIndex", "maxFailedIndexes"] {
            if let Some(value) = get(spec, field) {
                report.invalid(
                    &at.field(field),
                    value.clone(),
                    "requires indexed completion mode",
                );
            }
        }
    }
    policies::failure(report, &at.field("podFailurePolicy"), spec);
    policies::success(report, &at.field("successPolicy"), spec);
    policies::replacement(report, &at.field("podReplacementPolicy"), spec);
    pods::template(report, &at.field("template"), &spec["template"]);
    restart_policy(report, at, spec);
}

fn restart_policy(report: &mut Report, at: &Path, spec: &Json) {
    let at = at.field("template").field("spec").field("restartPolicy");
    match text(spec, "template.spec.restartPolicy") {
        "" | "Always" => report.required(&at, "valid values: \"OnFailure\", \"Never\""),
        "Never" => {}
        "OnFailure" => {
            if get(spec, "podFailurePolicy").is_some() {
                let detail = "only \"Never\" is supported when podFailurePolicy is specified";
                report.invalid(&at, "OnFailure", detail);
            }
        }
        policy => report.not_supported(&at, policy, &["OnFailure", "Never"]),
    }
}

fn indexed(report: &mut Report, at: &Path, spec: &Json) {
    let completions = int(spec, "completions");
    let parallelism = int(spec, "parallelism").unwrap_or_default();
    let failed = int(spec, "maxFailedIndexes");
    let (parallelism_at, failed_at) = (at.field("parallelism"), at.field("maxFailedIndexes"));
    if completions.is_none() {
        report.required(&at.field("completions"), "when completion mode is Indexed");
    }
    if parallelism > MOST_PARALLEL_INDEXED {
        let detail =
            format!("must be less than or equal to {MOST_PARALLEL_INDEXED} when completion mode is Indexed");
        report.invalid(&parallelism_at, parallelism, detail);
    }
    if let (Some(completions), Some(failed)) = (completions, failed)
        && failed > completions
    {
        report.invalid(&failed_at, failed, "must be less than or equal to completions");
    }
    if let Some(failed) = failed.filter(|failed| *failed > MOST_FAILED_INDEXES) {
        report.invalid(
            &failed_at,
            failed,
            format!("must be less than or equal to {MOST_FAILED_INDEXES}"),
        );
    }
    if completions.is_none_or(|count| count <= MANY_COMPLETIONS)
        || get(spec, "backoffLimitPerIndex").is_none()
    {
        return;
    }
    let detail = format!(
        "must be less than or equal to {LIMIT_FOR_MANY} when completions are above {MANY_COMPLETIONS} and used with backoff limit per index"
    );
    if failed.is_none() {
        report.required(
            &failed_at,
            format!("must be specified when completions is above {MANY_COMPLETIONS}"),
        );
    }
    if parallelism > LIMIT_FOR_MANY {
        report.invalid(&parallelism_at, parallelism, detail.clone());
    }
    if let Some(failed) = failed.filter(|failed| *failed > LIMIT_FOR_MANY) {
        report.invalid(&failed_at, failed, detail);
    }
}

/// A domain and a path, such as `acme.io/foo`.
pub(super) fn domain_path(report: &mut Report, at: &Path, value: &str) {
    match value.split_once('/') {
        _ if value.is_empty() => report.required(at, ""),
        Some((domain, path)) if !domain.is_empty() && !path.is_empty() => {
            report.messages(at, domain, names::subdomain(domain));
            report.messages(at, path, names::http_path(path));
        }
        _ => report.invalid(
            at,
            value,
            "must be a domain-prefixed path (such as \"acme.io/foo\")",
        ),
    }
}

pub(super) fn job_update(report: &mut Report, job: &Json, old: &Json) {
    self::job(report, job);
    // The original checks the spec a second time.
    spec_of_job(report, &job["spec"]);
    let at = root("spec");
    let (spec, old_spec) = (&job["spec"], &old["spec"]);
    if !is_indexed(spec) {
        report.immutable(&at.field("completions"), job, old);
    } else if let Some(count) =
        int(spec, "completions").filter(|count| Some(*count) != int(old_spec, "completions"))
        && Some(count) != int(spec, "parallelism")
    {
        report.invalid(
            &at.field("completions"),
            count,
            "can only be modified in tandem with spec.parallelism",
        );
    }
    report.immutable(&at.field("selector"), job, old);
    if fixed_template(spec, old_spec, old) != fixed_template(old_spec, old_spec, old) {
        // The original prints the value with the names of its internal types.
        report.invalid(
            &at.field("template"),
            spec["template"].clone(),
            "field is immutable",
        );
    }
    for field in [
        "completionMode",
        "podFailurePolicy",
        "backoffLimitPerIndex",
        "managedBy",
        "successPolicy",
    ] {
        report.immutable(&at.field(field), job, old);
    }
}

/// The part of the template that cannot change: while a Job is suspended and has not started, where pods run can.
fn fixed_template(spec: &Json, old_spec: &Json, old: &Json) -> Json {
    let mut template = spec["template"].clone();
    let not_started = get(old, "status.startTime").is_none();
    if flag(old_spec, "suspend") && not_started {
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

/// `old` is the CronJob as it was.
pub(super) fn cron_job(report: &mut Report, cron: &Json, old: Option<&Json>) {
    let (at, spec) = (root("spec"), &cron["spec"]);
    let schedule_at = at.field("schedule");
    let schedule = text(spec, "schedule");
    if schedule.is_empty() {
        report.required(&schedule_at, "");
    } else {
        if let Err(error) = schedule::check(schedule) {
            report.invalid(&schedule_at, schedule, error);
        }
        let had_zone = old.is_some_and(|old| text(old, "spec.schedule").contains("TZ"));
        if schedule.contains("TZ") && !had_zone {
            let detail = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead";
            report.invalid(&schedule_at, schedule, detail);
        } else if schedule.contains("TZ") && get(spec, "timeZone").is_some() {
            let detail = "cannot use both timeZone field and TZ or CRON_TZ in schedule";
            report.invalid(&schedule_at, schedule, detail);
        }
    }
    report.non_negative(
        &at.field("startingDeadlineSeconds"),
        &spec["startingDeadlineSeconds"],
    );
    if let Some(zone) = get(spec, "timeZone").and_then(Json::as_str)
        && old.is_none_or(|old| text(old, "spec.timeZone") != zone)
    {
        for message in schedule::check_time_zone(zone) {
            report.invalid(&at.field("timeZone"), zone, message);
        }
    }
    report.one_of(
        &at.field("concurrencyPolicy"),
        text(spec, "concurrencyPolicy"),
        &["Allow", "Forbid", "Replace"],
    );
    let template_at = at.field("jobTemplate").field("spec");
    let template = &spec["jobTemplate"]["spec"];
    job_spec(report, &template_at, template);
    if let Some(selector) = get(template, "selector") {
        report.invalid(
            &template_at.field("selector"),
            selector.clone(),
            "`selector` will be auto-generated",
        );
    }
    if flag(template, "manualSelector") {
        report.not_supported(&template_at.field("manualSelector"), true, &["nil", "false"]);
    }
    report.all_non_negative(
        &at,
        spec,
        &["successfulJobsHistoryLimit", "failedJobsHistoryLimit"],
    );
    let name = text(cron, "metadata.name");
    if old.is_none() && name.len() > 52 {
        report.invalid(&root("metadata.name"), name, "must be no more than 52 characters");
    }
}
