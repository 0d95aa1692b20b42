//! Kinds that keep pods running, after `pkg/apis/apps/validation`.

use super::labels;
use crate::builtin::json::{get, int, list, list_mut, remove, set, text};
use crate::builtin::names;
use crate::builtin::report::{Report, TypeRule, root};
use krator_schema::Path;
use serde_json::{Value as Json, json};

pub(super) const TYPES: &[(&str, TypeRule)] = &[
    ("apps.v1.RollingUpdateDeployment", |report, at, rolling| {
        let unavailable_at = at.field("maxUnavailable");
        int_or_percent(report, &unavailable_at, &rolling["maxUnavailable"]);
        at_least_zero(report, &at.field("maxSurge"), &rolling["maxSurge"]);
        let has_default = !rolling["maxUnavailable"].is_null();
        if has_default && amount(&rolling["maxUnavailable"]) == 0 && amount(&rolling["maxSurge"]) == 0 {
            let value = rolling["maxUnavailable"].clone();
            report.invalid(&unavailable_at, value, "may not be 0 when `maxSurge` is 0");
        }
    }),
    ("apps.v1.RollingUpdateDaemonSet", |report, at, rolling| {
        let (unavailable_at, surge_at) = (at.field("maxUnavailable"), at.field("maxSurge"));
        let (unavailable, surge) = (&rolling["maxUnavailable"], &rolling["maxSurge"]);
        int_or_percent(report, &unavailable_at, unavailable);
        int_or_percent(report, &surge_at, surge);
        match (amount(unavailable), amount(surge)) {
            (0, 0) => report.required(&unavailable_at, "cannot be 0 when maxSurge is 0"),
            (0, _) | (_, 0) => {}
            _ => {
                let detail = "may not be set when maxUnavailable is non-zero";
                report.invalid(&surge_at, surge.clone(), detail);
            }
        }
    }),
    ("policy.v1.PodDisruptionBudgetSpec", disruption_budget),
];

pub(in super::super) fn deployment(report: &mut Report, object: &Json) {
    let (at, spec) = (root("spec"), &object["spec"]);
    template_of(report, object, "deployment", "ReplicaSet");
    if text(spec, "strategy.type") == "Recreate" && get(spec, "strategy.rollingUpdate").is_some() {
        let detail = "may not be specified when strategy `type` is 'Recreate'";
        report.forbidden(&at.field("strategy").field("rollingUpdate"), detail);
    }
    let ready = int(spec, "minReadySeconds").unwrap_or_default();
    if let Some(seconds) = int(spec, "progressDeadlineSeconds").filter(|seconds| *seconds <= ready) {
        let detail = "must be greater than minReadySeconds";
        report.invalid(&at.field("progressDeadlineSeconds"), seconds, detail);
    }
}

pub(in super::super) fn replica_set(report: &mut Report, object: &Json) {
    // The original says "deployment" here, too.
    template_of(report, object, "deployment", "ReplicaSet");
}

pub(in super::super) fn daemon_set(report: &mut Report, object: &Json) {
    template_of(report, object, "daemonset", "DaemonSet");
}

/// The selector must select something, and that includes the pods of the template, which always run.
fn template_of(report: &mut Report, object: &Json, kind: &str, controller: &str) {
    let at = root("spec.selector");
    let selector = &object["spec"]["selector"];
    let template = &object["spec"]["template"];
    if !selector.is_null() && labels::is_empty(selector) {
        let detail = format!("empty selector is invalid for {kind}");
        report.invalid(&at, selector.clone(), detail);
    } else if labels::can_be_evaluated(selector) {
        selects(report, selector, template);
    } else {
        report.invalid(&at, selector.clone(), "invalid label selector");
    }
    always_runs(report, template, controller);
}

/// A selector selects the pods of a template; no selector selects nothing.
pub(in super::super) fn selects(report: &mut Report, selector: &Json, template: &Json) {
    let found = &template["metadata"]["labels"];
    if selector.is_null() || !labels::selects(selector, found) {
        let detail = "`selector` does not match template `labels`";
        report.invalid(&root("spec.template.metadata.labels"), found.clone(), detail);
    }
}

fn always_runs(report: &mut Report, template: &Json, controller: &str) {
    let at = root("spec.template.spec");
    let policy = text(template, "spec.restartPolicy");
    if policy != "Always" {
        report.not_supported(&at.field("restartPolicy"), policy, &["Always"]);
    }
    if get(template, "spec.activeDeadlineSeconds").is_some() {
        let detail = format!("activeDeadlineSeconds in {controller} is not Supported");
        report.forbidden(&at.field("activeDeadlineSeconds"), detail);
    }
}

/// A number that is not negative, or a percentage.
fn at_least_zero(report: &mut Report, at: &Path, value: &Json) {
    match value.as_str() {
        Some(percent) => report.messages(at, percent, names::percent(percent)),
        None => report.non_negative(at, value),
    }
}

/// A number that is not negative, or a percentage of at most all.
fn int_or_percent(report: &mut Report, at: &Path, value: &Json) {
    at_least_zero(report, at, value);
    if value.is_string() && amount(value) > 100 {
        report.invalid(at, value.clone(), "must not be greater than 100%");
    }
}

/// The number, also that of a percentage.
fn amount(value: &Json) -> i64 {
    let percent = value.as_str().and_then(|text| text.strip_suffix('%'));
    let percent = percent.and_then(|text| text.parse().ok());
    percent.or_else(|| value.as_i64()).unwrap_or_default()
}

pub(in super::super) fn stateful_set(report: &mut Report, object: &Json) {
    template_of(report, object, "statefulset", "StatefulSet");
}

pub(in super::super) fn new_stateful_set(report: &mut Report, object: &Json) {
    report.text(&root("spec"), &object["spec"], "serviceName", names::label);
}

/// The pods of a StatefulSet have its claims as volumes, and the controller sets their names.
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

pub(in super::super) fn stateful_set_update(report: &mut Report, object: &Json, old: &Json) {
    const CHANGEABLE: [&str; 7] = [
        "replicas",
        "template",
        "updateStrategy",
        "minReadySeconds",
        "ordinals",
        "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy",
    ];
    let rest = |object: &Json| {
        let mut spec = object["spec"].clone();
        CHANGEABLE.iter().for_each(|field| remove(&mut spec, field));
        spec
    };
    if rest(object) != rest(old) {
        let detail = "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
        report.forbidden(&root("spec"), detail);
    }
}

fn disruption_budget(report: &mut Report, at: &Path, spec: &Json) {
    let (least, most) = (get(spec, "minAvailable"), get(spec, "maxUnavailable"));
    for (field, value) in [("minAvailable", least), ("maxUnavailable", most)] {
        if let Some(value) = value {
            int_or_percent(report, &at.field(field), value);
        }
    }
    if least.is_some() && most.is_some() {
        report.invalid(
            at,
            spec.clone(),
            "minAvailable and maxUnavailable cannot be both set",
        );
    }
}
