//! The rules of the builtin kinds that have some.

use super::names::NameRule;
use super::rules::{NONE, Rules, Selectable, StoredAs};
use super::validate::{batch, claims, config, networking, pods, rbac, services, workloads};
use super::{admission, convert, prepare, tables};

/// Kinds whose generation counts the changes of their spec.
const WITH_SPEC: Rules = Rules {
    generation: &["spec"],
    ..NONE
};

/// Kinds whose spec is immutable.
const WITH_FIXED_SPEC: Rules = Rules {
    names: NameRule::PathSegment,
    immutable: &["spec"],
    ..NONE
};

const RBAC: Rules = Rules {
    creates_on_update: true,
    names: NameRule::PathSegment,
    ..NONE
};

const fn field(name: &'static str) -> Selectable {
    [name, name, ""]
}

const CONFIG_MAP: Rules = Rules {
    check: config::config_map,
    check_update: config::frozen,
    cells: Some(tables::config_map),
    ..NONE
};

const DEFINITION: Rules = Rules {
    cells: Some(tables::definition),
    ..NONE
};

const SECRET: Rules = Rules {
    selectable: &[field("type")],
    read: convert::string_data_to_data,
    prepare_update: prepare::secret_update,
    check: config::secret,
    check_update: config::frozen,
    immutable: &["type"],
    cells: Some(tables::secret),
    ..NONE
};

const NAMESPACE: Rules = Rules {
    shows_deleted: true,
    names: NameRule::Label,
    selectable: &[field("status.phase")],
    prepare: prepare::namespace,
    prepare_update: prepare::namespace_update,
    cells: Some(|object, _| tables::texts(object, &["status.phase"])),
    ..NONE
};

const POD: Rules = Rules {
    shows_deleted: true,
    generation: &["spec"],
    kept_by_status: &["metadata.deletionTimestamp", "metadata.ownerReferences"],
    selectable: &[
        field("spec.nodeName"),
        field("spec.restartPolicy"),
        field("spec.schedulerName"),
        field("spec.serviceAccountName"),
        field("status.phase"),
        field("status.nominatedNodeName"),
        ["spec.hostNetwork", "spec.hostNetwork", "false"],
        field("status.podIP"),
        ["status.podIPs", "status.podIP", ""],
    ],
    graceful: true,
    read: convert::pod_addresses,
    admit: admission::pod,
    admit_update: admission::pod_update,
    prepare: prepare::pod,
    prepare_status: prepare::pod_status,
    check_update: pods::update,
    check_status: pods::status,
    cells: Some(tables::pod),
    ..NONE
};

const SERVICE: Rules = Rules {
    shows_deleted: true,
    creates_on_update: true,
    names: NameRule::Label,
    selectable: &[field("spec.clusterIP"), field("spec.type")],
    allocates: true,
    prepare_update: prepare::service_update,
    check_update: services::update,
    cells: Some(tables::service),
    ..NONE
};

const CLAIM: Rules = Rules {
    shows_deleted: true,
    admit: |object, _| admission::add_finalizer(object, "kubernetes.io/pvc-protection"),
    check_update: claims::update,
    immutable: &["spec.volumeMode"],
    cells: Some(tables::claim),
    ..NONE
};

const VOLUME: Rules = Rules {
    shows_deleted: true,
    admit: |object, _| admission::add_finalizer(object, "kubernetes.io/pv-protection"),
    prepare: prepare::volume,
    ..NONE
};

const NODE: Rules = Rules {
    selectable: &[["spec.unschedulable", "spec.unschedulable", "false"]],
    // Nodes set their status themselves when they register.
    comes_with_status: true,
    admit: admission::node,
    ..NONE
};

const CORE_EVENT: Rules = Rules {
    creates_on_update: true,
    // Events of `core/v1` may have any name.
    names: NameRule::PathSegment,
    selectable: &[
        field("involvedObject.kind"),
        field("involvedObject.namespace"),
        field("involvedObject.name"),
        field("involvedObject.uid"),
        field("involvedObject.apiVersion"),
        field("involvedObject.resourceVersion"),
        field("involvedObject.fieldPath"),
        field("reason"),
        field("reportingComponent"),
        ["source", "source.component", ""],
        field("type"),
    ],
    cells: Some(tables::event),
    ..NONE
};

