//! Probes and lifecycle hooks of containers.

use super::report::Report;
use crate::builtin::json::{get, int, list, text};
use crate::builtin::names;
use krator_schema::Path;
use serde_json::Value as Json;

/// The hooks and probes of a container.
pub(super) fn all(report: &mut Report, at: &Path, container: &Json, spec: &Json) {
    let grace = int(spec, "terminationGracePeriodSeconds");
    for hook in ["postStart", "preStop"] {
        if let Some(handler_) = get(container, &format!("lifecycle.{hook}")) {
            handler(report, &at.field("lifecycle").field(hook), handler_, grace);
        }
    }
    for field in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if let Some(found) = get(container, field) {
            probe(report, &at.field(field), found, grace, field);
        }
    }
}

fn probe(report: &mut Report, at: &Path, probe: &Json, grace: Option<i64>, field: &str) {
    handler(report, at, probe, grace);
    const SECONDS: [&str; 5] = [
        "initialDelaySeconds",
        "timeoutSeconds",
        "periodSeconds",
        "successThreshold",
        "failureThreshold",
    ];
    report.all_non_negative(at, probe, &SECONDS);
    let termination = int(probe, "terminationGracePeriodSeconds");
    let termination_at = at.field("terminationGracePeriodSeconds");
    if let Some(seconds) = termination.filter(|seconds| *seconds <= 0) {
        report.invalid(&termination_at, seconds, "must be greater than 0");
    }
    if field == "readinessProbe" {
        if let Some(seconds) = termination {
            report.invalid(&termination_at, seconds, "must not be set for readinessProbes");
        }
    } else if int(probe, "successThreshold").unwrap_or_default() != 1 {
        let threshold = int(probe, "successThreshold").unwrap_or_default();
        report.invalid(&at.field("successThreshold"), threshold, "must be 1");
    }
}

fn handler(report: &mut Report, at: &Path, handler: &Json, grace: Option<i64>) {
    let mut count = 0;
    for field in ["exec", "httpGet", "tcpSocket", "grpc", "sleep"] {
        let Some(action) = get(handler, field) else {
            continue;
        };
        let at = at.field(field);
        count += 1;
        if count > 1 {
            report.forbidden(&at, "may not specify more than 1 handler type");
            continue;
        }
        match field {
            "exec" if list(action, "command").is_empty() => report.required(&at.field("command"), ""),
            "exec" => {}
            "httpGet" => http_get(report, &at, action),
            "sleep" => sleep(report, &at, action, grace),
            _ => port(report, &at.field("port"), &action["port"]),
        }
    }
    if count == 0 {
        report.required(at, "must specify a handler type");
    }
}

fn http_get(report: &mut Report, at: &Path, action: &Json) {
    if text(action, "path").is_empty() {
        report.required(&at.field("path"), "");
    }
    port(report, &at.field("port"), &action["port"]);
    let scheme = text(action, "scheme");
    if !matches!(scheme, "HTTP" | "HTTPS") {
        report.not_supported(&at.field("scheme"), scheme, &["HTTP", "HTTPS"]);
    }
    for header in list(action, "httpHeaders") {
        let name = text(header, "name");
        report.messages(&at.field("httpHeaders"), name, names::http_header(name));
    }
}

fn sleep(report: &mut Report, at: &Path, action: &Json, grace: Option<i64>) {
    let seconds = int(action, "seconds").unwrap_or_default();
    if let Some(grace) = grace.filter(|grace| seconds < 0 || seconds > *grace) {
        let detail = format!("must be non-negative and less than terminationGracePeriodSeconds ({grace})");
        report.invalid(at, seconds, detail);
    }
}

/// The number of a port, or its name.
pub(super) fn port(report: &mut Report, at: &Path, port: &Json) {
    match port {
        Json::String(name) => report.messages(at, name.as_str(), names::port_name(name)),
        other => {
            let number = other.as_i64().unwrap_or_default();
            report.messages(at, number, names::port_number(number));
        }
    }
}
