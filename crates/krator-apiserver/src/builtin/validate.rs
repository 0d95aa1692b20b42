//! Whether objects are valid, after `pkg/apis/*/validation` of Kubernetes: the same fields, kinds and messages of errors.
//! Required fields, enumerations and signs of numbers are checked by the schemas in [`shape`], for all kinds. Beyond that are the rules
//! that authors of operators run into; the README lists what a real server refuses and this one accepts.

mod batch;
mod claims;
mod config;
mod containers;
mod labels;
mod networking;
mod pods;
mod rbac;
mod report;
mod resources;
mod services;
mod shape;
mod volumes;
mod workloads;

pub(super) use services::cluster_ips;

use super::Subresource;
use crate::refusal::FieldError;
use report::{Report, root};
use serde_json::Value as Json;

/// The rules of one kind among the fields of its objects.
pub(super) struct Rules {
    /// For new and for changed objects.
    always: fn(&mut Report, &Json),
    create: fn(&mut Report, &Json),
    update: fn(&mut Report, &Json, &Json),
    status: fn(&mut Report, &Json, &Json),
    /// The paths of the fields that cannot change.
    immutable: &'static [&'static str],
    /// The object with what its controller adds to it, for the rules of its types.
    completed: fn(&Json) -> Json,
}

const NONE: Rules = Rules {
    always: |_, _| {},
    create: |_, _| {},
    update: |_, _, _| {},
    status: |_, _, _| {},
    immutable: &[],
    completed: Json::clone,
};

/// The rules of the kinds that have some, by their types.
static KINDS: &[(&str, Rules)] = &[
    (
        "apps/v1.ControllerRevision",
        Rules {
            always: config::controller_revision,
            immutable: &["data"],
            ..NONE
        },
    ),
    (
        "apps/v1.DaemonSet",
        Rules {
            always: workloads::daemon_set,
            immutable: &["spec.selector"],
            ..NONE
        },
    ),
    (
        "apps/v1.Deployment",
        Rules {
            always: workloads::deployment,
            immutable: &["spec.selector"],
            ..NONE
        },
    ),
    (
        "apps/v1.ReplicaSet",
        Rules {
            always: workloads::replica_set,
            immutable: &["spec.selector"],
            ..NONE
        },
    ),
    (
        "apps/v1.StatefulSet",
        Rules {
            always: workloads::stateful_set,
            create: workloads::new_stateful_set,
            update: workloads::stateful_set_update,
            completed: workloads::with_claims,
            ..NONE
        },
    ),
    (
        "batch/v1.CronJob",
        Rules {
            always: batch::cron_job,
            create: batch::new_cron_job,
            ..NONE
        },
    ),
    (
        "batch/v1.Job",
        Rules {
            always: batch::job,
            update: batch::job_update,
            immutable: batch::IMMUTABLE,
            ..NONE
        },
    ),
    (
        "coordination/v1.Lease",
        Rules {
            always: config::lease,
            ..NONE
        },
    ),
    (
        "core/v1.ConfigMap",
        Rules {
            always: config::config_map,
            update: config::frozen,
            ..NONE
        },
    ),
    (
        "core/v1.Namespace",
        Rules {
            always: config::namespace,
            ..NONE
        },
    ),
    (
        "core/v1.PersistentVolumeClaim",
        Rules {
            update: claims::update,
            immutable: &["spec.volumeMode"],
            ..NONE
        },
    ),
    (
        "core/v1.Pod",
        Rules {
            create: pods::create,
            update: pods::update,
            status: pods::status,
            ..NONE
        },
    ),
    (
        "core/v1.ReplicationController",
        Rules {
            always: workloads::replication_controller,
            ..NONE
        },
    ),
    (
        "core/v1.Secret",
        Rules {
            always: config::secret,
            update: config::frozen,
            immutable: &["type"],
            ..NONE
        },
    ),
    (
        "core/v1.Service",
        Rules {
            always: services::service,
            update: services::update,
            status: services::status,
            ..NONE
        },
    ),
    (
        "events/v1.Event",
        Rules {
            create: config::new_event,
            ..NONE
        },
    ),
    (
        "networking/v1.Ingress",
        Rules {
            always: networking::ingress,
            ..NONE
        },
    ),
    (
        "networking/v1.IngressClass",
        Rules {
            always: networking::ingress_class,
            immutable: &["spec.controller"],
            ..NONE
        },
    ),
    (
        "rbac/v1.ClusterRoleBinding",
        Rules {
            always: rbac::cluster_role_binding,
            update: rbac::same_role,
            ..NONE
        },
    ),
    (
        "rbac/v1.Role",
        Rules {
            always: rbac::role,
            ..NONE
        },
    ),
    (
        "rbac/v1.RoleBinding",
        Rules {
            always: rbac::role_binding,
            update: rbac::same_role,
            ..NONE
        },
    ),
];

/// The errors of the labels of an object.
pub(super) fn label_errors(of_object: &Json) -> Vec<FieldError> {
    let mut report = Report::default();
    labels::labels(&mut report, &root("metadata.labels"), of_object);
    report.into_errors()
}

fn rules(type_name: &str) -> &'static Rules {
    let found = KINDS.iter().find(|(name, _)| *name == type_name);
    found.map_or(&NONE, |(_, rules)| rules)
}

/// The errors of a new object.
pub(super) fn create(type_name: &str, object: &Json) -> Vec<FieldError> {
    let mut report = Report::default();
    let rules = rules(type_name);
    shape::object(&mut report, type_name, &(rules.completed)(object));
    (rules.always)(&mut report, object);
    (rules.create)(&mut report, object);
    report.into_errors()
}

/// The errors of a changed object.
pub(super) fn update(
    type_name: &str,
    object: &Json,
    old: &Json,
    subresource: Subresource,
) -> Vec<FieldError> {
    let mut report = Report::default();
    let rules = rules(type_name);
    match subresource {
        Subresource::Main => {
            shape::object(&mut report, type_name, &(rules.completed)(object));
            (rules.always)(&mut report, object);
            (rules.update)(&mut report, object, old);
            for path in rules.immutable {
                report.immutable(&root(path), object, old);
            }
        }
        Subresource::Status => {
            shape::status(&mut report, object);
            (rules.status)(&mut report, object, old);
        }
        Subresource::Finalize => (rules.always)(&mut report, object),
    }
    report.into_errors()
}
