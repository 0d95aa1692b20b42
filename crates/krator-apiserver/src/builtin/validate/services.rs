//! Services, after `validateService` in `pkg/apis/core/validation`.

use crate::builtin::json::{int, list, text, texts};
use crate::builtin::names;
use crate::builtin::report::{Report, TypeRule, items, root};
use crate::refusal::FieldError;
use krator_schema::Path;
use serde_json::Value as Json;
use std::collections::BTreeSet;

pub(super) const TYPES: &[(&str, TypeRule)] = &[("core.v1.ServiceSpec", spec)];

/// Validates the spec of a Service after the allocation of addresses and ports.
fn spec(report: &mut Report, at: &Path, spec: &Json) {
    let is_name = text(spec, "type") == "ExternalName";
    if list(spec, "ports").is_empty() && text(spec, "clusterIP") != "None" && !is_name {
        report.required(&at.field("ports"), "");
    }
    if is_name {
        let name_at = at.field("externalName");
        let name = text(spec, "externalName");
        match name.strip_suffix('.').unwrap_or(name) {
            "" => report.required(&name_at, ""),
            name => report.messages(&name_at, name, names::subdomain(name)),
        }
    }
    ports(report, at, spec);
    cluster_ips(spec).into_iter().for_each(|error| report.push(error));
}

fn ports(report: &mut Report, at: &Path, spec: &Json) {
    let (mut numbers, mut node_ports) = (BTreeSet::new(), BTreeSet::new());
    for (at, port) in items(at, spec, "ports") {
        if text(port, "name").is_empty() && list(spec, "ports").len() > 1 {
            report.required(&at.field("name"), "");
        }
        let (protocol, number) = (text(port, "protocol"), int(port, "port").unwrap_or_default());
        if !numbers.insert((protocol, number)) {
            report.duplicate(&at, number);
        }
        let Some(node_port) = int(port, "nodePort").filter(|number| *number != 0) else {
            continue;
        };
        let at = at.field("nodePort");
        if text(spec, "type") == "ClusterIP" {
            report.forbidden(&at, "may not be used when `type` is 'ClusterIP'");
        }
        if !node_ports.insert((protocol, node_port)) {
            report.duplicate(&at, node_port);
        }
    }
}

/// The rules of `clusterIP` and `clusterIPs`.
pub(in super::super) fn cluster_ips(spec: &Json) -> Vec<FieldError> {
    let mut report = Report::default();
    let at = root("spec.clusterIPs");
    let (address, addresses) = (text(spec, "clusterIP"), texts(spec, "clusterIPs"));
    match addresses.first() {
        None if !address.is_empty() => report.required(&at, ""),
        Some(first) if *first != address => {
            report.invalid(&at, spec["clusterIPs"].clone(), "must begin with `clusterIP`");
        }
        _ => {}
    }
    for (index, address) in addresses.into_iter().enumerate().filter(|(_, it)| *it != "None") {
        report.messages(&at.index(index), address, names::ip(address));
    }
    report.into_errors()
}

/// The addresses of an existing Service are immutable.
pub(in super::super) fn update(report: &mut Report, object: &Json, old: &Json) {
    let (new, before) = (&object["spec"], &old["spec"]);
    let is_name = |spec: &Json| text(spec, "type") == "ExternalName";
    if is_name(new) || is_name(before) {
        return;
    }
    for field in ["clusterIPs", "ipFamilies"] {
        let first = |spec| texts(spec, field).first().copied().map(str::to_owned);
        let at = root("spec").field(field).index(0);
        report.unless(
            first(new) == first(before),
            &at,
            new[field].clone(),
            "may not change once set",
        );
    }
}
