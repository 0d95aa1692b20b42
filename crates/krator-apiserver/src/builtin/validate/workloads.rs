//! Kinds that keep pods running, after `pkg/apis/apps/validation`.

mod statuses;

pub(super) use statuses::{daemon_set_status, deployment_status, replica_set_status, stateful_set_status};

use super::report::{Report, root};
use super::{claims, labels, pods};
use crate::builtin::json::{entries, get, int, list, list_mut, remove, set, text};
use crate::builtin::names;
use krator_schema::Path;
use serde_json::{Value as Json, json};

pub(super) fn deployment(report: &mut Report, object: &Json) {
    let (at, spec) = (root("spec"), &object["spec"]);
    report.non_negative(&at.field("replicas"), &spec["replicas"]);
    selector_and_template(report, spec, "deployment", "ReplicaSet", "invalid label selector");
    deployment_strategy(report, &at.field("strategy"), &spec["strategy"]);
    report.all_non_negative(
        &at,
        spec,
        &[
            "minReadySeconds",
            "revisionHistoryLimit",
            "progressDeadlineSeconds",
        ],
    );
    let deadline = int(spec, "progressDeadlineSeconds");
    if let Some(seconds) =
        deadline.filter(|seconds| *seconds <= int(spec, "minReadySeconds").unwrap_or_default())
    {
        report.invalid(
            &at.field("progressDeadlineSeconds"),
            seconds,
            "must be greater than minReadySeconds",
        );
    }
}

pub(super) fn replica_set(report: &mut Report, object: &Json) {
    let (at, spec) = (root("spec"), &object["spec"]);
    report.all_non_negative(&at, spec, &["replicas", "minReadySeconds"]);
    // The original says "deployment" here, too.
    selector_and_template(report, spec, "deployment", "ReplicaSet", "invalid label selector");
}

pub(super) fn replication_controller(report: &mut Report, object: &Json) {
    let (at, spec) = (root("spec"), &object["spec"]);
    report.non_negative(&at.field("minReadySeconds"), &spec["minReadySeconds"]);
    if entries(spec, "selector").next().is_none() {
        report.required(&at.field("selector"), "");
    }
    report.non_negative(&at.field("replicas"), &spec["replicas"]);
    match get(spec, "template") {
        None => report.required(&at.field("template"), ""),
        Some(template) => {
            let selector = json!({"matchLabels": get(spec, "selector").cloned().unwrap_or_default()});
            template_of(
                report,
                &at.field("template"),
                template,
                &selector,
                "ReplicationController",
            );
        }
    }
}

/// The selector must select something, and that includes the pods of the template.
fn selector_and_template(report: &mut Report, spec: &Json, kind: &str, controller: &str, unusable: &str) {
    let at = root("spec");
    let Some(selector) = required_selector(report, spec, kind) else {
        // Without a selector, the original selects nothing, and no template fits.
        template_of(
            report,
            &at.field("template"),
            &spec["template"],
            &Json::Null,
            controller,
        );
        return;
    };
    if labels::can_be_evaluated(selector) {
        template_of(
            report,
            &at.field("template"),
            &spec["template"],
            selector,
            controller,
        );
    } else {
        report.invalid(&at.field("selector"), selector.clone(), unusable);
    }
}

fn required_selector<'a>(report: &mut Report, spec: &'a Json, kind: &str) -> Option<&'a Json> {
    let at = root("spec.selector");
    let Some(selector) = get(spec, "selector") else {
        report.required(&at, "");
        return None;
    };
    labels::selector(report, &at, selector);
    if labels::is_empty(selector) {
        report.invalid(
            &at,
            selector.clone(),
            format!("empty selector is invalid for {kind}"),
        );
    }
    Some(selector)
}

/// The template of pods that always run. Null is a selector that selects nothing.
fn template_of(report: &mut Report, at: &Path, template: &Json, selector: &Json, controller: &str) {
    does_select(report, at, template, selector);
    pods::template(report, at, template);
    always_runs(report, at, template, controller);
}

