//! Defaults of `apps/v1`, `batch/v1`, `coordination.k8s.io/v1`, `networking.k8s.io/v1` and
//! `rbac.authorization.k8s.io/v1`.

use super::Default;
use crate::builtin::json::{entry, get, list, list_mut, remove, set, set_default, set_entry, text};
use crate::builtin::prepare::TEMPLATE_GENERATION;
use serde_json::{Value as Json, json};

pub(super) fn of(type_name: &str) -> Option<Default> {
    Some(match type_name {
        "apps/v1.Deployment" => deployment,
        "apps/v1.DaemonSet" => daemon_set,
        "apps/v1.StatefulSet" => stateful_set,
        "batch/v1.Job" => job,
        "networking/v1.NetworkPolicy" => network_policy,
        "networking/v1.IngressClass" => ingress_class,
        "rbac/v1.Subject" => subject,
        "coordination/v1.LeaseSpec" => lease,
        _ => return None,
    })
}

fn deployment(deployment: &mut Json) {
    if text(deployment, "spec.strategy.type") == "RollingUpdate" {
        set_default(deployment, "spec.strategy.rollingUpdate", json!({}));
        default_if_none(deployment, "spec.strategy.rollingUpdate.maxUnavailable", "25%");
        default_if_none(deployment, "spec.strategy.rollingUpdate.maxSurge", "25%");
    }
}

/// Sets a default of a pointer field, for which an empty text is a value.
fn default_if_none(value: &mut Json, path: &str, default: impl Into<Json>) {
    if get(value, path).is_none() {
        set(value, path, default);
    }
}

fn daemon_set(daemons: &mut Json) {
    if text(daemons, "spec.updateStrategy.type") == "RollingUpdate" {
        default_if_none(daemons, "spec.updateStrategy.rollingUpdate.maxUnavailable", 1);
        default_if_none(daemons, "spec.updateStrategy.rollingUpdate.maxSurge", 0);
    }
    if entry(daemons, "metadata.annotations", TEMPLATE_GENERATION).is_none() {
        set_entry(daemons, "metadata.annotations", TEMPLATE_GENERATION, "0");
    }
}

/// Drops the fields of a feature gate that is off by default.
fn lease(spec: &mut Json) {
    remove(spec, "strategy");
    remove(spec, "preferredHolder");
}

fn stateful_set(sets: &mut Json) {
    for claim in list_mut(sets, "spec.volumeClaimTemplates") {
        set(claim, "apiVersion", "v1");
        set(claim, "kind", "PersistentVolumeClaim");
    }
    if text(sets, "spec.updateStrategy.type").is_empty() {
        set(sets, "spec.updateStrategy.type", "RollingUpdate");
        default_if_none(sets, "spec.updateStrategy.rollingUpdate", json!({}));
    }
    if text(sets, "spec.updateStrategy.type") == "RollingUpdate"
        && get(sets, "spec.updateStrategy.rollingUpdate").is_some()
    {
        set_default(sets, "spec.updateStrategy.rollingUpdate.partition", 0);
        set_default(sets, "spec.updateStrategy.rollingUpdate.maxUnavailable", 1);
    }
}

fn job(job: &mut Json) {
    if get(job, "spec.completions").is_none() && get(job, "spec.parallelism").is_none() {
        set(job, "spec.completions", 1);
    }
    set_default(job, "spec.parallelism", 1);
    let limit = if get(job, "spec.backoffLimitPerIndex").is_some() {
        i32::MAX
    } else {
        6
    };
    set_default(job, "spec.backoffLimit", limit);
    // The original copies the labels before it generates those of the selector, but both maps share memory, so the
    // generated labels are in both. A Job that is created has no uid when its defaults are set first.
    let has_uid = !text(job, "metadata.uid").is_empty();
    if let Some(labels) = get(job, "spec.template.metadata.labels")
        .cloned()
        .filter(|_| has_uid)
    {
        set_default(job, "metadata.labels", labels);
    }
    let replacement = if get(job, "spec.podFailurePolicy").is_some() {
        "Failed"
    } else {
        "TerminatingOrFailed"
    };
    default_if_none(job, "spec.podReplacementPolicy", replacement);
}

fn network_policy(policy: &mut Json) {
    if list(policy, "spec.policyTypes").is_empty() {
        let mut types = vec!["Ingress"];
        if !list(policy, "spec.egress").is_empty() {
            types.push("Egress");
        }
        set(policy, "spec.policyTypes", json!(types));
    }
}

fn ingress_class(class: &mut Json) {
    if get(class, "spec.parameters").is_some() {
        default_if_none(class, "spec.parameters.scope", "Cluster");
    }
}

fn subject(subject: &mut Json) {
    if matches!(text(subject, "kind"), "User" | "Group") {
        set_default(subject, "apiGroup", "rbac.authorization.k8s.io");
    }
}
