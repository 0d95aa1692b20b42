//! Services, after `validateService` in `pkg/apis/core/validation`.

use super::pods::ip;
use super::report::{Report, root};
use super::{labels, probes};
use crate::builtin::json::{entry, get, int, list, text, texts};
use crate::builtin::names;
use crate::refusal::FieldError;
use krator_schema::Path;
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;

const TYPES: [&str; 4] = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];

/// A Service, to which addresses and ports have been allocated.
pub(super) fn service(report: &mut Report, object: &Json) {
    let (at, spec) = (root("spec"), &object["spec"]);
    let type_ = text(spec, "type");
    if list(spec, "ports").is_empty() && !is_headless(spec) && type_ != "ExternalName" {
        report.required(&at.field("ports"), "");
    }
    if matches!(type_, "LoadBalancer" | "NodePort") && is_headless(spec) {
        let detail = format!("may not be set to 'None' for {type_} services");
        report.invalid(&at.field("clusterIPs").index(0), "None", detail);
    }
    if type_ == "ExternalName" {
        external_name(report, &at, spec);
    }
    ports(report, &at.field("ports"), list(spec, "ports"));
    labels::labels(report, &at.field("selector"), &spec["selector"]);
    session_affinity(report, &at, spec);
    report.extend(cluster_ips(spec));
    for (index, address) in texts(spec, "externalIPs").into_iter().enumerate() {
        external_ip(report, &at.field("externalIPs").index(index), address);
    }
    report.one_of(&at.field("type"), type_, &TYPES);
    port_numbers(report, &at.field("ports"), spec);
    load_balancer(report, &at, object);
    traffic(report, &at, spec);
}

fn is_headless(spec: &Json) -> bool {
    texts(spec, "clusterIPs").first() == Some(&"None")
}

fn external_name(report: &mut Report, at: &Path, spec: &Json) {
    for field in ["clusterIPs", "ipFamilies"] {
        if !list(spec, field).is_empty() {
            report.forbidden(&at.field(field), "may not be set for ExternalName services");
        }
    }
    if get(spec, "ipFamilyPolicy").is_some() {
        report.forbidden(
            &at.field("ipFamilyPolicy"),
            "may not be set for ExternalName services",
        );
    }
    let name = text(spec, "externalName");
    match name.strip_suffix('.').unwrap_or(name) {
        "" => report.required(&at.field("externalName"), ""),
        name => report.messages(&at.field("externalName"), name, names::subdomain(name)),
    }
}

fn ports(report: &mut Report, at: &Path, ports: &[Json]) {
    let mut seen = BTreeSet::new();
    for (index, port) in ports.iter().enumerate() {
        let at = at.index(index);
        let name = text(port, "name");
        if name.is_empty() {
            if ports.len() > 1 {
                report.required(&at.field("name"), "");
            }
        } else {
            report.messages(&at.field("name"), name, names::label(name));
            if !seen.insert(name) {
                report.duplicate(&at.field("name"), name);
            }
        }
        let number = int(port, "port").unwrap_or_default();
        report.messages(&at.field("port"), number, names::port_number(number));
        report.one_of(
            &at.field("protocol"),
            text(port, "protocol"),
            &["SCTP", "TCP", "UDP"],
        );
        probes::port(report, &at.field("targetPort"), &port["targetPort"]);
        if let Some(protocol) = get(port, "appProtocol").and_then(Json::as_str) {
            report.messages(&at.field("appProtocol"), protocol, names::qualified(protocol));
        }
    }
}

fn session_affinity(report: &mut Report, at: &Path, spec: &Json) {
    let affinity = text(spec, "sessionAffinity");
    report.one_of(&at.field("sessionAffinity"), affinity, &["ClientIP", "None"]);
    if affinity == "ClientIP" {
        let at = at
            .field("sessionAffinityConfig")
            .field("clientIP")
            .field("timeoutSeconds");
        let seconds = int(spec, "sessionAffinityConfig.clientIP.timeoutSeconds").unwrap_or_default();
        if !(1..=86400).contains(&seconds) {
            report.invalid(&at, seconds, "must be greater than 0 and less than 86400");
        }
    }
}

