//! The rules of single fields.

use super::containers::{port, port_number};
use super::labels::labels;
use super::resources::not_negative;
use super::workloads::{at_least_zero, share};
use crate::builtin::json::text;
use crate::builtin::names::{self, NameRule};
use crate::builtin::report::{Report, TypeRule};
use krator_schema::Path;
use serde_json::Value as Json;

/// Returns the errors of a text.
type TextCheck = fn(&str) -> Vec<String>;

/// The rule for a field. Absent and empty fields are valid unless a variant excludes them.
pub(super) enum Check {
    /// A value that is neither absent nor empty.
    Present,
    /// A valid text.
    Text(TextCheck),
    /// A valid text, which may not be empty.
    Name(TextCheck),
    /// A list of valid texts.
    Each(TextCheck),
    /// A map with valid keys.
    Keys(TextCheck),
    /// A number in a range.
    Within(i64, i64),
    /// A list whose items have different values in a field.
    Unique(&'static str),
    /// A value that a function validates.
    Is(TypeRule),
}

use Check::{Each, Is, Keys, Name, Present, Text, Unique, Within};

const MOST: i64 = i64::MAX;
/// The permission bits of a file for its owner, its group and all others.
const MODE: Check = Within(0, 0o777);

/// The rules for fields of types, by group, version and name.
#[rustfmt::skip]
pub(super) const FIELDS: &[(&str, &[&str], Check)] = &[
    ("apps.v1.RollingUpdateDaemonSet", &["maxUnavailable", "maxSurge"], Is(share)),
    ("apps.v1.RollingUpdateDeployment", &["maxUnavailable"], Is(share)),
    ("apps.v1.RollingUpdateStatefulSetStrategy", &["maxUnavailable"], Is(share)),
    ("apps.v1.RollingUpdateDeployment", &["maxSurge"], Is(at_least_zero)),
    ("coordination.v1.LeaseSpec", &["leaseDurationSeconds"], Within(1, MOST)),
    ("core.v1.ConfigMap", &["data", "binaryData"], Keys(names::config_key)),
    ("core.v1.ConfigMapKeySelector", &["key"], Text(names::config_key)),
    ("core.v1.ConfigMapKeySelector", &["name"], Name(names::subdomain)),
    ("core.v1.ConfigMapProjection", &["name"], Present),
    ("core.v1.ConfigMapVolumeSource", &["name"], Present),
    ("core.v1.ConfigMapVolumeSource", &["defaultMode"], MODE),
    ("core.v1.Container", &["name"], Text(names::label)),
    ("core.v1.Container", &["image"], Present),
    ("core.v1.Container", &["ports"], Unique("name")),
    ("core.v1.ContainerPort", &["name"], Text(names::port_name)),
    ("core.v1.ContainerPort", &["containerPort"], Is(|report, at, port| match port.as_i64() {
        Some(0) => report.required(at, ""),
        _ => port_number(report, at, port),
    })),
    ("core.v1.ContainerPort", &["hostPort"], Is(port_number)),
    ("core.v1.DownwardAPIVolumeFile", &["mode"], MODE),
    ("core.v1.DownwardAPIVolumeFile", &["path"], Text(names::relative_path)),
    ("core.v1.DownwardAPIVolumeSource", &["defaultMode"], MODE),
    ("core.v1.EnvFromSource", &["prefix"], Text(names::env_var)),
    ("core.v1.EnvVar", &["name"], Text(names::env_var)),
    ("core.v1.ExecAction", &["command"], Present),
    ("core.v1.HTTPGetAction", &["port"], Is(port)),
    ("core.v1.HostPathVolumeSource", &["path"], Text(names::path)),
    ("core.v1.KeyToPath", &["mode"], MODE),
    ("core.v1.KeyToPath", &["path"], Text(names::relative_path)),
    ("core.v1.PersistentVolumeClaimSpec", &["accessModes"], Present),
    ("core.v1.PersistentVolumeClaimSpec", &["storageClassName", "volumeAttributesClassName"], Text(names::subdomain)),
    ("core.v1.PodSpec", &["activeDeadlineSeconds"], Within(1, i32::MAX as i64)),
    ("core.v1.PodSpec", &["hostname", "subdomain"], Text(names::label)),
    ("core.v1.PodSpec", &["nodeSelector"], Is(labels)),
    ("core.v1.PodSpec", &["serviceAccountName", "nodeName", "priorityClassName", "runtimeClassName"], Text(names::subdomain)),
    ("core.v1.PodSpec", &["volumes"], Unique("name")),
    ("core.v1.Probe", &["terminationGracePeriodSeconds"], Within(1, MOST)),
    ("core.v1.ProjectedVolumeSource", &["defaultMode"], MODE),
    ("core.v1.ResourceQuotaSpec", &["hard"], Is(not_negative)),
    ("core.v1.Secret", &["data"], Keys(names::config_key)),
    ("core.v1.SecretKeySelector", &["key"], Text(names::config_key)),
    ("core.v1.SecretKeySelector", &["name"], Name(names::subdomain)),
    ("core.v1.SecretProjection", &["name"], Present),
    ("core.v1.SecretVolumeSource", &["secretName"], Present),
    ("core.v1.SecretVolumeSource", &["defaultMode"], MODE),
    ("core.v1.ServicePort", &["appProtocol"], Text(names::qualified)),
    ("core.v1.ServicePort", &["name"], Text(names::label)),
    ("core.v1.ServicePort", &["port"], Is(port_number)),
    ("core.v1.ServicePort", &["targetPort"], Is(port)),
    ("core.v1.ServiceSpec", &["externalIPs"], Each(names::ip)),
    ("core.v1.ServiceSpec", &["ports"], Unique("name")),
    ("core.v1.ServiceSpec", &["selector"], Is(labels)),
    ("core.v1.TCPSocketAction", &["port"], Is(port)),
    ("core.v1.Toleration", &["key"], Text(names::qualified)),
    ("core.v1.Volume", &["name"], Text(names::label)),
    ("networking.v1.IngressRule", &["host"], Text(names::host)),
    ("networking.v1.IngressServiceBackend", &["name"], Text(names::label)),
    ("networking.v1.IngressSpec", &["ingressClassName"], Text(names::subdomain)),
    ("networking.v1.IngressTLS", &["hosts"], Each(names::wildcard)),
    ("networking.v1.IngressTLS", &["secretName"], Text(names::subdomain)),
    ("policy.v1.PodDisruptionBudgetSpec", &["minAvailable", "maxUnavailable"], Is(share)),
    ("rbac.v1.RoleRef", &["name"], Text(|name| NameRule::PathSegment.check(name, false))),
];

/// Whether a required field counts as missing. Numbers and booleans are never missing.
pub(super) fn is_empty(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::String(text) => text.is_empty(),
        Json::Array(items) => items.is_empty(),
        _ => false,
    }
}

impl Check {
    pub fn run(&self, report: &mut Report, at: &Path, value: &Json) {
        match self {
            Present if is_empty(value) => report.required(at, ""),
            Present => {}
            Text(_) if is_empty(value) => {}
            Text(form) | Name(form) => {
                let text = value.as_str().unwrap_or_default();
                report.messages(at, text, form(text));
            }
            Each(form) => {
                for (index, text) in value.as_array().into_iter().flatten().enumerate() {
                    Name(*form).run(report, &at.index(index), text);
                }
            }
            Keys(form) => {
                for key in value.as_object().into_iter().flatten().map(|(key, _)| key) {
                    report.messages(&at.key(key), key, form(key));
                }
            }
            Within(least, most) => {
                if let Some(number) = value.as_i64() {
                    report.within(at, number, *least, *most);
                }
            }
            Unique(field) => {
                let items = value.as_array().into_iter().flatten().enumerate();
                report.unique(items.map(|(index, item)| (at.index(index).field(*field), text(item, field))));
            }
            Is(rule) if !value.is_null() => rule(report, at, value),
            Is(_) => {}
        }
    }
}
