//! Defaults of `core/v1`.

use super::Default;
use crate::builtin::json::{
    entries, entry, flag, get, int, list, list_mut, remove, set, set_default, set_entry, text,
};
use krator_machine::Amount;
use serde_json::{Value as Json, json};

/// Quantities of resources are rounded up to thousandths.
const MILLI: i64 = -3;

pub(super) fn of(type_name: &str) -> Option<Default> {
    Some(match type_name {
        "core/v1.ResourceList" => resource_list,
        "core/v1.Volume" => volume,
        "core/v1.Container" | "core/v1.EphemeralContainer" => container,
        "core/v1.Service" => service,
        "core/v1.Pod" => pod,
        "core/v1.PodSpec" => pod_spec,
        "core/v1.Probe" => probe,
        "core/v1.PersistentVolumeClaim" => claim,
        "core/v1.Namespace" => namespace,
        "core/v1.NodeStatus" => node_status,
        "core/v1.LimitRangeItem" => limit_range_item,
        "core/v1.ServiceAccount" => service_account,
        "core/v1.ReplicationController" => replication_controller,
        _ => return None,
    })
}

fn resource_list(list: &mut Json) {
    for quantity in list
        .as_object_mut()
        .into_iter()
        .flat_map(serde_json::Map::values_mut)
    {
        let rounded = quantity.as_str().and_then(|text| Amount::parse(text).ok());
        if let Some(rounded) = rounded.map(|quantity| quantity.rounded_up(MILLI)) {
            *quantity = json!(rounded.to_string());
        }
    }
}

fn volume(volume: &mut Json) {
    // All fields of a volume except `name` are sources.
    let sources = volume
        .as_object()
        .map_or(0, |fields| fields.keys().filter(|key| *key != "name").count());
    if sources == 0 {
        set(volume, "emptyDir", json!({}));
    }
    if get(volume, "image").is_some() {
        let policy = pull_policy(text(volume, "image.reference"));
        set_default(volume, "image.pullPolicy", policy);
    }
}

/// The default pull policy: `Always` for images whose content can change under the same tag.
fn pull_policy(image: &str) -> &'static str {
    let name = image.rsplit('/').next().unwrap_or(image);
    let is_latest = name.split_once(':').is_none_or(|(_, tag)| tag == "latest");
    if is_latest && !image.contains('@') {
        "Always"
    } else {
        "IfNotPresent"
    }
}

fn container(container: &mut Json) {
    let policy = pull_policy(text(container, "image"));
    set_default(container, "imagePullPolicy", policy);
}

fn service(service: &mut Json) {
    match text(service, "spec.sessionAffinity") {
        "None" => remove(service, "spec.sessionAffinityConfig"),
        "ClientIP" => set_default(
            service,
            "spec.sessionAffinityConfig.clientIP.timeoutSeconds",
            10800,
        ),
        _ => {}
    }
    for port in list_mut(service, "spec.ports") {
        let number = int(port, "port").unwrap_or_default();
        if matches!(get(port, "targetPort"), None | Some(Json::String(_)) if text(port, "targetPort").is_empty())
            || int(port, "targetPort") == Some(0)
        {
            set(port, "targetPort", number);
        }
    }
    let type_ = text(service, "spec.type").to_owned();
    let external = matches!(type_.as_str(), "LoadBalancer" | "NodePort")
        || type_ == "ClusterIP" && !list(service, "spec.externalIPs").is_empty();
    if external {
        set_default(service, "spec.externalTrafficPolicy", "Cluster");
    }
    if matches!(type_.as_str(), "NodePort" | "LoadBalancer" | "ClusterIP")
        && get(service, "spec.internalTrafficPolicy").is_none()
    {
        set(service, "spec.internalTrafficPolicy", "Cluster");
    }
    if type_ == "ExternalName" {
        remove(service, "spec.internalTrafficPolicy");
    }
    if type_ == "LoadBalancer" {
        set_default(service, "spec.allocateLoadBalancerNodePorts", true);
        for ingress in list_mut(service, "status.loadBalancer.ingress") {
            if !text(ingress, "ip").is_empty() {
                set_default(ingress, "ipMode", "VIP");
            }
        }
    }
}