const EVENT: Rules = Rules {
    stored_as: Some(StoredAs {
        group: "",
        to_stored: convert::event_to_core,
        to_served: convert::event_to_events,
    }),
    creates_on_update: true,
    selectable: &[
        field("regarding.kind"),
        field("regarding.namespace"),
        field("regarding.name"),
        field("regarding.uid"),
        field("regarding.apiVersion"),
        field("regarding.resourceVersion"),
        field("regarding.fieldPath"),
        field("reason"),
        field("reportingController"),
        field("type"),
    ],
    check_create: config::new_event,
    cells: Some(|event, now| tables::event(&convert::event_to_core(event), now)),
    ..NONE
};

const REPLICATION_CONTROLLER: Rules = Rules {
    generation: &["spec"],
    selectable: &[["status.replicas", "status.replicas", "0"]],
    orphans: true,
    cells: Some(tables::replicas),
    ..NONE
};

const DEPLOYMENT: Rules = Rules {
    generation: &["spec", "metadata.annotations"],
    kept_by_status: &["metadata.labels"],
    check: workloads::keeps_pods,
    immutable: &["spec.selector"],
    cells: Some(tables::deployment),
    ..NONE
};

const REPLICA_SET: Rules = Rules {
    generation: &["spec"],
    check: workloads::keeps_pods,
    immutable: &["spec.selector"],
    cells: Some(tables::replicas),
    ..NONE
};

const STATEFUL_SET: Rules = Rules {
    names: NameRule::Label,
    generation: &["spec"],
    completed: workloads::with_claims,
    check: workloads::keeps_pods,
    check_create: workloads::new_stateful_set,
    immutable: &[
        "spec.selector",
        "spec.volumeClaimTemplates",
        "spec.serviceName",
        "spec.podManagementPolicy",
    ],
    cells: Some(tables::stateful_set),
    ..NONE
};

const DAEMON_SET: Rules = Rules {
    generation: &["spec"],
    prepare: prepare::daemon_set,
    prepare_update: prepare::daemon_set_update,
    check: workloads::keeps_pods,
    immutable: &["spec.selector"],
    cells: Some(tables::daemon_set),
    ..NONE
};

const CONTROLLER_REVISION: Rules = Rules {
    check: config::controller_revision,
    immutable: &["data"],
    ..NONE
};

const JOB: Rules = Rules {
    generation: &["spec"],
    selectable: &[["status.successful", "status.succeeded", "0"]],
    orphans: true,
    prepare: prepare::job,
    check: batch::job,
    check_create: batch::new_job,
    check_update: batch::job_update,
    immutable: batch::IMMUTABLE,
    cells: Some(tables::job),
    ..NONE
};

const CRON_JOB: Rules = Rules {
    generation: &["spec"],
    check: batch::cron_job,
    check_create: batch::new_cron_job,
    cells: Some(tables::cron_job),
    ..NONE
};

const LEASE: Rules = Rules {
    needs_version: true,
    creates_on_update: true,
    cells: Some(|object, _| tables::texts(object, &["spec.holderIdentity"])),
    ..NONE
};

const INGRESS: Rules = Rules {
    generation: &["spec"],
    check: networking::ingress,
    cells: Some(tables::ingress),
    ..NONE
};

const INGRESS_CLASS: Rules = Rules {
    generation: &["spec"],
    immutable: &["spec.controller"],
    ..NONE
};

const DISRUPTION_BUDGET: Rules = Rules {
    needs_version: true,
    ..WITH_SPEC
};

/// Kinds that a replacement can create, and kinds whose deletion returns the object.
const CREATED_ON_UPDATE: Rules = Rules {
    creates_on_update: true,
    ..NONE
};
const SHOWN_DELETED: Rules = Rules {
    shows_deleted: true,
    ..NONE
};
const POD_TEMPLATE: Rules = Rules {
    generation: &["template"],
    ..SHOWN_DELETED
};

const OLDER_AUTOSCALER: Rules = Rules {
    stored_as: Some(StoredAs {
        group: "autoscaling",
        to_stored: convert::autoscaler_to_v2,
        to_served: convert::autoscaler_to_v1,
    }),
    ..NONE
};

const WEBHOOKS: Rules = Rules {
    generation: &["webhooks"],
    ..NONE
};

const ENDPOINT_SLICE: Rules = Rules {
    generation: &["endpoints", "ports"],
    immutable: &["addressType"],
    ..NONE
};

const RUNTIME_CLASS: Rules = Rules {
    immutable: &["handler"],
    ..NONE
};

