//! Rows of workloads.

use super::{
    age, containers, has_condition, labels, number, selector, selector_of, selector_or_none, text_or,
};
use crate::builtin::json::{flag, get, int, list, text};
use crate::builtin::times::{human_duration, read_time};
use serde_json::{Value as Json, json};

const CONTAINERS: &str = "spec.template.spec.containers";

fn count(object: &Json, field: &str) -> Json {
    json!(number(object, field))
}

/// ReplicaSets and ReplicationControllers.
pub(in super::super) fn replicas(object: &Json, _now: i64) -> Vec<Json> {
    let [names, images] = containers(object, CONTAINERS);
    vec![
        count(object, "spec.replicas"),
        count(object, "status.replicas"),
        count(object, "status.readyReplicas"),
        names,
        images,
        json!(selector_of(&object["spec"]["selector"])),
    ]
}

fn ready(object: &Json) -> Json {
    let (ready, all) = (
        number(object, "status.readyReplicas"),
        number(object, "spec.replicas"),
    );
    json!(format!("{ready}/{all}"))
}

pub(in super::super) fn deployment(object: &Json, _now: i64) -> Vec<Json> {
    let [names, images] = containers(object, CONTAINERS);
    vec![
        ready(object),
        count(object, "status.updatedReplicas"),
        count(object, "status.availableReplicas"),
        names,
        images,
        json!(selector(&object["spec"]["selector"])),
    ]
}

pub(in super::super) fn stateful_set(object: &Json, _now: i64) -> Vec<Json> {
    let [names, images] = containers(object, CONTAINERS);
    vec![ready(object), names, images]
}

pub(in super::super) fn daemon_set(object: &Json, _now: i64) -> Vec<Json> {
    let [names, images] = containers(object, CONTAINERS);
    vec![
        count(object, "status.desiredNumberScheduled"),
        count(object, "status.currentNumberScheduled"),
        count(object, "status.numberReady"),
        count(object, "status.updatedNumberScheduled"),
        count(object, "status.numberAvailable"),
        json!(labels(&object["spec"]["template"]["spec"]["nodeSelector"])),
        names,
        images,
        json!(selector_or_none(&object["spec"]["selector"])),
    ]
}

pub(in super::super) fn job(object: &Json, now: i64) -> Vec<Json> {
    let [names, images] = containers(object, CONTAINERS);
    let succeeded = number(object, "status.succeeded");
    let completions = match (
        int(object, "spec.completions"),
        number(object, "spec.parallelism"),
    ) {
        (Some(completions), _) => format!("{succeeded}/{completions}"),
        (None, parallelism) if parallelism > 1 => format!("{succeeded}/1 of {parallelism}"),
        (None, _) => format!("{succeeded}/1"),
    };
    let time = |path: &str| read_time(text(object, path)).map(|time| time.as_second());
    let duration = time("status.startTime").map_or(String::new(), |start| {
        human_duration(time("status.completionTime").unwrap_or(now) - start)
    });
    vec![
        json!(job_status(object)),
        json!(completions),
        json!(duration),
        names,
        images,
        json!(selector_or_none(&object["spec"]["selector"])),
    ]
}

fn job_status(job: &Json) -> &'static str {
    let conditions = list(job, "status.conditions");
    let is = |type_: &str| has_condition(conditions, type_);
    match () {
        () if is("Complete") => "Complete",
        () if is("Failed") => "Failed",
        () if get(job, "metadata.deletionTimestamp").is_some() => "Terminating",
        () if is("Suspended") => "Suspended",
        () if is("FailureTarget") => "FailureTarget",
        () if is("SuccessCriteriaMet") => "SuccessCriteriaMet",
        () => "Running",
    }
}

pub(in super::super) fn cron_job(object: &Json, now: i64) -> Vec<Json> {
    let [names, images] = containers(object, "spec.jobTemplate.spec.template.spec.containers");
    let last = get(object, "status.lastScheduleTime");
    let suspend = match get(object, "spec.suspend") {
        Some(_) if flag(object, "spec.suspend") => "True",
        Some(_) => "False",
        None => "<unset>",
    };
    vec![
        json!(text(object, "spec.schedule")),
        json!(text_or(object, "spec.timeZone", "<none>")),
        json!(suspend),
        json!(list(object, "status.active").len()),
        json!(last.map_or("<none>".to_owned(), |last| age(Some(last), now))),
        names,
        images,
        json!(selector_or_none(
            &object["spec"]["jobTemplate"]["spec"]["selector"]
        )),
    ]
}
