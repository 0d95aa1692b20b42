//! Endpoints, PersistentVolumes, LimitRanges, ResourceQuotas and Nodes: the rules that users meet most.

use super::claims::access_modes;
use super::containers::{container_resource, resource_value};
use super::pods::ip;
use super::report::{Report, root};
use super::services::external_ip;
use crate::builtin::json::{entries, entry, get, int, list, text};
use crate::builtin::names;
use crate::builtin::quantity::Quantity;
use krator_schema::Path;
use serde_json::Value as Json;
use std::collections::BTreeSet;

pub(super) fn endpoints(report: &mut Report, object: &Json) {
    for (index, subset) in list(object, "subsets").iter().enumerate() {
        let at = root("subsets").index(index);
        let (ready, other) = (list(subset, "addresses"), list(subset, "notReadyAddresses"));
        if ready.is_empty() && other.is_empty() {
            report.required(&at, "must specify `addresses` or `notReadyAddresses`");
        }
        for (field, addresses) in [("addresses", ready), ("notReadyAddresses", other)] {
            for (index, address) in addresses.iter().enumerate() {
                endpoint(report, &at.field(field).index(index), address);
            }
        }
        let ports = list(subset, "ports");
        for (index, port) in ports.iter().enumerate() {
            endpoint_port(report, &at.field("ports").index(index), port, ports.len() > 1);
        }
    }
}

fn endpoint(report: &mut Report, at: &Path, address: &Json) {
    let value = text(address, "ip");
    ip(report, &at.field("ip"), value);
    let host = text(address, "hostname");
    if !host.is_empty() {
        report.messages(&at.field("hostname"), host, names::label(host));
    }
    if let Some(node) = get(address, "nodeName").and_then(Json::as_str) {
        report.messages(&at.field("nodeName"), node, names::subdomain(node));
    }
    if value.parse::<std::net::IpAddr>().is_ok() {
        external_ip(report, &at.field("ip"), value);
    } else {
        report.invalid(&at.field("ip"), value, "must be a valid IP address");
    }
}

fn endpoint_port(report: &mut Report, at: &Path, port: &Json, needs_name: bool) {
    match text(port, "name") {
        "" if needs_name => report.required(&at.field("name"), ""),
        "" => {}
        name => report.messages(&at.field("name"), name, names::label(name)),
    }
    let number = int(port, "port").unwrap_or_default();
    report.messages(&at.field("port"), number, names::port_number(number));
    report.one_of(
        &at.field("protocol"),
        text(port, "protocol"),
        &["SCTP", "TCP", "UDP"],
    );
    if let Some(protocol) = get(port, "appProtocol").and_then(Json::as_str) {
        report.messages(&at.field("appProtocol"), protocol, names::qualified(protocol));
    }
}

/// The source of the volume is left to [`super::beyond`], except that there has to be one.
pub(super) fn persistent_volume(report: &mut Report, object: &Json) {
    let (at, spec) = (root("spec"), &object["spec"]);
    if list(spec, "accessModes").is_empty() {
        report.required(&at.field("accessModes"), "");
    }
    access_modes(report, &at.field("accessModes"), spec);
    let capacity_at = at.field("capacity");
    let capacity: Vec<_> = entries(spec, "capacity").collect();
    if capacity.is_empty() {
        report.required(&capacity_at, "");
    }
    if capacity.len() != 1 || capacity[0].0 != "storage" {
        report.not_supported(&capacity_at, spec["capacity"].clone(), &["storage"]);
    }
    for (name, value) in capacity {
        let value = value.as_str().unwrap_or_default();
        if Quantity::parse(value).is_ok_and(|size| size.is_negative() || size.is_zero()) {
            report.invalid(&capacity_at.key(name), value, "must be greater than zero");
        }
    }
    let policy = text(spec, "persistentVolumeReclaimPolicy");
    const POLICIES: [&str; 3] = ["Delete", "Recycle", "Retain"];
    if !policy.is_empty() && !POLICIES.contains(&policy) {
        report.not_supported(&at.field("persistentVolumeReclaimPolicy"), policy, &POLICIES);
    }
    if !PERSISTENT_SOURCES
        .iter()
        .any(|source| get(spec, source).is_some())
    {
        report.required(&at, "must specify a volume type");
    }
    let class = text(spec, "storageClassName");
    if !class.is_empty() {
        report.messages(&at.field("storageClassName"), class, names::subdomain(class));
    }
}