fn does_select(report: &mut Report, at: &Path, template: &Json, selector: &Json) {
    let found = &template["metadata"]["labels"];
    if selector.is_null() || !labels::is_empty(selector) && !labels::selects(selector, found) {
        let detail = "`selector` does not match template `labels`";
        report.invalid(&at.field("metadata").field("labels"), found.clone(), detail);
    }
}

fn always_runs(report: &mut Report, at: &Path, template: &Json, controller: &str) {
    let at = at.field("spec");
    let policy = text(template, "spec.restartPolicy");
    if policy != "Always" {
        report.not_supported(&at.field("restartPolicy"), policy, &["Always"]);
    }
    if get(template, "spec.activeDeadlineSeconds").is_some() {
        let detail = format!("activeDeadlineSeconds in {controller} is not Supported");
        report.forbidden(&at.field("activeDeadlineSeconds"), detail);
    }
}

fn deployment_strategy(report: &mut Report, at: &Path, strategy: &Json) {
    let rolling = get(strategy, "rollingUpdate");
    let rolling_at = at.field("rollingUpdate");
    match (text(strategy, "type"), rolling) {
        ("Recreate", Some(_)) => {
            report.forbidden(
                &rolling_at,
                "may not be specified when strategy `type` is 'Recreate'",
            );
        }
        ("Recreate", None) => {}
        ("RollingUpdate", None) => report.required(&rolling_at, "this should be defaulted and never be nil"),
        ("RollingUpdate", Some(rolling)) => {
            let (unavailable, surge) = (&rolling["maxUnavailable"], &rolling["maxSurge"]);
            let unavailable_at = rolling_at.field("maxUnavailable");
            non_negative_or_percent(report, &unavailable_at, unavailable);
            non_negative_or_percent(report, &rolling_at.field("maxSurge"), surge);
            if amount(unavailable) == 0 && amount(surge) == 0 {
                report.invalid(
                    &unavailable_at,
                    unavailable.clone(),
                    "may not be 0 when `maxSurge` is 0",
                );
            }
            at_most_all(report, &unavailable_at, unavailable);
        }
        // The original prints its internal type, which has other names of fields.
        (type_, rolling) => {
            let rolling = rolling.map(|rolling| {
                json!({"MaxUnavailable": rolling["maxUnavailable"], "MaxSurge": rolling["maxSurge"]})
            });
            let strategy = json!({"Type": type_, "RollingUpdate": rolling});
            report.not_supported(at, strategy, &["Recreate", "RollingUpdate"]);
        }
    }
}

/// A number that is not negative, or a percentage.
fn non_negative_or_percent(report: &mut Report, at: &Path, value: &Json) {
    match value {
        Json::String(percent) => {
            for message in names::percent(percent) {
                report.invalid(at, value.clone(), message);
            }
        }
        number => report.non_negative(at, number),
    }
}

/// A number that is not negative, or a percentage of at most all.
pub(super) fn int_or_percent(report: &mut Report, at: &Path, value: &Json) {
    non_negative_or_percent(report, at, value);
    at_most_all(report, at, value);
}

fn at_most_all(report: &mut Report, at: &Path, value: &Json) {
    if percent(value).is_some_and(|percent| percent > 100) {
        report.invalid(at, value.clone(), "must not be greater than 100%");
    }
}

fn percent(value: &Json) -> Option<i64> {
    let text = value.as_str().filter(|text| names::percent(text).is_empty())?;
    text.trim_end_matches('%').parse().ok()
}

fn amount(value: &Json) -> i64 {
    percent(value).or_else(|| value.as_i64()).unwrap_or_default()
}

