//! Services, after `validateService` in `pkg/apis/core/validation`.

use super::containers::number_or_name;
use super::labels;
use super::pods::ip;
use super::report::{Report, root};
use crate::builtin::json::{get, int, list, text, texts};
use crate::builtin::names;
use crate::refusal::FieldError;
use krator_schema::Path;
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;

/// A Service, to which addresses and ports have been allocated.
pub(in super::super) fn service(report: &mut Report, object: &Json) {
    let (at, spec) = (root("spec"), &object["spec"]);
    let type_ = text(spec, "type");
    let is_headless = is_headless(spec);
    if list(spec, "ports").is_empty() && !is_headless && type_ != "ExternalName" {
        report.required(&at.field("ports"), "");
    }
    if matches!(type_, "LoadBalancer" | "NodePort") && is_headless {
        let detail = format!("may not be set to 'None' for {type_} services");
        report.invalid(&at.field("clusterIPs").index(0), "None", detail);
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
    let timeout = int(spec, "sessionAffinityConfig.clientIP.timeoutSeconds");
    if let Some(seconds) = timeout.filter(|seconds| !(1..=86400).contains(seconds)) {
        let at = at
            .field("sessionAffinityConfig")
            .field("clientIP")
            .field("timeoutSeconds");
        report.invalid(&at, seconds, "must be greater than 0 and less than 86400");
    }
    for field in ["loadBalancerClass", "allocateLoadBalancerNodePorts"] {
        if get(spec, field).is_some() && type_ != "LoadBalancer" {
            let detail = "may only be used when `type` is 'LoadBalancer'";
            report.forbidden(&at.field(field), detail);
        }
    }
    traffic(report, &at, spec);
}

fn is_headless(spec: &Json) -> bool {
    text(spec, "clusterIP") == "None"
}

fn external_name(report: &mut Report, at: &Path, spec: &Json) {
    for field in ["clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
        if get(spec, field).is_some() {
            report.forbidden(&at.field(field), "may not be set for ExternalName services");
        }
    }
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
            // The original prints its internal type, which has other names of fields.
            let key = json!({
                "Name": "", "Protocol": protocol, "AppProtocol": null, "Port": number, "TargetPort": 0, "NodePort": 0,
            });
            report.duplicate(&at, key);
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

fn traffic(report: &mut Report, at: &Path, spec: &Json) {
    let type_ = text(spec, "type");
    let is_external = matches!(type_, "LoadBalancer" | "NodePort")
        || type_ == "ClusterIP" && !list(spec, "externalIPs").is_empty();
    let policy = text(spec, "externalTrafficPolicy");
    if !is_external && !policy.is_empty() {
        let detail = "may only be set for externally-accessible services";
        report.invalid(&at.field("externalTrafficPolicy"), policy, detail);
    }
    let port = int(spec, "healthCheckNodePort").unwrap_or_default();
    if port != 0 && (type_ != "LoadBalancer" || policy != "Local") {
        let detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
        report.invalid(&at.field("healthCheckNodePort"), port, detail);
    }
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

/// The status of a Service.
pub(in super::super) fn status(report: &mut Report, object: &Json, _old: &Json) {
    let ingress = list(object, "status.loadBalancer.ingress");
    if text(object, "spec.type") != "LoadBalancer" && !ingress.is_empty() {
        let detail = "may only be used when `spec.type` is 'LoadBalancer'";
        report.forbidden(&root("status.loadBalancer.ingress"), detail);
    }
}
