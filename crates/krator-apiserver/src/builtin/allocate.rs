//! Addresses and node ports of Services, after `pkg/registry/core/service/storage/alloc.go` of Kubernetes. Which ones are
//! taken is said by the Services that exist, and the first free one is given; a real server draws them at random.

use super::json::{get, int, list, list_mut, remove, set, set_default, text, texts};
use super::validate::cluster_ips;
use crate::refusal::FieldError;
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use std::net::Ipv4Addr;

const NODE_PORTS: std::ops::RangeInclusive<i64> = 30000..=32767;

/// What other Services have.
#[derive(Default)]
struct Taken {
    addresses: BTreeSet<String>,
    node_ports: BTreeSet<i64>,
}

impl Taken {
    fn by<'a>(services: impl IntoIterator<Item = &'a Json>) -> Self {
        let mut taken = Self::default();
        for service in services {
            taken
                .addresses
                .extend(texts(service, "spec.clusterIPs").into_iter().map(str::to_owned));
            let ports = list(service, "spec.ports")
                .iter()
                .filter_map(|port| int(port, "nodePort"));
            taken
                .node_ports
                .extend(ports.chain(int(service, "spec.healthCheckNodePort")));
        }
        taken
    }

    fn next_address(&mut self) -> Option<String> {
        // The first address is that of the API server's own Service.
        let free = (2..255).map(|host| Ipv4Addr::new(10, 0, 0, host).to_string());
        let address = free
            .into_iter()
            .find(|address| !self.addresses.contains(address))?;
        self.addresses.insert(address.clone());
        Some(address)
    }

    fn next_port(&mut self) -> Option<i64> {
        let port = NODE_PORTS
            .into_iter()
            .find(|port| !self.node_ports.contains(port))?;
        self.node_ports.insert(port);
        Some(port)
    }
}

/// Allocates what a Service needs. `others` are all other Services; `old` is the Service as it was.
///
/// # Errors
///
/// What the Service asks for and cannot have.
pub(super) fn allocate<'a>(
    service: &mut Json,
    old: Option<&Json>,
    others: impl IntoIterator<Item = &'a Json>,
) -> Result<(), Vec<FieldError>> {
    let mut taken = Taken::by(others);
    match old {
        Some(old) => {
            keep_allocated(service, old);
            normalize_update(service, old);
        }
        None if list(service, "spec.clusterIPs").is_empty()
            && !text(service, "spec.clusterIP").is_empty() =>
        {
            let address = text(service, "spec.clusterIP").to_owned();
            set(service, "spec.clusterIPs", json!([address]));
        }
        None => {}
    }
    if text(service, "spec.type") != "ExternalName" {
        families(service, old)?;
        addresses(service, old, &mut taken)?;
    }
    node_ports(service, old, &mut taken)
}

/// An update that leaves out what was allocated keeps it.
fn keep_allocated(service: &mut Json, old: &Json) {
    let is_name = |service: &Json| text(service, "spec.type") == "ExternalName";
    if !is_name(old) && !is_name(service) {
        let address = text(old, "spec.clusterIP").to_owned();
        if !address.is_empty() {
            set_default(service, "spec.clusterIP", address.clone());
        }
        if list(service, "spec.clusterIPs").is_empty() && text(service, "spec.clusterIP") == address {
            super::json::set_or_remove(service, "spec.clusterIPs", get(old, "spec.clusterIPs"));
        }
    }
    let has_ports = |service: &Json| matches!(text(service, "spec.type"), "NodePort" | "LoadBalancer");
    if has_ports(old) && has_ports(service) {
        let used: Vec<i64> = list(service, "spec.ports")
            .iter()
            .filter_map(|port| int(port, "nodePort"))
            .collect();
        for port in list_mut(service, "spec.ports") {
            let same = list(old, "spec.ports")
                .iter()
                .find(|old| text(old, "name") == text(port, "name"));
            let number = same
                .and_then(|old| int(old, "nodePort"))
                .filter(|number| !used.contains(number));
            if let (Some(number), 0) = (number, int(port, "nodePort").unwrap_or_default()) {
                set(port, "nodePort", number);
            }
        }
    }
    if checks_health(old) && checks_health(service) && int(service, "spec.healthCheckNodePort").is_none() {
        super::json::set_or_remove(
            service,
            "spec.healthCheckNodePort",
            get(old, "spec.healthCheckNodePort"),
        );
    }
}

fn checks_health(service: &Json) -> bool {
    text(service, "spec.type") == "LoadBalancer" && text(service, "spec.externalTrafficPolicy") == "Local"
}

