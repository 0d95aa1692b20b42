//! Ingresses, IngressClasses and NetworkPolicies, after `pkg/apis/networking/validation`.

use super::report::{Report, root};
use super::services::cidr;
use super::{batch, labels};
use crate::builtin::json::{get, int, list, text, texts};
use crate::builtin::names::{self, NameRule};
use krator_schema::Path;
use serde_json::Value as Json;
use std::net::IpAddr;

pub(super) fn ingress(report: &mut Report, object: &Json) {
    let (at, spec) = (root("spec"), &object["spec"]);
    let rules = list(spec, "rules");
    let default = get(spec, "defaultBackend");
    if rules.is_empty() && default.is_none() {
        report.invalid(
            &at,
            spec["rules"].clone(),
            "either `defaultBackend` or `rules` must be specified",
        );
    }
    if let Some(found) = default {
        backend(report, &at.field("defaultBackend"), found);
    }
    for (index, rule) in rules.iter().enumerate() {
        ingress_rule(report, &at.field("rules").index(index), rule);
    }
    for (index, tls) in list(spec, "tls").iter().enumerate() {
        let at = at.field("tls").index(index);
        for (host_index, name) in texts(tls, "hosts").into_iter().enumerate() {
            host(report, &at.field("hosts").index(host_index), name);
        }
        let secret = text(tls, "secretName");
        if !secret.is_empty() {
            report.messages(&at.field("secretName"), secret, names::subdomain(secret));
        }
    }
    if let Some(class) = get(spec, "ingressClassName").and_then(Json::as_str) {
        report.messages(&at.field("ingressClassName"), class, names::subdomain(class));
    }
}

fn host(report: &mut Report, at: &Path, host: &str) {
    let messages = if host.contains('*') {
        names::wildcard_subdomain(host)
    } else {
        names::subdomain(host)
    };
    report.messages(at, host, messages);
}

fn ingress_rule(report: &mut Report, at: &Path, rule: &Json) {
    let name = text(rule, "host");
    if !name.is_empty() {
        if name.parse::<IpAddr>().is_ok() {
            report.invalid(&at.field("host"), name, "must be a DNS name, not an IP address");
        }
        host(report, &at.field("host"), name);
    }
    if let Some(http) = get(rule, "http") {
        let at = at.field("http").field("paths");
        let paths = list(http, "paths");
        if paths.is_empty() {
            report.required(&at, "");
        }
        for (index, path) in paths.iter().enumerate() {
            http_path(report, &at.index(index), path);
        }
    }
}

fn http_path(report: &mut Report, at: &Path, path: &Json) {
    let value = text(path, "path");
    let path_at = at.field("path");
    match text(path, "pathType") {
        "" => return report.required(&at.field("pathType"), "pathType must be specified"),
        "Exact" | "Prefix" => {
            if !value.starts_with('/') {
                report.invalid(&path_at, value, "must be an absolute path");
            }
            for part in ["//", "/./", "/../", "%2f", "%2F"]
                .into_iter()
                .filter(|part| value.contains(part))
            {
                report.invalid(&path_at, value, format!("must not contain '{part}'"));
            }
            for end in ["/..", "/."].into_iter().filter(|end| value.ends_with(end)) {
                report.invalid(&path_at, value, format!("cannot end with '{end}'"));
            }
        }
        "ImplementationSpecific" => {
            if !value.is_empty() && !value.starts_with('/') {
                report.invalid(&path_at, value, "must be an absolute path");
            }
        }
        other => {
            report.not_supported(
                &at.field("pathType"),
                other,
                &["Exact", "ImplementationSpecific", "Prefix"],
            );
        }
    }
    backend(report, &at.field("backend"), &path["backend"]);
}

fn backend(report: &mut Report, at: &Path, backend: &Json) {
    match (get(backend, "resource"), get(backend, "service")) {
        (Some(_), Some(_)) => report.invalid(at, "", "cannot set both resource and service backends"),
        (Some(resource), None) => reference(report, &at.field("resource"), resource),
        (None, Some(service)) => service_backend(report, at, service),
        (None, None) => report.invalid(at, "", "resource or service backend is required"),
    }
}

fn service_backend(report: &mut Report, at: &Path, service: &Json) {
    let service_at = at.field("service");
    match text(service, "name") {
        "" => report.required(&service_at.field("name"), ""),
        name => report.messages(&service_at.field("name"), name, names::label(name)),
    }
    let (name, number) = (
        text(service, "port.name"),
        int(service, "port.number").unwrap_or_default(),
    );
    let port_at = service_at.field("port");
    match (name, number) {
        ("", 0) => report.required(at, "port name or number is required"),
        ("", number) => report.messages(&port_at.field("number"), number, names::port_number(number)),
        (name, 0) => report.messages(&port_at.field("name"), name, names::port_name(name)),
        _ => report.invalid(at, "", "cannot set both port name & port number"),
    }
}

/// A reference to an object of any kind.
fn reference(report: &mut Report, at: &Path, reference: &Json) {
    if let Some(group) = get(reference, "apiGroup").and_then(Json::as_str) {
        report.messages(&at.field("apiGroup"), group, names::subdomain(group));
    }
    for field in ["kind", "name"] {
        match text(reference, field) {
            "" => report.required(&at.field(field), ""),
            value => report.messages(&at.field(field), value, NameRule::PathSegment.check(value, false)),
        }
    }
}

