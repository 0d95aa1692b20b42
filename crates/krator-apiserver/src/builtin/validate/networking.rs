//! Ingresses, after `pkg/apis/networking/validation`.

use super::containers::port;
use crate::builtin::json::{get, int, list, text};
use crate::builtin::report::{Report, TypeRule, below, root};
use krator_schema::Path;
use serde_json::Value as Json;

pub(super) const TYPES: &[(&str, TypeRule)] = &[
    ("networking.v1.HTTPIngressPath", |report, at, path| {
        let value = text(path, "path");
        let may_be_empty = !matches!(text(path, "pathType"), "Exact" | "Prefix");
        let is_right = value.starts_with('/') || value.is_empty() && may_be_empty;
        report.unless(is_right, &at.field("path"), value, "must be an absolute path");
    }),
    ("networking.v1.IngressBackend", backend),
];

pub(in super::super) fn ingress(report: &mut Report, object: &Json) {
    let spec = &object["spec"];
    let leads_somewhere = !list(spec, "rules").is_empty() || get(spec, "defaultBackend").is_some();
    let detail = "must have `defaultBackend` or `rules`";
    report.unless(leads_somewhere, &root("spec"), spec["rules"].clone(), detail);
}

fn backend(report: &mut Report, at: &Path, backend: &Json) {
    let (service, resource) = (get(backend, "service"), get(backend, "resource"));
    let is_one = service.is_some() != resource.is_some();
    report.unless(is_one, at, "", "must have either `service` or `resource`");
    let Some(service) = service else { return };
    let port_at = below(at, "service.port");
    let number = int(service, "port.number").unwrap_or_default();
    match (text(service, "port.name"), number) {
        ("", 0) => report.required(at, "the service needs a port"),
        ("", number) => port(report, &port_at.field("number"), &number.into()),
        (name, 0) => port(report, &port_at.field("name"), &name.into()),
        _ => report.invalid(at, "", "the port has either a name or a number"),
    }
}
