//! Rows of the kinds that keep pods running.

use super::{
    age as age_of, containers, has_condition, labels, number, selector, selector_of, selector_or_none,
    text_or,
};
use crate::builtin::json::{flag, get, int, list, text};
use crate::builtin::times::{human_duration, read_time};
use serde_json::{Value as Json, json};

fn name(object: &Json) -> Json {
    json!(text(object, "metadata.name"))
}

fn template_containers(object: &Json) -> [Json; 2] {
    containers(list(object, "spec.template.spec.containers"))
}

/// ReplicaSets and ReplicationControllers, whose selectors are only labels.
pub(super) fn replicas(object: &Json, age: String) -> Vec<Json> {
    let [names, images] = template_containers(object);
    vec![
        name(object),
        json!(number(object, "spec.replicas")),
        json!(number(object, "status.replicas")),
        json!(number(object, "status.readyReplicas")),
        json!(age),
        names,
        images,
        json!(selector_of(&object["spec"]["selector"])),
    ]
}

fn ready(object: &Json) -> Json {
    json!(format!(
        "{}/{}",
        number(object, "status.readyReplicas"),
        number(object, "spec.replicas")
    ))
}

pub(super) fn deployment(object: &Json, age: String) -> Vec<Json> {
    let [names, images] = template_containers(object);
    vec![
        name(object),
        ready(object),
        json!(number(object, "status.updatedReplicas")),
        json!(number(object, "status.availableReplicas")),
        json!(age),
        names,
        images,
        json!(selector(&object["spec"]["selector"])),
    ]
}

pub(super) fn stateful_set(object: &Json, age: String) -> Vec<Json> {
    let [names, images] = template_containers(object);
    vec![name(object), ready(object), json!(age), names, images]
}

pub(super) fn daemon_set(object: &Json, age: String) -> Vec<Json> {
    let [names, images] = template_containers(object);
    let count = |field: &str| json!(number(&object["status"], field));
    vec![
        name(object),
        count("desiredNumberScheduled"),
        count("currentNumberScheduled"),
        count("numberReady"),
        count("updatedNumberScheduled"),
        count("numberAvailable"),
        json!(labels(&object["spec"]["template"]["spec"]["nodeSelector"])),
        json!(age),
        names,
        images,
        json!(selector_or_none(&object["spec"]["selector"])),
    ]
}

pub(super) fn controller_revision(object: &Json, age: String) -> Vec<Json> {
    let owners = list(object, "metadata.ownerReferences");
    let controller = owners
        .iter()
        .find(|owner| flag(owner, "controller"))
        .map(|owner| {
            let group = text(owner, "apiVersion")
                .split_once('/')
                .map_or(String::new(), |(group, _)| format!(".{group}"));
            format!(
                "{}{group}/{}",
                text(owner, "kind").to_lowercase(),
                text(owner, "name")
            )
        });
    vec![
        name(object),
        json!(controller.unwrap_or_else(|| "<none>".to_owned())),
        json!(number(object, "revision")),
        json!(age),
    ]
}

pub(super) fn job(object: &Json, age: String, now: i64) -> Vec<Json> {
    let [names, images] = template_containers(object);
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
        name(object),
        json!(job_status(object)),
        json!(completions),
        json!(duration),
        json!(age),
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

pub(super) fn cron_job(object: &Json, age: String, now: i64) -> Vec<Json> {
    let [names, images] = containers(list(object, "spec.jobTemplate.spec.template.spec.containers"));
    let last = get(object, "status.lastScheduleTime");
    let suspend = match get(object, "spec.suspend") {
        Some(_) if flag(object, "spec.suspend") => "True",
        Some(_) => "False",
        None => "<unset>",
    };
    vec![
        name(object),
        json!(text(object, "spec.schedule")),
        json!(text_or(object, "spec.timeZone", "<none>")),
        json!(suspend),
        json!(list(object, "status.active").len()),
        json!(last.map_or("<none>".to_owned(), |last| age_of(Some(last), now))),
        json!(age),
        names,
        images,
        json!(selector_or_none(
            &object["spec"]["jobTemplate"]["spec"]["selector"]
        )),
    ]
}

pub(super) fn disruption_budget(object: &Json, age: String) -> Vec<Json> {
    let amount = |field: &str| match get(&object["spec"], field) {
        Some(Json::String(percent)) => json!(percent),
        Some(number) => json!(number.to_string()),
        None => json!("N/A"),
    };
    vec![
        name(object),
        amount("minAvailable"),
        amount("maxUnavailable"),
        json!(number(object, "status.disruptionsAllowed")),
        json!(age),
    ]
}