pub(super) fn daemon_set(report: &mut Report, object: &Json) {
    let (at, spec) = (root("spec"), &object["spec"]);
    labels::selector(report, &at.field("selector"), &spec["selector"]);
    let selector = get(spec, "selector").unwrap_or(&Json::Null);
    let template_at = at.field("template");
    let found = &spec["template"]["metadata"]["labels"];
    if labels::can_be_evaluated(selector) && (selector.is_null() || !labels::selects(selector, found)) {
        let detail = "`selector` does not match template `labels`";
        report.invalid(
            &template_at.field("metadata").field("labels"),
            found.clone(),
            detail,
        );
    }
    if !selector.is_null() && labels::is_empty(selector) {
        report.invalid(
            &at.field("selector"),
            selector.clone(),
            "empty selector is invalid for daemonset",
        );
    }
    pods::template(report, &template_at, &spec["template"]);
    always_runs(report, &template_at, &spec["template"], "DaemonSet");
    report.non_negative(&at.field("minReadySeconds"), &spec["minReadySeconds"]);
    daemon_set_strategy(report, &at.field("updateStrategy"), &spec["updateStrategy"]);
    report.non_negative(&at.field("revisionHistoryLimit"), &spec["revisionHistoryLimit"]);
}

fn daemon_set_strategy(report: &mut Report, at: &Path, strategy: &Json) {
    let rolling_at = at.field("rollingUpdate");
    match (text(strategy, "type"), get(strategy, "rollingUpdate")) {
        ("OnDelete", _) => {}
        ("RollingUpdate", None) => report.required(&rolling_at, ""),
        ("RollingUpdate", Some(rolling)) => {
            let (unavailable_at, surge_at) =
                (rolling_at.field("maxUnavailable"), rolling_at.field("maxSurge"));
            let (unavailable, surge) = (&rolling["maxUnavailable"], &rolling["maxSurge"]);
            non_negative_or_percent(report, &unavailable_at, unavailable);
            non_negative_or_percent(report, &surge_at, surge);
            at_most_all(report, &unavailable_at, unavailable);
            at_most_all(report, &surge_at, surge);
            match (amount(unavailable) != 0, amount(surge) != 0) {
                (true, true) => {
                    report.invalid(
                        &surge_at,
                        surge.clone(),
                        "may not be set when maxUnavailable is non-zero",
                    );
                }
                (false, false) => report.required(&unavailable_at, "cannot be 0 when maxSurge is 0"),
                _ => {}
            }
        }
        (type_, rolling) => {
            let rolling = rolling.map(|rolling| {
                json!({"MaxUnavailable": rolling["maxUnavailable"], "MaxSurge": rolling["maxSurge"]})
            });
            let strategy = json!({"Type": type_, "RollingUpdate": rolling});
            report.not_supported(at, strategy, &["RollingUpdate", "OnDelete"]);
        }
    }
}

pub(super) fn stateful_set(report: &mut Report, object: &Json) {
    stateful_set_spec(report, object, false);
}

/// `exists` leaves out what cannot change and may be wrong in older objects.
fn stateful_set_spec(report: &mut Report, object: &Json, exists: bool) {
    let (at, spec) = (root("spec"), &object["spec"]);
    let management = text(spec, "podManagementPolicy");
    if !matches!(management, "OrderedReady" | "Parallel") {
        let detail = "must be 'OrderedReady' or 'Parallel'";
        report.invalid(&at.field("podManagementPolicy"), management, detail);
    }
    stateful_set_strategy(report, &at.field("updateStrategy"), &spec["updateStrategy"]);
    for field in ["whenDeleted", "whenScaled"] {
        let policy = text(&spec["persistentVolumeClaimRetentionPolicy"], field);
        if !matches!(policy, "Retain" | "Delete") {
            let at = at.field("persistentVolumeClaimRetentionPolicy").field(field);
            report.not_supported(&at, policy, &["Retain", "Delete"]);
        }
    }
    if !exists {
        for (index, claim) in list(spec, "volumeClaimTemplates").iter().enumerate() {
            let at = at.field("volumeClaimTemplates").index(index).field("spec");
            claims::spec(report, &at, &claim["spec"]);
        }
    }
    report.all_non_negative(&at, spec, &["replicas", "minReadySeconds"]);
    report.non_negative(&at.field("ordinals").field("start"), &spec["ordinals"]["start"]);
    let service = text(spec, "serviceName");
    if !exists && !service.is_empty() {
        report.messages(&at.field("serviceName"), service, names::label(service));
    }
    stateful_set_template(report, spec);
}

