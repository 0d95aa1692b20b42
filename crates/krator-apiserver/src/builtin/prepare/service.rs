//! Changes of the type of a Service, after `pkg/registry/core/service/strategy.go`.

use crate::builtin::json::{get, int, list, list_mut, remove, text};
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// Removes the fields that the new type cannot have, if the request has left them unchanged.
pub(in super::super) fn drop_fields_of_old_type(service: &mut Json, old: &Json) {
    let same = |service: &Json, path: &str| get(service, path) == get(old, path);
    if needs_cluster_ip(old) && !needs_cluster_ip(service) {
        if same(service, "spec.clusterIP") && same(service, "spec.clusterIPs") {
            remove(service, "spec.clusterIP");
            remove(service, "spec.clusterIPs");
        }
        for field in ["spec.ipFamilies", "spec.ipFamilyPolicy"] {
            if same(service, field) {
                remove(service, field);
            }
        }
    }
    if has_node_ports(old) && !has_node_ports(service) && node_ports(old).is_superset(&node_ports(service)) {
        list_mut(service, "spec.ports").for_each(|port| remove(port, "nodePort"));
    }
    if checks_health(old) && !checks_health(service) && same(service, "spec.healthCheckNodePort") {
        remove(service, "spec.healthCheckNodePort");
    }
    if is_load_balancer(old) && !is_load_balancer(service) {
        for field in ["spec.allocateLoadBalancerNodePorts", "spec.loadBalancerClass"] {
            if same(service, field) {
                remove(service, field);
            }
        }
    }
    if is_external(old) && !is_external(service) && same(service, "spec.externalTrafficPolicy") {
        remove(service, "spec.externalTrafficPolicy");
    }
    if !is_load_balancer(service) {
        remove(service, "status.loadBalancer");
    }
}

fn needs_cluster_ip(service: &Json) -> bool {
    text(service, "spec.type") != "ExternalName"
}

pub(in super::super) fn has_node_ports(service: &Json) -> bool {
    matches!(text(service, "spec.type"), "NodePort" | "LoadBalancer")
}

fn is_load_balancer(service: &Json) -> bool {
    text(service, "spec.type") == "LoadBalancer"
}

pub(in super::super) fn checks_health(service: &Json) -> bool {
    is_load_balancer(service) && text(service, "spec.externalTrafficPolicy") == "Local"
}

fn is_external(service: &Json) -> bool {
    has_node_ports(service)
        || text(service, "spec.type") == "ClusterIP" && !list(service, "spec.externalIPs").is_empty()
}

fn node_ports(service: &Json) -> BTreeSet<i64> {
    let ports = list(service, "spec.ports")
        .iter()
        .filter_map(|port| int(port, "nodePort"));
    ports.filter(|port| *port != 0).collect()
}