/// The rules of `clusterIP`, `clusterIPs`, `ipFamilies` and `ipFamilyPolicy` among each other.
pub(in super::super) fn cluster_ips(spec: &Json) -> Vec<FieldError> {
    let mut report = Report::default();
    if text(spec, "type") == "ExternalName" {
        return Vec::new();
    }
    let at = root("spec");
    let ips_at = at.field("clusterIPs");
    let (address, addresses) = (text(spec, "clusterIP"), texts(spec, "clusterIPs"));
    let all = || spec["clusterIPs"].clone();
    match (address.is_empty(), addresses.first()) {
        (false, None) => report.required(&ips_at, ""),
        (false, Some(first)) if *first != address => {
            report.invalid(&ips_at, all(), "first value must match `clusterIP`");
        }
        (true, Some(_)) => report.invalid(&ips_at, all(), "must be empty when `clusterIP` is not specified"),
        _ => {}
    }
    families(&mut report, &at, spec);
    let before = report.len();
    if addresses.first() == Some(&"None") {
        if addresses.len() > 1 {
            report.invalid(&ips_at, all(), "'None' must be the first and only value");
        }
    } else {
        for (index, address) in addresses.iter().enumerate() {
            ip(&mut report, &ips_at.index(index), address);
        }
    }
    let has_invalid = report.len() > before;
    if addresses.len() > 2 {
        report.invalid(&ips_at, all(), "may only hold up to 2 values");
    }
    if has_invalid || addresses.first() == Some(&"None") {
        return report.into_errors();
    }
    let is_v6 = |address: &str| address.contains(':');
    if addresses.len() > 1 && (addresses.len() > 2 || is_v6(addresses[0]) == is_v6(addresses[1])) {
        report.invalid(
            &ips_at,
            all(),
            "may specify no more than one IP for each IP family",
        );
    }
    for (index, (address, family)) in addresses.iter().zip(texts(spec, "ipFamilies")).enumerate() {
        let found = if is_v6(address) { "IPv6" } else { "IPv4" };
        if matches!(family, "IPv4" | "IPv6") && found != family {
            let detail = format!("expected an {family} value as indicated by `ipFamilies[{index}]`");
            report.invalid(&ips_at.index(index), *address, detail);
        }
    }
    report.into_errors()
}

fn families(report: &mut Report, at: &Path, spec: &Json) {
    let mut seen = BTreeSet::new();
    for (index, family) in texts(spec, "ipFamilies").into_iter().enumerate() {
        let at = at.field("ipFamilies").index(index);
        if !["IPv4", "IPv6"].contains(&family) {
            report.not_supported(&at, family, &["IPv4", "IPv6"]);
        }
        if !seen.insert(family) {
            report.duplicate(&at, family);
        }
    }
    const POLICIES: [&str; 3] = ["PreferDualStack", "RequireDualStack", "SingleStack"];
    if let Some(policy) = get(spec, "ipFamilyPolicy").and_then(Json::as_str)
        && !POLICIES.contains(&policy)
    {
        report.not_supported(&at.field("ipFamilyPolicy"), policy, &POLICIES);
    }
}

/// An address that is not only of this machine or network.
pub(super) fn external_ip(report: &mut Report, at: &Path, address: &str) {
    let Ok(found) = address.parse::<std::net::IpAddr>() else {
        return ip(report, at, address);
    };
    if found.is_unspecified() {
        report.invalid(at, address, format!("may not be unspecified ({address})"));
    }
    if found.is_loopback() {
        report.invalid(
            at,
            address,
            "may not be in the loopback range (127.0.0.0/8, ::1/128)",
        );
    }
    let (local, multicast) = match found {
        std::net::IpAddr::V4(v4) => (v4.is_link_local(), v4.octets()[..3] == [224, 0, 0]),
        std::net::IpAddr::V6(v6) => (v6.is_unicast_link_local(), v6.segments()[0] & 0xff0f == 0xff02),
    };
    if local {
        report.invalid(
            at,
            address,
            "may not be in the link-local range (169.254.0.0/16, fe80::/10)",
        );
    }
    if multicast {
        report.invalid(
            at,
            address,
            "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)",
        );
    }
}