fn stateful_set_template(report: &mut Report, spec: &Json) {
    let at = root("spec.template");
    let selector = required_selector(report, spec, "statefulset").unwrap_or(&Json::Null);
    let template = with_claims(spec);
    if labels::can_be_evaluated(selector) {
        does_select(report, &at, &template, selector);
        pods::template(report, &at, &template);
        // The original checks these a second time.
        labels::labels(report, &at.field("labels"), &template["metadata"]["labels"]);
        labels::annotations(
            report,
            &at.field("annotations"),
            &template["metadata"]["annotations"],
        );
    } else {
        report.invalid(&root("spec.selector"), selector.clone(), "");
    }
    always_runs(report, &at, &spec["template"], "StatefulSet");
}

/// The template as pods get it: the claims are volumes, and the controller sets the names.
fn with_claims(spec: &Json) -> Json {
    let mut template = spec["template"].clone();
    remove(&mut template, "spec.subdomain");
    remove(&mut template, "spec.hostname");
    let names: Vec<&str> = list(spec, "volumeClaimTemplates")
        .iter()
        .map(|claim| text(claim, "metadata.name"))
        .collect();
    if !names.is_empty() {
        let mut volumes: Vec<Json> = names
            .iter()
            .map(|name| json!({"name": name, "persistentVolumeClaim": {"claimName": name}}))
            .collect();
        let others = list_mut(&mut template, "spec.volumes").map(|volume| volume.take());
        volumes.extend(others.filter(|volume| !names.contains(&text(volume, "name"))));
        set(&mut template, "spec.volumes", volumes);
    }
    template
}

fn stateful_set_strategy(report: &mut Report, at: &Path, strategy: &Json) {
    let rolling_at = at.field("rollingUpdate");
    match (text(strategy, "type"), get(strategy, "rollingUpdate")) {
        ("OnDelete", Some(rolling)) => {
            let rolling = json!({"Partition": int(rolling, "partition").unwrap_or_default(), "MaxUnavailable": rolling["maxUnavailable"]});
            report.invalid(
                &rolling_at,
                rolling,
                "only allowed for updateStrategy 'RollingUpdate'",
            );
        }
        ("RollingUpdate", Some(rolling)) => {
            report.non_negative(&rolling_at.field("partition"), &rolling["partition"]);
            if let Some(unavailable) = get(rolling, "maxUnavailable") {
                let at = rolling_at.field("maxUnavailable");
                non_negative_or_percent(report, &at, unavailable);
                if amount(unavailable) == 0 {
                    report.invalid(&at, unavailable.clone(), "cannot be 0");
                }
                at_most_all(report, &at, unavailable);
            }
        }
        ("OnDelete" | "RollingUpdate", None) => {}
        (type_, rolling) => {
            let rolling = rolling.map(|rolling| {
                json!({"Partition": int(rolling, "partition").unwrap_or_default(), "MaxUnavailable": rolling["maxUnavailable"]})
            });
            let strategy = json!({"Type": type_, "RollingUpdate": rolling});
            report.invalid(at, strategy, "must be 'RollingUpdate' or 'OnDelete'");
        }
    }
}

pub(super) fn stateful_set_update(report: &mut Report, object: &Json, old: &Json) {
    const CHANGEABLE: [&str; 7] = [
        "replicas",
        "template",
        "updateStrategy",
        "minReadySeconds",
        "ordinals",
        "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy",
    ];
    stateful_set_spec(report, object, true);
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
