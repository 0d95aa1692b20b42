//! Ingresses, IngressClasses and NetworkPolicies, after `pkg/apis/networking/validation`.

use super::report::{Report, root};
use super::shape::TypeRule;
use crate::builtin::json::{get, int, list, text, texts};
use crate::builtin::names::{self, NameRule};
use krator_schema::Path;
use serde_json::Value as Json;
use std::net::IpAddr;

pub(super) const TYPES: &[(&str, TypeRule)] = &[
    ("networking.v1.IngressTLS", |report, at, tls| {
        for (index, name) in texts(tls, "hosts").into_iter().enumerate() {
            report.messages(&at.field("hosts").index(index), name, host(name));
        }
        report.text(at, tls, "secretName", names::subdomain);
    }),
    ("networking.v1.IngressRule", |report, at, rule| {
        if text(rule, "host").parse::<IpAddr>().is_ok() {
            let detail = "must be a DNS name, not an IP address";
            report.invalid(&at.field("host"), text(rule, "host"), detail);
        }
        report.text(at, rule, "host", host);
    }),
    ("networking.v1.HTTPIngressPath", http_path),
    ("networking.v1.IngressBackend", backend),
    ("networking.v1.IngressClassParametersReference", parameters),
    ("networking.v1.NetworkPolicyPort", policy_port),
    ("networking.v1.NetworkPolicyPeer", policy_peer),
    ("networking.v1.IPBlock", |report, at, block| {
        report.text(at, block, "cidr", cidr);
        for (index, except) in texts(block, "except").into_iter().enumerate() {
            report.messages(&at.field("except").index(index), except, cidr(except));
        }
    }),
];

pub(in super::super) fn ingress(report: &mut Report, object: &Json) {
    let (at, spec) = (root("spec"), &object["spec"]);
    if list(spec, "rules").is_empty() && get(spec, "defaultBackend").is_none() {
        let detail = "either `defaultBackend` or `rules` must be specified";
        report.invalid(&at, spec["rules"].clone(), detail);
    }
    report.text(&at, spec, "ingressClassName", names::subdomain);
}

fn host(host: &str) -> Vec<String> {
    if host.contains('*') {
        names::wildcard_subdomain(host)
    } else {
        names::subdomain(host)
    }
}

fn http_path(report: &mut Report, at: &Path, path: &Json) {
    let value = text(path, "path");
    let path_at = at.field("path");
    let type_ = text(path, "pathType");
    let is_absolute = value.starts_with('/');
    if !is_absolute && (matches!(type_, "Exact" | "Prefix") || !value.is_empty()) {
        report.invalid(&path_at, value, "must be an absolute path");
    }
    if type_.is_empty() {
        report.required(&at.field("pathType"), "pathType must be specified");
    }
    if matches!(type_, "Exact" | "Prefix") {
        for part in ["//", "/./", "/../", "%2f", "%2F"] {
            if value.contains(part) {
                report.invalid(&path_at, value, format!("must not contain '{part}'"));
            }
        }
        for end in ["/..", "/."] {
            if value.ends_with(end) {
                report.invalid(&path_at, value, format!("cannot end with '{end}'"));
            }
        }
    }
}

fn backend(report: &mut Report, at: &Path, backend: &Json) {
    let Some(service) = get(backend, "service") else {
        if get(backend, "resource").is_none() {
            report.invalid(at, "", "resource or service backend is required");
        }
        return;
    };
    if get(backend, "resource").is_some() {
        report.invalid(at, "", "cannot set both resource and service backends");
    }
    let service_at = at.field("service");
    report.text(&service_at, service, "name", names::label);
    let port_at = service_at.field("port");
    match (
        text(service, "port.name"),
        int(service, "port.number").unwrap_or_default(),
    ) {
        ("", 0) => report.required(at, "port name or number is required"),
        ("", number) => report.messages(&port_at.field("number"), number, names::port_number(number)),
        (name, 0) => report.messages(&port_at.field("name"), name, names::port_name(name)),
        _ => report.invalid(at, "", "cannot set both port name & port number"),
    }
}

/// A domain and a path, such as `acme.io/foo`.
pub(in super::super) fn domain_path(report: &mut Report, at: &Path, value: &str) {
    match value.split_once('/') {
        _ if value.is_empty() => report.required(at, ""),
        Some((domain, path)) if !domain.is_empty() && !path.is_empty() => {
            report.messages(at, domain, names::subdomain(domain));
            report.messages(at, path, names::http_path(path));
        }
        _ => {
            let detail = "must be a domain-prefixed path (such as \"acme.io/foo\")";
            report.invalid(at, value, detail);
        }
    }
}

pub(in super::super) fn ingress_class(report: &mut Report, object: &Json) {
    let at = root("spec.controller");
    domain_path(report, &at, text(object, "spec.controller"));
}

fn parameters(report: &mut Report, at: &Path, parameters: &Json) {
    for field in ["kind", "name"] {
        report.text(at, parameters, field, |name| {
            NameRule::PathSegment.check(name, false)
        });
    }
    let at = at.field("namespace");
    match (text(parameters, "scope"), get(parameters, "namespace")) {
        ("Namespace", None) => report.required(&at, "`parameters.scope` is set to 'Namespace'"),
        ("Cluster", Some(_)) => report.forbidden(&at, "`parameters.scope` is set to 'Cluster'"),
        _ => {}
    }
}

fn policy_port(report: &mut Report, at: &Path, port: &Json) {
    let number = &port["port"];
    if !number.is_null() {
        super::containers::number_or_name(report, &at.field("port"), number);
    }
    let Some(end) = int(port, "endPort") else { return };
    let at = at.field("endPort");
    match number {
        Json::Null => report.invalid(&at, end, "may not be specified when `port` is not specified"),
        Json::String(_) => report.invalid(&at, end, "may not be specified when `port` is non-numeric"),
        _ => {
            if Some(end) < number.as_i64() {
                report.invalid(&at, number.clone(), "must be greater than or equal to `port`");
            }
            report.messages(&at, end, names::port_number(end));
        }
    }
}

fn policy_peer(report: &mut Report, at: &Path, peer: &Json) {
    let selects = get(peer, "podSelector")
        .or(get(peer, "namespaceSelector"))
        .is_some();
    match (get(peer, "ipBlock"), selects) {
        (Some(_), true) => report.forbidden(at, "may not specify both ipBlock and another peer"),
        (None, false) => report.required(at, "must specify a peer"),
        _ => {}
    }
}

/// A range of addresses, such as `10.9.8.0/24`.
fn cidr(range: &str) -> Vec<String> {
    let is_valid = range.split_once('/').is_some_and(|(address, bits)| {
        let most = match address.parse() {
            Ok(IpAddr::V4(_)) => 32,
            Ok(IpAddr::V6(_)) => 128,
            Err(_) => return false,
        };
        bits.parse::<u8>().is_ok_and(|bits| bits <= most)
    });
    if is_valid {
        return Vec::new();
    }
    vec!["must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)".to_owned()]
}