/// Two ports cannot have the same number and protocol.
fn port_numbers(report: &mut Report, at: &Path, spec: &Json) {
    let ports = list(spec, "ports");
    let node = |port: &Json| int(port, "nodePort").filter(|number| *number != 0);
    if text(spec, "type") == "ClusterIP" {
        for (index, _) in ports.iter().enumerate().filter(|(_, port)| node(port).is_some()) {
            report.forbidden(
                &at.index(index).field("nodePort"),
                "may not be used when `type` is 'ClusterIP'",
            );
        }
    }
    let mut seen = BTreeSet::new();
    for (index, port) in ports.iter().enumerate() {
        let Some(number) = node(port) else { continue };
        if !seen.insert((text(port, "protocol"), number)) {
            report.duplicate(&at.index(index).field("nodePort"), number);
        }
    }
    let mut seen = BTreeSet::new();
    for (index, port) in ports.iter().enumerate() {
        let (protocol, number) = (text(port, "protocol"), int(port, "port").unwrap_or_default());
        if !seen.insert((protocol, number)) {
            // The original prints its internal type, which has other names of fields.
            let key = json!({
                "Name": "", "Protocol": protocol, "AppProtocol": null, "Port": number, "TargetPort": 0, "NodePort": 0,
            });
            report.duplicate(&at.index(index), key);
        }
    }
}

fn load_balancer(report: &mut Report, at: &Path, object: &Json) {
    let spec = &object["spec"];
    let is_balancer = text(spec, "type") == "LoadBalancer";
    let detail = "may only be used when `type` is 'LoadBalancer'";
    const RANGES: &str = "service.beta.kubernetes.io/load-balancer-source-ranges";
    let ranges_at = at.field("LoadBalancerSourceRanges");
    let ranges = texts(spec, "loadBalancerSourceRanges");
    if !ranges.is_empty() {
        if !is_balancer {
            report.forbidden(&ranges_at, detail);
        }
        for (index, range) in ranges.iter().enumerate() {
            cidr(report, &ranges_at.index(index), range.trim());
        }
    } else if let Some(ranges) = entry(object, "metadata.annotations", RANGES).and_then(Json::as_str) {
        let at = root("metadata.annotations").key(RANGES);
        if !is_balancer {
            report.forbidden(&at, detail);
        }
        for range in ranges.split(',').map(str::trim).filter(|range| !range.is_empty()) {
            cidr(report, &at, range);
        }
    }
    if get(spec, "allocateLoadBalancerNodePorts").is_some() && !is_balancer {
        report.forbidden(&at.field("allocateLoadBalancerNodePorts"), detail);
    }
    if let Some(class) = get(spec, "loadBalancerClass").and_then(Json::as_str) {
        if is_balancer {
            report.messages(&at.field("loadBalancerClass"), class, names::qualified(class));
        } else {
            report.forbidden(&at.field("loadBalancerClass"), detail);
        }
    }
}

/// A range of addresses, such as `10.9.8.0/24`.
pub(super) fn cidr(report: &mut Report, at: &Path, range: &str) {
    let is_valid = range.split_once('/').is_some_and(|(address, bits)| {
        let most = match address.parse() {
            Ok(std::net::IpAddr::V4(_)) => 32,
            Ok(std::net::IpAddr::V6(_)) => 128,
            Err(_) => return false,
        };
        bits.parse::<u8>().is_ok_and(|bits| bits <= most)
    });
    if !is_valid {
        report.invalid(
            at,
            range,
            "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)",
        );
    }
}

fn traffic(report: &mut Report, at: &Path, spec: &Json) {
    let type_ = text(spec, "type");
    let is_external = matches!(type_, "LoadBalancer" | "NodePort")
        || type_ == "ClusterIP" && !list(spec, "externalIPs").is_empty();
    let policy = text(spec, "externalTrafficPolicy");
    let external_at = at.field("externalTrafficPolicy");
    if is_external {
        report.one_of(&external_at, policy, &["Cluster", "Local"]);
    } else if !policy.is_empty() {
        report.invalid(
            &external_at,
            policy,
            "may only be set for externally-accessible services",
        );
    }
    let port = int(spec, "healthCheckNodePort").unwrap_or_default();
    let port_at = at.field("healthCheckNodePort");
    let needs_port = type_ == "LoadBalancer" && policy == "Local";
    match (needs_port, port) {
        (true, 0) => report.required(&port_at, ""),
        (true, port) => report.messages(&port_at, port, names::port_number(port)),
        (false, 0) => {}
        (false, port) => {
            let detail =
                "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
            report.invalid(&port_at, port, detail);
        }
    }
    for (field, supported) in [
        ("internalTrafficPolicy", &["Cluster", "Local"][..]),
        (
            "trafficDistribution",
            &["PreferClose", "PreferSameZone", "PreferSameNode"],
        ),
    ] {
        if let Some(value) = get(spec, field).and_then(Json::as_str)
            && !supported.contains(&value)
        {
            report.not_supported(&at.field(field), value, supported);
        }
    }
}

