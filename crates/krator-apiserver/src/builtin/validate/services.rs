//! Services, after `validateService` in `pkg/apis/core/validation`.

use super::containers::number_or_name;
use super::labels;
use super::pods::ip;
use crate::builtin::json::{int, list, text, texts};
use crate::builtin::names;
use crate::builtin::report::{Report, root};
use crate::refusal::FieldError;
use krator_schema::Path;
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// A Service, to which addresses and ports have been allocated.
pub(in super::super) fn service(report: &mut Report, object: &Json) {
    let (at, spec) = (root("spec"), &object["spec"]);
    let type_ = text(spec, "type");
    let is_headless = text(spec, "clusterIP") == "None";
    if list(spec, "ports").is_empty() && !is_headless && type_ != "ExternalName" {
        report.required(&at.field("ports"), "");
    }
    if type_ == "ExternalName" {
        external_name(report, &at, spec);
    }
    ports(report, &at.field("ports"), spec);
    labels::labels(report, &at.field("selector"), &spec["selector"]);
    cluster_ips(spec).into_iter().for_each(|error| report.push(error));
    for (index, address) in texts(spec, "externalIPs").into_iter().enumerate() {
        ip(report, &at.field("externalIPs").index(index), address);
    }
}

fn external_name(report: &mut Report, at: &Path, spec: &Json) {
    let name = text(spec, "externalName");
    match name.strip_suffix('.').unwrap_or(name) {
        "" => report.required(&at.field("externalName"), ""),
        name => report.messages(&at.field("externalName"), name, names::subdomain(name)),
    }
}

fn ports(report: &mut Report, at: &Path, spec: &Json) {
    let ports = list(spec, "ports");
    let with_place = || {
        ports
            .iter()
            .enumerate()
            .map(|(index, port)| (at.index(index), port))
    };
    report.unique(with_place().map(|(at, port)| (at.field("name"), text(port, "name"))));
    let (mut numbers, mut node_ports) = (BTreeSet::new(), BTreeSet::new());
    for (at, port) in with_place() {
        if text(port, "name").is_empty() && ports.len() > 1 {
            report.required(&at.field("name"), "");
        }
        report.text(&at, port, "name", names::label);
        let number = int(port, "port").unwrap_or_default();
        report.messages(&at.field("port"), number, names::port_number(number));
        number_or_name(report, &at.field("targetPort"), &port["targetPort"]);
        report.text(&at, port, "appProtocol", names::qualified);
        let protocol = text(port, "protocol");
        if !numbers.insert((protocol, number)) {
            report.duplicate(&at, number);
        }
        let Some(node_port) = int(port, "nodePort").filter(|number| *number != 0) else {
            continue;
        };
        if text(spec, "type") == "ClusterIP" {
            let detail = "may not be used when `type` is 'ClusterIP'";
            report.forbidden(&at.field("nodePort"), detail);
        }
        if !node_ports.insert((protocol, node_port)) {
            report.duplicate(&at.field("nodePort"), node_port);
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
            let detail = match address {
                "" => "must be empty when `clusterIP` is not specified",
                _ => "first value must match `clusterIP`",
            };
            report.invalid(&at, spec["clusterIPs"].clone(), detail);
        }
        _ => {}
    }
    for (index, address) in addresses.into_iter().enumerate() {
        if address != "None" {
            ip(&mut report, &at.index(index), address);
        }
    }
    report.into_errors()
}

/// A Service that exists keeps its addresses.
pub(in super::super) fn update(report: &mut Report, object: &Json, old: &Json) {
    let (new, before) = (&object["spec"], &old["spec"]);
    let is_name = |spec: &Json| text(spec, "type") == "ExternalName";
    if is_name(new) || is_name(before) {
        return;
    }
    for field in ["clusterIPs", "ipFamilies"] {
        let first = |spec| texts(spec, field).first().copied().map(str::to_owned);
        if first(new) != first(before) {
            let at = root("spec").field(field).index(0);
            report.invalid(&at, new[field].clone(), "may not change once set");
        }
    }
}