const PRIORITY_CLASS: Rules = Rules {
    generation: &["value"],
    immutable: &["value", "preemptionPolicy"],
    ..NONE
};

const STORAGE_CLASS: Rules = Rules {
    immutable: &["provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"],
    ..NONE
};

const VOLUME_ATTRIBUTES_CLASS: Rules = Rules {
    immutable: &["driverName", "parameters"],
    ..NONE
};

/// The rules of a kind by its type, such as `core/v1.Pod`.
pub(super) fn of(type_name: &str) -> &'static Rules {
    match type_name {
        "apiextensions/v1.CustomResourceDefinition" => &DEFINITION,
        "apps/v1.ControllerRevision" => &CONTROLLER_REVISION,
        "apps/v1.DaemonSet" => &DAEMON_SET,
        "apps/v1.Deployment" => &DEPLOYMENT,
        "apps/v1.ReplicaSet" => &REPLICA_SET,
        "apps/v1.StatefulSet" => &STATEFUL_SET,
        "batch/v1.CronJob" => &CRON_JOB,
        "batch/v1.Job" => &JOB,
        "coordination/v1.Lease" => &LEASE,
        "core/v1.ConfigMap" => &CONFIG_MAP,
        "core/v1.Event" => &CORE_EVENT,
        "core/v1.Namespace" => &NAMESPACE,
        "core/v1.Node" => &NODE,
        "core/v1.PersistentVolume" => &VOLUME,
        "core/v1.PersistentVolumeClaim" => &CLAIM,
        "core/v1.Pod" => &POD,
        "core/v1.Endpoints" | "core/v1.LimitRange" => &CREATED_ON_UPDATE,
        "core/v1.PodTemplate" => &POD_TEMPLATE,
        "core/v1.ResourceQuota" | "core/v1.ServiceAccount" => &SHOWN_DELETED,
        "core/v1.ReplicationController" => &REPLICATION_CONTROLLER,
        "core/v1.Secret" => &SECRET,
        "core/v1.Service" => &SERVICE,
        "events/v1.Event" => &EVENT,
        "networking/v1.Ingress" => &INGRESS,
        "networking/v1.IngressClass" => &INGRESS_CLASS,
        "admissionregistration/v1.MutatingWebhookConfiguration"
        | "admissionregistration/v1.ValidatingWebhookConfiguration" => &WEBHOOKS,
        "autoscaling/v1.HorizontalPodAutoscaler" => &OLDER_AUTOSCALER,
        "certificates/v1.CertificateSigningRequest"
        | "networking/v1.IPAddress"
        | "resource/v1.ResourceClaim"
        | "resource/v1.ResourceClaimTemplate"
        | "storage/v1.VolumeAttachment" => &WITH_FIXED_SPEC,
        "discovery/v1.EndpointSlice" => &ENDPOINT_SLICE,
        "node/v1.RuntimeClass" => &RUNTIME_CLASS,
        "scheduling/v1.PriorityClass" => &PRIORITY_CLASS,
        "storage/v1.StorageClass" => &STORAGE_CLASS,
        "storage/v1.VolumeAttributesClass" => &VOLUME_ATTRIBUTES_CLASS,
        "admissionregistration/v1.MutatingAdmissionPolicy"
        | "admissionregistration/v1.MutatingAdmissionPolicyBinding"
        | "admissionregistration/v1.ValidatingAdmissionPolicy"
        | "admissionregistration/v1.ValidatingAdmissionPolicyBinding"
        | "flowcontrol/v1.FlowSchema"
        | "flowcontrol/v1.PriorityLevelConfiguration"
        | "resource/v1.DeviceClass"
        | "resource/v1.ResourceSlice"
        | "networking/v1.NetworkPolicy" => &WITH_SPEC,
        "policy/v1.PodDisruptionBudget" => &DISRUPTION_BUDGET,
        "rbac/v1.ClusterRole" | "rbac/v1.Role" => &RBAC,
        "rbac/v1.ClusterRoleBinding" => {
            &const {
                Rules {
                    check: rbac::cluster_role_binding,
                    check_update: rbac::same_role,
                    ..RBAC
                }
            }
        }
        "rbac/v1.RoleBinding" => {
            &const {
                Rules {
                    check: rbac::role_binding,
                    check_update: rbac::same_role,
                    ..RBAC
                }
            }
        }
        _ => &NONE,
    }
}
