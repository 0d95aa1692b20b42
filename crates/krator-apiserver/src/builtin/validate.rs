//! Whether objects are valid, after `pkg/apis/*/validation` of Kubernetes: the same fields, kinds and messages of errors.
//! What is not checked here as there is refused with [`beyond`], so that no object is accepted that a real server refuses.

mod batch;
mod beyond;
mod claims;
mod containers;
mod labels;
mod events;
mod networking;
mod others;
mod pods;
mod probes;
mod rbac;
mod report;
mod scheduling;
mod services;
mod simple;
mod volumes;
mod workloads;

pub(super) use beyond::beyond;
pub(super) use services::cluster_ips;

use super::Subresource;
use super::json::{get, text};
use crate::refusal::FieldError;
use report::Report;
use serde_json::Value as Json;

/// The errors of the labels of an object.
pub(super) fn label_errors(of_object: &Json) -> Vec<FieldError> {
    let mut report = Report::default();
    labels::labels(&mut report, &report::root("metadata.labels"), of_object);
    report.into_errors()
}

/// The errors of a new object.
pub(super) fn create(type_name: &str, object: &Json) -> Vec<FieldError> {
    let mut report = Report::default();
    match type_name {
        "core/v1.ConfigMap" => simple::config_map(&mut report, object),
        "core/v1.Secret" => simple::secret(&mut report, object),
        "core/v1.Namespace" => simple::namespace(&mut report, object),
        "core/v1.Pod" => pods::create(&mut report, object),
        "core/v1.PodTemplate" => {
            pods::template(&mut report, &report::root("template"), &object["template"]);
        }
        "core/v1.Service" => services::service(&mut report, object),
        "core/v1.PersistentVolumeClaim" => claims::spec(&mut report, &report::root("spec"), &object["spec"]),
        "core/v1.Event" => events::core(&mut report, object),
        "core/v1.Endpoints" => others::endpoints(&mut report, object),
        "core/v1.PersistentVolume" => others::persistent_volume(&mut report, object),
        "core/v1.LimitRange" => others::limit_range(&mut report, object),
        "core/v1.ResourceQuota" => others::resource_quota(&mut report, object),
        "core/v1.Node" => others::node(&mut report, object),
        "events/v1.Event" => events::events(&mut report, object),
        "core/v1.ReplicationController" => workloads::replication_controller(&mut report, object),
        "apps/v1.Deployment" => workloads::deployment(&mut report, object),
        "apps/v1.ReplicaSet" => workloads::replica_set(&mut report, object),
        "apps/v1.StatefulSet" => workloads::stateful_set(&mut report, object),
        "apps/v1.DaemonSet" => workloads::daemon_set(&mut report, object),
        "apps/v1.ControllerRevision" => simple::controller_revision(&mut report, object),
        "batch/v1.Job" => batch::job(&mut report, object),
        "batch/v1.CronJob" => batch::cron_job(&mut report, object, None),
        "coordination/v1.Lease" => simple::lease(&mut report, object),
        "networking/v1.Ingress" => networking::ingress(&mut report, object),
        "networking/v1.IngressClass" => networking::ingress_class(&mut report, object),
        "networking/v1.NetworkPolicy" => networking::network_policy(&mut report, object),
        "policy/v1.PodDisruptionBudget" => simple::disruption_budget(&mut report, object),
        "rbac/v1.Role" | "rbac/v1.ClusterRole" => {
            rbac::role(&mut report, object, type_name == "rbac/v1.Role")
        }
        "rbac/v1.RoleBinding" | "rbac/v1.ClusterRoleBinding" => {
            rbac::binding(&mut report, object, type_name == "rbac/v1.RoleBinding");
        }
        _ => {}
    }
    report.into_errors()
}

/// The errors of a changed object.
pub(super) fn update(
    type_name: &str,
    object: &Json,
    old: &Json,
    subresource: Subresource,
) -> Vec<FieldError> {
    match subresource {
        Subresource::Main => update_main(type_name, object, old),
        Subresource::Status => update_status(type_name, object, old),
        Subresource::Finalize => {
            let mut report = Report::default();
            simple::finalizers(&mut report, object, true);
            report.into_errors()
        }
    }
}

fn update_main(type_name: &str, object: &Json, old: &Json) -> Vec<FieldError> {
    let mut report = Report::default();
    match type_name {
        "core/v1.ConfigMap" => simple::config_map_update(&mut report, object, old),
        "core/v1.Secret" => simple::secret_update(&mut report, object, old),
        "core/v1.Pod" => pods::update(&mut report, object, old),
        "core/v1.Service" => services::update(&mut report, object, old),
        "core/v1.PersistentVolumeClaim" => claims::update(&mut report, object, old),
        "apps/v1.Deployment" | "apps/v1.ReplicaSet" => {
            report.extend(create(type_name, object));
            report.immutable(&report::root("spec.selector"), object, old);
        }
        "apps/v1.StatefulSet" => workloads::stateful_set_update(&mut report, object, old),
        "apps/v1.DaemonSet" => {
            report.immutable(&report::root("spec.selector"), object, old);
            report.extend(create(type_name, object));
        }
        "apps/v1.ControllerRevision" => {
            report.non_negative(&report::root("revision"), &object["revision"]);
            report.immutable(&report::root("data"), object, old);
        }
        "events/v1.Event" => events::events_update(&mut report, object, old),
        "networking/v1.IngressClass" => {
            report.immutable(&report::root("spec.controller"), object, old);
            report.extend(create(type_name, object));
        }
        "batch/v1.Job" => batch::job_update(&mut report, object, old),
        "batch/v1.CronJob" => batch::cron_job(&mut report, object, Some(old)),
        "rbac/v1.RoleBinding" | "rbac/v1.ClusterRoleBinding" => {
            report.extend(create(type_name, object));
            if get(object, "roleRef") != get(old, "roleRef") {
                // The original prints its internal type here, which has other names of fields.
                let reference = serde_json::json!({
                    "APIGroup": text(object, "roleRef.apiGroup"),
                    "Kind": text(object, "roleRef.kind"),
                    "Name": text(object, "roleRef.name"),
                });
                report.invalid(&report::root("roleRef"), reference, "cannot change roleRef");
            }
        }
        _ => report.extend(create(type_name, object)),
    }
    report.into_errors()
}

fn update_status(type_name: &str, object: &Json, old: &Json) -> Vec<FieldError> {
    let mut report = Report::default();
    match type_name {
        "core/v1.Namespace" => simple::namespace_status(&mut report, object),
        "core/v1.Pod" => pods::status(&mut report, object, old),
        "core/v1.Service" => services::status(&mut report, object),
        "apps/v1.Deployment" => workloads::deployment_status(&mut report, object, old),
        "apps/v1.ReplicaSet" | "core/v1.ReplicationController" => {
            workloads::replica_set_status(&mut report, object)
        }
        "apps/v1.StatefulSet" => workloads::stateful_set_status(&mut report, object, old),
        "apps/v1.DaemonSet" => workloads::daemon_set_status(&mut report, object, old),
        "batch/v1.Job" => batch::job_status(&mut report, object, old),
        _ => {}
    }
    report.into_errors()
}