fn pod(pod: &mut Json) {
    for containers in ["spec.containers", "spec.initContainers"] {
        for container in list_mut(pod, containers) {
            fill_from(container, "resources.limits", "resources.requests");
        }
    }
    if int(pod, "spec.terminationGracePeriodSeconds").is_some_and(|seconds| seconds < 0) {
        set(pod, "spec.terminationGracePeriodSeconds", 1);
    }
    if flag(pod, "spec.hostNetwork") {
        for containers in ["spec.containers", "spec.initContainers"] {
            for port in list_mut(pod, containers).flat_map(|container| {
                container
                    .get_mut("ports")
                    .and_then(Json::as_array_mut)
                    .into_iter()
                    .flatten()
            }) {
                let number = int(port, "containerPort").unwrap_or_default();
                if int(port, "hostPort").unwrap_or_default() == 0 && number != 0 {
                    set(port, "hostPort", number);
                }
            }
        }
    }
}

/// Copies the entries that are missing in the map at `to` from the map at `from`.
fn fill_from(value: &mut Json, from: &str, to: &str) {
    let missing: Vec<(String, Json)> = entries(value, from)
        .filter(|(key, _)| entry(value, to, key).is_none())
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    for (key, quantity) in missing {
        set_entry(value, to, &key, quantity);
    }
}

fn pod_spec(spec: &mut Json) {
    // `serviceAccount` is a deprecated alias of `serviceAccountName`, and both are written.
    let old_name = text(spec, "serviceAccount").to_owned();
    if !old_name.is_empty() {
        set_default(spec, "serviceAccountName", old_name);
    }
    let name = text(spec, "serviceAccountName").to_owned();
    if !name.is_empty() {
        set(spec, "serviceAccount", name);
    }
    // A false value is omitted, but a null would be written.
    if !flag(spec, "hostNetwork") {
        remove(spec, "hostNetwork");
    }
}

fn probe(probe: &mut Json) {
    for (field, default) in [
        ("timeoutSeconds", 1),
        ("periodSeconds", 10),
        ("successThreshold", 1),
        ("failureThreshold", 3),
    ] {
        if int(probe, field).unwrap_or_default() == 0 {
            set(probe, field, default);
        }
    }
}

fn namespace(namespace: &mut Json) {
    let name = text(namespace, "metadata.name").to_owned();
    if !name.is_empty() {
        set_entry(namespace, "metadata.labels", "kubernetes.io/metadata.name", name);
    }
}

fn node_status(status: &mut Json) {
    if let (Some(capacity), None) = (get(status, "capacity").cloned(), get(status, "allocatable")) {
        set(status, "allocatable", capacity);
    }
}

fn limit_range_item(item: &mut Json) {
    if text(item, "type") == "Container" {
        fill_from(item, "max", "default");
        fill_from(item, "default", "defaultRequest");
        fill_from(item, "min", "defaultRequest");
    }
}

fn replication_controller(controller: &mut Json) {
    if let Some(labels) = get(controller, "spec.template.metadata.labels").cloned() {
        set_default(controller, "spec.selector", labels.clone());
        set_default(controller, "metadata.labels", labels);
    }
}

/// Keeps only the names of secrets.
fn service_account(account: &mut Json) {
    for secret in list_mut(account, "secrets") {
        *secret = json!({"name": text(secret, "name")});
    }
}

/// Fills `dataSource` and `dataSourceRef` from each other. Only claims and snapshots can be a `dataSource`; others are
/// ignored, as they were before `dataSourceRef` was introduced.
fn claim(claim: &mut Json) {
    let source = &claim["spec"]["dataSource"];
    let is_known = matches!(
        (text(source, "apiGroup"), text(source, "kind")),
        ("", "PersistentVolumeClaim") | ("snapshot.storage.k8s.io", "VolumeSnapshot")
    );
    if !is_known {
        remove(claim, "spec.dataSource");
    }
    let (source, reference) = (
        get(claim, "spec.dataSource").cloned(),
        get(claim, "spec.dataSourceRef").cloned(),
    );
    match (source, reference) {
        (Some(source), None) => set(claim, "spec.dataSourceRef", source),
        (None, Some(reference)) if text(&reference, "namespace").is_empty() => {
            set(claim, "spec.dataSource", reference);
            remove(claim, "spec.dataSource.namespace");
        }
        _ => {}
    }
}
