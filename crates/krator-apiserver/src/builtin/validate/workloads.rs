//! Workloads, after `pkg/apis/apps/validation`.

use super::labels;
use crate::builtin::json::{get, int, list, list_mut, remove, set, text};
use crate::builtin::names;
use crate::builtin::report::{Report, TypeRule, root};
use krator_schema::Path;
use serde_json::{Value as Json, json};

pub(super) const TYPES: &[(&str, TypeRule)] = &[
    ("apps.v1.DeploymentSpec", |report, at, spec| {
        if text(spec, "strategy.type") == "Recreate" && get(spec, "strategy.rollingUpdate").is_some() {
            let at = at.field("strategy").field("rollingUpdate");
            report.forbidden(&at, "may not be set when the strategy is `Recreate`");
        }
        let ready = int(spec, "minReadySeconds").unwrap_or_default();
        if let Some(seconds) = int(spec, "progressDeadlineSeconds") {
            let at = at.field("progressDeadlineSeconds");
            report.unless(
                seconds > ready,
                &at,
                seconds,
                "must be greater than minReadySeconds",
            );
        }
    }),
    ("apps.v1.RollingUpdateDeployment", |report, at, rolling| {
        let (unavailable, surge) = (&rolling["maxUnavailable"], &rolling["maxSurge"]);
        let moves = unavailable.is_null() || amount(unavailable) != 0 || amount(surge) != 0;
        let detail = "may not be 0 when `maxSurge` is 0";
        report.unless(moves, &at.field("maxUnavailable"), unavailable.clone(), detail);
    }),
    (
        "apps.v1.RollingUpdateStatefulSetStrategy",
        |report, at, rolling| {
            let unavailable = &rolling["maxUnavailable"];
            let moves = unavailable.is_null() || amount(unavailable) != 0;
            report.unless(
                moves,
                &at.field("maxUnavailable"),
                unavailable.clone(),
                "cannot be 0",
            );
        },
    ),
    ("apps.v1.RollingUpdateDaemonSet", |report, at, rolling| {
        match (amount(&rolling["maxUnavailable"]), amount(&rolling["maxSurge"])) {
            (0, 0) => report.required(&at.field("maxUnavailable"), "cannot be 0 when `maxSurge` is 0"),
            (0, _) | (_, 0) => {}
            (_, surge) => report.invalid(
                &at.field("maxSurge"),
                surge,
                "may not be set beside `maxUnavailable`",
            ),
        }
    }),
    ("policy.v1.PodDisruptionBudgetSpec", |report, at, spec| {
        let both = get(spec, "minAvailable").is_some() && get(spec, "maxUnavailable").is_some();
        report.unless(
            !both,
            at,
            spec.clone(),
            "minAvailable and maxUnavailable cannot be both set",
        );
    }),
];

/// The selector of a workload must match the pods of its template, whose restart policy must be `Always`.
pub(in super::super) fn keeps_pods(report: &mut Report, object: &Json) {
    let (at, selector, template) = (
        root("spec"),
        &object["spec"]["selector"],
        &object["spec"]["template"],
    );
    let is_empty = !selector.is_null() && labels::is_empty(selector);
    if is_empty || !labels::can_be_evaluated(selector) {
        report.invalid(
            &at.field("selector"),
            selector.clone(),
            "must be a valid selector that is not empty",
        );
    } else {
        selects(report, selector, template);
    }
    let at = at.field("template").field("spec");
    report.one_of(
        &at.field("restartPolicy"),
        text(template, "spec.restartPolicy"),
        &["Always"],
    );
    if get(template, "spec.activeDeadlineSeconds").is_some() {
        report.forbidden(&at.field("activeDeadlineSeconds"), "these pods have no deadline");
    }
}

/// Requires that a selector matches the pods of a template; an absent selector matches nothing.
pub(in super::super) fn selects(report: &mut Report, selector: &Json, template: &Json) {
    let found = &template["metadata"]["labels"];
    let selected = !selector.is_null() && labels::selects(selector, found);
    let at = root("spec.template.metadata.labels");
    report.unless(
        selected,
        &at,
        found.clone(),
        "`selector` does not match template `labels`",
    );
}

/// Requires a number that is not negative, or a percentage.
pub(super) fn at_least_zero(report: &mut Report, at: &Path, value: &Json) {
    match value.as_str() {
        Some(percent) => report.messages(at, percent, names::percent(percent)),
        None => report.non_negative(at, value),
    }
}

/// Requires a number that is not negative, or a percentage of at most 100%.
pub(super) fn share(report: &mut Report, at: &Path, value: &Json) {
    at_least_zero(report, at, value);
    let is_part = !value.is_string() || amount(value) <= 100;
    report.unless(is_part, at, value.clone(), "must not be greater than 100%");
}

/// The number, or the number before the percent sign.
fn amount(value: &Json) -> i64 {
    let percent = value.as_str().and_then(|text| text.strip_suffix('%'));
    let percent = percent.and_then(|text| text.parse().ok());
    percent.or_else(|| value.as_i64()).unwrap_or_default()
}

pub(in super::super) fn new_stateful_set(report: &mut Report, object: &Json) {
    let name = text(object, "spec.serviceName");
    if !name.is_empty() {
        report.messages(&root("spec.serviceName"), name, names::label(name));
    }
}

/// Adds the claims of a StatefulSet to the volumes of its pods, and removes the names, which the controller sets.
pub(in super::super) fn with_claims(object: &Json) -> Json {
    let mut object = object.clone();
    remove(&mut object, "spec.template.spec.subdomain");
    remove(&mut object, "spec.template.spec.hostname");
    let claims = list(&object, "spec.volumeClaimTemplates").iter();
    let names: Vec<String> = claims
        .map(|claim| text(claim, "metadata.name").to_owned())
        .collect();
    if !names.is_empty() {
        let of_claim = |name| json!({"name": name, "persistentVolumeClaim": {"claimName": name}});
        let mut volumes: Vec<Json> = names.iter().map(of_claim).collect();
        let others = list_mut(&mut object, "spec.template.spec.volumes").map(Json::take);
        volumes.extend(others.filter(|volume| !names.iter().any(|name| name == text(volume, "name"))));
        set(&mut object, "spec.template.spec.volumes", volumes);
    }
    object
}