/// Where persistent volumes can be.
pub(super) const PERSISTENT_SOURCES: [&str; 22] = [
    "hostPath",
    "nfs",
    "local",
    "csi",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "glusterfs",
    "rbd",
    "iscsi",
    "cinder",
    "cephfs",
    "fc",
    "flocker",
    "flexVolume",
    "azureFile",
    "vsphereVolume",
    "quobyte",
    "azureDisk",
    "photonPersistentDisk",
    "portworxVolume",
    "scaleIO",
    "storageos",
];

pub(super) fn limit_range(report: &mut Report, object: &Json) {
    let mut seen = BTreeSet::new();
    for (index, limit) in list(object, "spec.limits").iter().enumerate() {
        let at = root("spec.limits").index(index);
        let type_ = text(limit, "type");
        let type_at = at.field("type");
        let messages = names::qualified(type_);
        if messages.is_empty()
            && !matches!(type_, "Pod" | "Container" | "PersistentVolumeClaim")
            && !type_.contains('/')
        {
            report.invalid(
                &type_at,
                type_,
                "must be a standard limit type or fully qualified",
            );
        }
        report.messages(&type_at, type_, messages);
        if !seen.insert(type_) {
            report.duplicate(&type_at, type_);
        }
        limits(report, &at, limit, type_);
    }
}

fn limits(report: &mut Report, at: &Path, limit: &Json, type_: &str) {
    for field in ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"] {
        if type_ == "Pod" && field.starts_with("default") {
            if get(limit, field).is_some() {
                report.forbidden(&at.field(field), "may not be specified when `type` is 'Pod'");
            }
            continue;
        }
        for (name, _) in entries(limit, field).filter(|_| matches!(type_, "Pod" | "Container")) {
            container_resource(report, &at.field(field).key(name), name);
        }
    }
    let quantity =
        |field: &str, name: &str| Quantity::parse(entry(limit, field, name).and_then(Json::as_str)?).ok();
    let names: BTreeSet<&String> = ["max", "min", "default", "defaultRequest"]
        .iter()
        .flat_map(|field| entries(limit, field))
        .map(|(name, _)| name)
        .collect();
    for name in names {
        for (field, smaller, larger, words) in [
            ("min", "min", "max", "min value {} is greater than max value {}"),
            (
                "defaultRequest",
                "min",
                "defaultRequest",
                "min value {} is greater than default request value {}",
            ),
            (
                "defaultRequest",
                "defaultRequest",
                "max",
                "default request value {} is greater than max value {}",
            ),
            (
                "defaultRequest",
                "defaultRequest",
                "default",
                "default request value {} is greater than default limit value {}",
            ),
            (
                "default",
                "min",
                "default",
                "min value {} is greater than default value {}",
            ),
            (
                "default",
                "default",
                "max",
                "default value {} is greater than max value {}",
            ),
        ] {
            let (Some(small), Some(large)) = (quantity(smaller, name), quantity(larger, name)) else {
                continue;
            };
            if small > large {
                // The original prints the value of the field, except for these two.
                let shown = match (field, smaller, larger) {
                    ("default", "min", _) => &small,
                    ("default", "default", _) => &large,
                    (field, smaller, _) if field == smaller => &small,
                    _ => &large,
                };
                let detail =
                    words
                        .replacen("{}", &small.to_string(), 1)
                        .replacen("{}", &large.to_string(), 1);
                report.invalid(&at.field(field).key(name), shown.to_string(), detail);
            }
        }
    }
}

pub(super) fn resource_quota(report: &mut Report, object: &Json) {
    for (name, value) in entries(object, "spec.hard") {
        let at = root("spec.hard").key(name);
        let messages = names::qualified(name);
        report.messages(&at, name.as_str(), messages);
        resource_value(report, &at, name, value.as_str().unwrap_or_default());
    }
}

pub(super) fn node(report: &mut Report, object: &Json) {
    let mut seen = BTreeSet::new();
    for (index, taint) in list(object, "spec.taints").iter().enumerate() {
        // The original has this path, although taints are in the spec.
        let at = root("metadata.taints").index(index);
        let (key, value, effect) = (text(taint, "key"), text(taint, "value"), text(taint, "effect"));
        report.messages(&at.field("key"), key, names::qualified(key));
        let messages = names::label_value(value);
        if !messages.is_empty() {
            report.invalid(&at.field("value"), value, messages.join(";"));
        }
        report.one_of(
            &at.field("effect"),
            effect,
            &["NoSchedule", "PreferNoSchedule", "NoExecute"],
        );
        if !seen.insert((key, effect)) {
            report.duplicate(&at, taint.clone());
        }
    }
}
