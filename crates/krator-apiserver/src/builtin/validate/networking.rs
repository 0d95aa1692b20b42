//! Ingresses, IngressClasses and NetworkPolicies, after `pkg/apis/networking/validation`.

use crate::builtin::json::{get, int, list, text, texts};
use crate::builtin::names;
use crate::builtin::report::{Report, TypeRule, root};
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
];

pub(in super::super) fn ingress(report: &mut Report, object: &Json) {
    let (at, spec) = (root("spec"), &object["spec"]);
    if list(spec, "rules").is_empty() && get(spec, "defaultBackend").is_none() {
        let detail = "either `defaultBackend` or `rules` must be specified";
        report.invalid(&at, spec["rules"].clone(), detail);
    }
    report.text(&at, spec, "ingressClassName", names::subdomain);
}

/// The name of a host, which may begin with `*.`.
fn host(host: &str) -> Vec<String> {
    names::subdomain(host.strip_prefix("*.").unwrap_or(host))
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