pub(super) fn ingress_class(report: &mut Report, object: &Json) {
    let at = root("spec");
    let controller = text(object, "spec.controller");
    if controller.len() > 250 {
        report.too_long(&at.field("controller"), 250);
    }
    batch::domain_path(report, &at.field("controller"), controller);
    let Some(parameters) = get(object, "spec.parameters") else {
        return;
    };
    let at = at.field("parameters");
    reference(report, &at, parameters);
    let namespace = get(parameters, "namespace").and_then(Json::as_str);
    match (text(parameters, "scope"), namespace) {
        ("Namespace", None) => {
            report.required(&at.field("namespace"), "`parameters.scope` is set to 'Namespace'");
        }
        ("Namespace", Some(name)) => report.messages(&at.field("namespace"), name, names::label(name)),
        ("Cluster", Some(_)) => {
            report.forbidden(&at.field("namespace"), "`parameters.scope` is set to 'Cluster'");
        }
        ("Cluster", None) => {}
        (scope, _) => report.not_supported(&at.field("scope"), scope, &["Cluster", "Namespace"]),
    }
}

pub(super) fn network_policy(report: &mut Report, object: &Json) {
    let (at, spec) = (root("spec"), &object["spec"]);
    labels::selector(report, &at.field("podSelector"), &spec["podSelector"]);
    for (direction, peers) in [("ingress", "from"), ("egress", "to")] {
        for (index, rule) in list(spec, direction).iter().enumerate() {
            let at = at.field(direction).index(index);
            for (index, port) in list(rule, "ports").iter().enumerate() {
                policy_port(report, &at.field("ports").index(index), port);
            }
            for (index, peer) in list(rule, peers).iter().enumerate() {
                policy_peer(report, &at.field(peers).index(index), peer);
            }
        }
    }
    let types = texts(spec, "policyTypes");
    let at = at.field("policyTypes");
    if types.len() > 2 {
        return report.invalid(
            &at,
            spec["policyTypes"].clone(),
            "may not specify more than two policyTypes",
        );
    }
    for (index, type_) in types.into_iter().enumerate() {
        if !["Ingress", "Egress"].contains(&type_) {
            report.not_supported(&at.index(index), type_, &["Ingress", "Egress"]);
        }
    }
}

fn policy_port(report: &mut Report, at: &Path, port: &Json) {
    let protocol = text(port, "protocol");
    if !["TCP", "UDP", "SCTP"].contains(&protocol) {
        report.not_supported(&at.field("protocol"), protocol, &["TCP", "UDP", "SCTP"]);
    }
    let end = int(port, "endPort");
    let end_at = at.field("endPort");
    match (get(port, "port"), end) {
        (None, Some(end)) => {
            report.invalid(&end_at, end, "may not be specified when `port` is not specified")
        }
        (None, None) => {}
        (Some(Json::String(name)), end) => {
            if let Some(end) = end {
                report.invalid(&end_at, end, "may not be specified when `port` is non-numeric");
            }
            report.messages(&at.field("port"), name.as_str(), names::port_name(name));
        }
        (Some(number), end) => {
            let number = number.as_i64().unwrap_or_default();
            report.messages(&at.field("port"), number, names::port_number(number));
            if let Some(end) = end {
                if end < number {
                    report.invalid(&end_at, number, "must be greater than or equal to `port`");
                }
                report.messages(&end_at, end, names::port_number(end));
            }
        }
    }
}

fn policy_peer(report: &mut Report, at: &Path, peer: &Json) {
    let mut count = 0;
    for field in ["podSelector", "namespaceSelector"] {
        if let Some(selector) = get(peer, field) {
            count += 1;
            labels::selector(report, &at.field(field), selector);
        }
    }
    if let Some(block) = get(peer, "ipBlock") {
        ip_block(report, &at.field("ipBlock"), block);
        if count > 0 {
            report.forbidden(at, "may not specify both ipBlock and another peer");
        }
    } else if count == 0 {
        report.required(at, "must specify a peer");
    }
}

fn ip_block(report: &mut Report, at: &Path, block: &Json) {
    let range = text(block, "cidr");
    if range.is_empty() {
        return report.required(&at.field("cidr"), "");
    }
    cidr(report, &at.field("cidr"), range);
    let Some((base, bits)) = parse(range) else { return };
    for (index, except) in texts(block, "except").into_iter().enumerate() {
        let at = at.field("except").index(index);
        cidr(report, &at, except);
        let Some((address, except_bits)) = parse(except) else {
            continue;
        };
        let same_network = match (base, address) {
            (IpAddr::V4(base), IpAddr::V4(address)) => {
                same(base.to_bits().into(), address.to_bits().into(), 32, bits)
            }
            (IpAddr::V6(base), IpAddr::V6(address)) => same(base.to_bits(), address.to_bits(), 128, bits),
            _ => false,
        };
        if !same_network || bits >= except_bits {
            report.invalid(&at, except, "must be a strict subset of `cidr`");
        }
    }
}

fn parse(range: &str) -> Option<(IpAddr, u32)> {
    let (address, bits) = range.split_once('/')?;
    Some((address.parse().ok()?, bits.parse().ok()?))
}

/// Whether two addresses have the same first bits.
fn same(a: u128, b: u128, width: u32, bits: u32) -> bool {
    bits == 0 || (a ^ b) >> (width.saturating_sub(bits)) == 0
}