/// Clients that only know `clusterIP` change only that.
fn normalize_update(service: &mut Json, old: &Json) {
    let address = text(service, "spec.clusterIP").to_owned();
    let same_address = address == text(old, "spec.clusterIP");
    let same_addresses = get(service, "spec.clusterIPs") == get(old, "spec.clusterIPs");
    if !same_address && same_addresses {
        if address.is_empty() {
            remove(service, "spec.clusterIPs");
        } else {
            set(service, "spec.clusterIPs", json!([address]));
        }
    } else if same_address && list(service, "spec.clusterIPs").is_empty() {
        remove(service, "spec.clusterIP");
    }
}

/// `ipFamilyPolicy` and `ipFamilies`, in a cluster that only has IPv4.
fn families(service: &mut Json, old: Option<&Json>) -> Result<(), Vec<FieldError>> {
    let selects = get(service, "spec.selector").is_some();
    let is_headless = text(service, "spec.clusterIP") == "None";
    let policy = match old
        .map(|old| text(old, "spec.ipFamilyPolicy"))
        .filter(|policy| !policy.is_empty())
    {
        Some(policy) => policy,
        None if is_headless && !selects => "RequireDualStack",
        None => "SingleStack",
    };
    set_default(service, "spec.ipFamilyPolicy", policy);
    let errors = cluster_ips(&service["spec"]);
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut errors = Vec::new();
    let policy = text(service, "spec.ipFamilyPolicy").to_owned();
    let at = "spec.ipFamilyPolicy";
    if policy == "SingleStack" {
        for (field, what) in [("clusterIPs", "cluster IPs"), ("ipFamilies", "IP families")] {
            if list(&service["spec"], field).len() == 2 {
                let detail = format!(
                    "must be 'RequireDualStack' or 'PreferDualStack' when multiple {what} are specified"
                );
                errors.push(FieldError::invalid(at, policy.as_str(), detail));
            }
        }
    }
    let mut families: Vec<String> = texts(service, "spec.ipFamilies")
        .into_iter()
        .map(str::to_owned)
        .collect();
    for (index, address) in texts(service, "spec.clusterIPs").into_iter().enumerate() {
        if address == "None" || index < families.len() {
            continue;
        }
        if address.contains(':') {
            let value = service["spec"]["clusterIPs"].clone();
            let field = format!("spec.clusterIPs[{index}]");
            errors.push(FieldError::invalid(
                field,
                value,
                "IPv6 is not configured on this cluster",
            ));
        } else {
            families.push("IPv4".to_owned());
        }
    }
    if is_headless && !selects {
        if families.is_empty() {
            families.push("IPv4".to_owned());
        }
        if families.len() < 2 && policy != "SingleStack" {
            let other = if families[0] == "IPv4" { "IPv6" } else { "IPv4" };
            families.push(other.to_owned());
        }
    } else {
        if policy == "RequireDualStack" {
            let detail = "this cluster is not configured for dual-stack services";
            errors.push(FieldError::invalid(at, policy.as_str(), detail));
        }
        for (index, family) in families
            .iter()
            .enumerate()
            .filter(|(_, family)| *family != "IPv4")
        {
            let field = format!("spec.ipFamilies[{index}]");
            errors.push(FieldError::invalid(
                field,
                family.as_str(),
                "not configured on this cluster",
            ));
        }
        if families.is_empty() {
            families.push("IPv4".to_owned());
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    set(service, "spec.ipFamilies", families);
    Ok(())
}

fn addresses(service: &mut Json, old: Option<&Json>, taken: &mut Taken) -> Result<(), Vec<FieldError>> {
    let had_address = old.is_some_and(|old| text(old, "spec.type") != "ExternalName");
    if had_address || text(service, "spec.clusterIP") == "None" {
        return Ok(());
    }
    let invalid = |service: &Json, detail: String| {
        Err(vec![FieldError::invalid(
            "spec.clusterIPs",
            service["spec"]["clusterIPs"].clone(),
            detail,
        )])
    };
    let asked = text(service, "spec.clusterIP").to_owned();
    if asked.is_empty() {
        let Some(address) = taken.next_address() else {
            return invalid(service, "failed to allocate IP: range is full".to_owned());
        };
        set(service, "spec.clusterIP", address.as_str());
        set(service, "spec.clusterIPs", json!([address]));
        return Ok(());
    }
    let in_range = asked
        .parse::<Ipv4Addr>()
        .is_ok_and(|address| address.octets()[..3] == [10, 0, 0]);
    if !in_range {
        let detail =
            format!("failed to allocate IP {asked}: the provided network does not match the current range");
        return invalid(service, detail);
    }
    if taken.addresses.contains(&asked) || asked == "10.0.0.1" {
        return invalid(
            service,
            format!("failed to allocate IP {asked}: provided IP is already allocated"),
        );
    }
    Ok(())
}

fn node_ports(service: &mut Json, old: Option<&Json>, taken: &mut Taken) -> Result<(), Vec<FieldError>> {
    let type_ = text(service, "spec.type").to_owned();
    let wants_ports = type_ == "NodePort"
        || type_ == "LoadBalancer"
            && get(service, "spec.allocateLoadBalancerNodePorts") != Some(&Json::Bool(false));
    let own: Vec<i64> = old
        .map(|old| {
            list(old, "spec.ports")
                .iter()
                .filter_map(|port| int(port, "nodePort"))
                .collect()
        })
        .unwrap_or_default();
    let mut errors = Vec::new();
    let mut given: Vec<(i64, i64)> = Vec::new();
    if matches!(type_.as_str(), "NodePort" | "LoadBalancer") {
        for (index, port) in list_mut(service, "spec.ports").enumerate() {
            let (number, asked) = (
                int(port, "port").unwrap_or_default(),
                int(port, "nodePort").unwrap_or_default(),
            );
            let known = given
                .iter()
                .find(|(port, _)| *port == number)
                .map(|(_, node)| *node);
            if asked == 0 {
                // The same port with another protocol gets the same number.
                let node = known.or_else(|| if wants_ports { taken.next_port() } else { None });
                if let Some(node) = node {
                    set(port, "nodePort", node);
                    given.push((number, node));
                }
                continue;
            }
            let detail = match () {
                () if own.contains(&asked) || known == Some(asked) => None,
                () if !NODE_PORTS.contains(&asked) => {
                    Some("provided port is not in the valid range. The range of valid ports is 30000-32767")
                }
                () if !taken.node_ports.insert(asked) => Some("provided port is already allocated"),
                () => None,
            };
            if let Some(detail) = detail {
                errors.push(FieldError::invalid(
                    format!("spec.ports[{index}].nodePort"),
                    asked,
                    detail,
                ));
            }
            given.push((number, asked));
        }
    }
    if checks_health(service)
        && int(service, "spec.healthCheckNodePort").unwrap_or_default() == 0
        && let Some(port) = taken.next_port()
    {
        set(service, "spec.healthCheckNodePort", port);
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node_port(address: &str, ports: Json) -> Json {
        json!({"spec": {"type": "NodePort", "clusterIP": address, "clusterIPs": [address], "ports": ports}})
    }

    #[test]
    fn the_first_free_address_and_port_are_given() {
        let others = [
            node_port("10.0.0.2", json!([{"port": 80, "nodePort": 30000}])),
            node_port("10.0.0.4", json!([{"port": 80, "nodePort": 30002}])),
        ];
        let mut service = json!({"spec": {"type": "NodePort", "ports": [{"port": 1}, {"port": 2}]}});
        allocate(&mut service, None, &others).expect("there is room");
        assert_eq!(service["spec"]["clusterIPs"], json!(["10.0.0.3"]));
        let ports: Vec<_> = list(&service, "spec.ports")
            .iter()
            .map(|port| int(port, "nodePort"))
            .collect();
        assert_eq!(ports, [Some(30001), Some(30003)]);
    }

    #[test]
    fn what_is_taken_cannot_be_asked_for() {
        let others = [node_port("10.0.0.2", json!([{"port": 80, "nodePort": 30000}]))];
        for (service, error) in [
            (
                json!({"spec": {"type": "ClusterIP", "clusterIP": "10.0.0.2"}}),
                r#"spec.clusterIPs: Invalid value: ["10.0.0.2"]: failed to allocate IP 10.0.0.2: provided IP is already allocated"#,
            ),
            (
                json!({"spec": {"type": "NodePort", "ports": [{"port": 1, "nodePort": 30000}]}}),
                "spec.ports[0].nodePort: Invalid value: 30000: provided port is already allocated",
            ),
        ] {
            let mut service = service;
            let errors = allocate(&mut service, None, &others).expect_err("it is taken");
            assert_eq!(
                errors.iter().map(ToString::to_string).collect::<Vec<_>>(),
                [error]
            );
        }
    }
}
