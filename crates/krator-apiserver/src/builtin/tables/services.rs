//! Rows of Services and Ingresses.

use super::{labels, number, text_or};
use crate::builtin::json::{list, text, texts};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;

/// The most hosts or addresses in a cell.
const MOST: usize = 3;

pub(in super::super) fn service(service: &Json, _now: i64) -> Vec<Json> {
    let address = texts(service, "spec.clusterIPs")
        .first()
        .copied()
        .unwrap_or("<none>");
    let ports: Vec<String> = list(service, "spec.ports").iter().map(port).collect();
    vec![
        json!(text(service, "spec.type")),
        json!(address),
        json!(external(service)),
        json!(if ports.is_empty() {
            "<none>".to_owned()
        } else {
            ports.join(",")
        }),
        json!(labels(&service["spec"]["selector"])),
    ]
}

fn port(port: &Json) -> String {
    let (of_service, protocol) = (number(port, "port"), text(port, "protocol"));
    match number(port, "nodePort") {
        0 => format!("{of_service}/{protocol}"),
        of_node => format!("{of_service}:{of_node}/{protocol}"),
    }
}

fn external(service: &Json) -> String {
    let own = texts(service, "spec.externalIPs");
    match text(service, "spec.type") {
        "ClusterIP" | "NodePort" if own.is_empty() => "<none>".to_owned(),
        "ClusterIP" | "NodePort" => own.join(","),
        "LoadBalancer" => {
            let mut all = balancers(service);
            all.extend(own);
            if all.is_empty() {
                "<pending>".to_owned()
            } else {
                all.join(",")
            }
        }
        "ExternalName" => text(service, "spec.externalName").to_owned(),
        _ => "<unknown>".to_owned(),
    }
}

/// The addresses or names of load balancers.
fn balancers(object: &Json) -> Vec<&str> {
    let ingress = list(object, "status.loadBalancer.ingress").iter();
    let all = ingress.map(|ingress| text_or(ingress, "ip", text(ingress, "hostname")));
    all.filter(|address| !address.is_empty())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect()
}

pub(in super::super) fn ingress(ingress: &Json, _now: i64) -> Vec<Json> {
    let ports = if list(ingress, "spec.tls").is_empty() {
        "80"
    } else {
        "80, 443"
    };
    vec![
        json!(text_or(ingress, "spec.ingressClassName", "<none>")),
        json!(hosts(list(ingress, "spec.rules"))),
        json!(balancers(ingress).join(",")),
        json!(ports),
    ]
}

fn hosts(rules: &[Json]) -> String {
    let mut shown = Vec::new();
    let mut more = false;
    for rule in rules {
        more |= shown.len() == MOST;
        let host = text(rule, "host");
        if !more && !host.is_empty() {
            shown.push(host);
        }
    }
    match (shown.is_empty(), more) {
        (true, _) => "*".to_owned(),
        (false, true) => format!("{} + {} more...", shown.join(","), rules.len() - MOST),
        (false, false) => shown.join(","),
    }
}