/// A Service that exists keeps its addresses.
pub(super) fn update(report: &mut Report, object: &Json, old: &Json) {
    let (new, before) = (&object["spec"], &old["spec"]);
    let is_name = |spec: &Json| text(spec, "type") == "ExternalName";
    if !is_name(new) && !is_name(before) {
        let both_headless = is_headless(new) && is_headless(before);
        if !both_headless {
            kept(report, "clusterIPs", "clusterIP", new, before);
        }
        if is_headless(new) == is_headless(before) && !is_headless(new) {
            kept(report, "ipFamilies", "ipFamily", new, before);
        }
    }
    let is_balancer = |spec: &Json| text(spec, "type") == "LoadBalancer";
    if is_balancer(new)
        && is_balancer(before)
        && get(new, "loadBalancerClass") != get(before, "loadBalancerClass")
    {
        let class = get(new, "loadBalancerClass").cloned().unwrap_or_default();
        report.invalid(&root("spec.loadBalancerClass"), class, "may not change once set");
    }
    let checks_health = |spec: &Json| is_balancer(spec) && text(spec, "externalTrafficPolicy") == "Local";
    if checks_health(new)
        && checks_health(before)
        && get(new, "healthCheckNodePort") != get(before, "healthCheckNodePort")
    {
        report.forbidden(&root("spec.healthCheckNodePort"), "field is immutable");
    }
    service(report, object);
}

fn kept(report: &mut Report, field: &str, singular: &str, new: &Json, before: &Json) {
    let at = root("spec").field(field);
    let (new_values, old_values) = (texts(new, field), texts(before, field));
    let value = || get(new, field).cloned().unwrap_or_default();
    if old_values.len() == new_values.len() {
        for (index, (old, new)) in old_values.iter().zip(&new_values).enumerate() {
            if old != new {
                report.invalid(&at.index(index), value(), "may not change once set");
            }
        }
    } else if new_values.is_empty() {
        report.invalid(
            &at.index(0),
            value(),
            format!("primary {singular} can not be unset"),
        );
    } else if old_values
        .first()
        .is_some_and(|old| Some(old) != new_values.first())
    {
        report.invalid(&at.index(0), value(), "may not change once set");
    }
}

/// The status of a Service.
pub(super) fn status(report: &mut Report, object: &Json) {
    let at = root("status.loadBalancer.ingress");
    let ingress = list(object, "status.loadBalancer.ingress");
    if text(object, "spec.type") != "LoadBalancer" && !ingress.is_empty() {
        return report.forbidden(&at, "may only be used when `spec.type` is 'LoadBalancer'");
    }
    for (index, ingress) in ingress.iter().enumerate() {
        let at = at.index(index);
        let (address, host) = (text(ingress, "ip"), text(ingress, "hostname"));
        let mode = get(ingress, "ipMode").and_then(Json::as_str);
        if !address.is_empty() {
            ip(report, &at.field("ip"), address);
        }
        match (mode, address.is_empty()) {
            (None, false) => report.required(&at.field("ipMode"), "must be specified when `ip` is set"),
            (Some(_), true) => {
                report.forbidden(&at.field("ipMode"), "may not be specified when `ip` is not set")
            }
            (Some(mode), false) if !["Proxy", "VIP"].contains(&mode) => {
                report.not_supported(&at.field("ipMode"), mode, &["Proxy", "VIP"]);
            }
            _ => {}
        }
        if !host.is_empty() {
            report.messages(&at.field("hostname"), host, names::subdomain(host));
            if host.parse::<std::net::IpAddr>().is_ok() {
                report.invalid(
                    &at.field("hostname"),
                    host,
                    "must be a DNS name, not an IP address",
                );
            }
        }
    }
}
