//! Addresses and node ports of Services, after `pkg/registry/core/service/storage/alloc.go` of Kubernetes. The existing
//! Services show which ones are taken. The first free one is allocated; a real server chooses randomly.

use super::json::{get, int, list, list_mut, remove, set, set_default, set_or_remove, text, texts};
use super::prepare::{checks_health, has_node_ports};
use super::validate::cluster_ips;
use crate::refusal::FieldError;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

const ONLY_IPV4: &str = "this cluster has IPv4 only";
const NODE_PORTS: std::ops::RangeInclusive<i64> = 30000..=32767;

/// The addresses and node ports of other Services.
#[derive(Default)]
struct Taken {
    addresses: BTreeSet<String>,
    node_ports: BTreeSet<i64>,
}

impl Taken {
    fn by<'a>(services: impl IntoIterator<Item = &'a Json>) -> Self {
        let mut taken = Self::default();
        for service in services {
            let addresses = texts(service, "spec.clusterIPs").into_iter().map(str::to_owned);
            taken.addresses.extend(addresses);
            taken.node_ports.extend(numbers(service));
            taken.node_ports.extend(int(service, "spec.healthCheckNodePort"));
        }
        taken
    }

    fn next_address(&mut self) -> Option<String> {
        // The first address belongs to the Service of the API server.
        let mut free = (2..255).map(|host| format!("10.0.0.{host}"));
        free.find(|address| self.addresses.insert(address.clone()))
    }

    fn next_port(&mut self) -> Option<i64> {
        NODE_PORTS.into_iter().find(|port| self.node_ports.insert(*port))
    }
}

/// The node ports of a Service.
fn numbers(service: &Json) -> Vec<i64> {
    let ports = list(service, "spec.ports").iter();
    ports.filter_map(|port| int(port, "nodePort")).collect()
}

/// Allocates the addresses and ports of a Service. `others` are all other Services; `old` is the Service as it was.
///
/// # Errors
///
/// The errors of requested addresses and ports that cannot be allocated.
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

/// Keeps the allocated values that an update omits.
fn keep_allocated(service: &mut Json, old: &Json) {
    let is_name = |service: &Json| text(service, "spec.type") == "ExternalName";
    if !is_name(old) && !is_name(service) {
        let address = text(old, "spec.clusterIP").to_owned();
        if !address.is_empty() {
            set_default(service, "spec.clusterIP", address.clone());
        }
        if list(service, "spec.clusterIPs").is_empty() && text(service, "spec.clusterIP") == address {
            set_or_remove(service, "spec.clusterIPs", get(old, "spec.clusterIPs"));
        }
    }
    if has_node_ports(old) && has_node_ports(service) {
        let used = numbers(service);
        for port in list_mut(service, "spec.ports") {
            let mut same = list(old, "spec.ports").iter();
            let same = same.find(|old| text(old, "name") == text(port, "name"));
            let number = same.and_then(|old| int(old, "nodePort"));
            if let Some(number) = number.filter(|number| !used.contains(number))
                && int(port, "nodePort").unwrap_or_default() == 0
            {
                set(port, "nodePort", number);
            }
        }
    }
    if checks_health(old) && checks_health(service) && int(service, "spec.healthCheckNodePort").is_none() {
        set_or_remove(
            service,
            "spec.healthCheckNodePort",
            get(old, "spec.healthCheckNodePort"),
        );
    }
}

/// Clients that were written before `clusterIPs` change only `clusterIP`, so the list has to follow.
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

/// Sets `ipFamilyPolicy` and `ipFamilies` for a cluster that has only IPv4.
fn families(service: &mut Json, old: Option<&Json>) -> Result<(), Vec<FieldError>> {
    let is_headless = text(service, "spec.clusterIP") == "None";
    let any_family = is_headless && get(service, "spec.selector").is_none();
    let before = old.map_or("", |old| text(old, "spec.ipFamilyPolicy"));
    let policy = match before {
        "" if any_family => "RequireDualStack",
        "" => "SingleStack",
        before => before,
    };
    set_default(service, "spec.ipFamilyPolicy", policy);
    let mut errors = cluster_ips(&service["spec"]);
    let mut families = texts(service, "spec.ipFamilies");
    if families.is_empty() {
        families.push("IPv4");
    }
    let policy = text(service, "spec.ipFamilyPolicy");
    if any_family {
        if families.len() < 2 && policy != "SingleStack" {
            families.push(if families[0] == "IPv4" { "IPv6" } else { "IPv4" });
        }
    } else {
        if policy == "RequireDualStack" {
            errors.push(FieldError::invalid("spec.ipFamilyPolicy", policy, ONLY_IPV4));
        }
        let others = families
            .iter()
            .enumerate()
            .filter(|(_, family)| **family != "IPv4");
        errors.extend(others.map(|(index, family)| {
            FieldError::invalid(format!("spec.ipFamilies[{index}]"), *family, ONLY_IPV4)
        }));
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let families = json!(families);
    set(service, "spec.ipFamilies", families);
    Ok(())
}

fn addresses(service: &mut Json, old: Option<&Json>, taken: &mut Taken) -> Result<(), Vec<FieldError>> {
    let had_address = old.is_some_and(|old| text(old, "spec.type") != "ExternalName");
    let asked = text(service, "spec.clusterIP").to_owned();
    if had_address || asked == "None" {
        return Ok(());
    }
    const FIELD: &str = "spec.clusterIPs";
    if asked.is_empty() {
        let Some(address) = taken.next_address() else {
            return Err(vec![FieldError::forbidden(FIELD, "all addresses are taken")]);
        };
        set(service, "spec.clusterIP", address.as_str());
        set(service, FIELD, json!([address]));
    } else if !asked.starts_with("10.0.0.") || taken.addresses.contains(&asked) || asked == "10.0.0.1" {
        let value = service["spec"]["clusterIPs"].clone();
        return Err(vec![FieldError::invalid(
            FIELD,
            value,
            "must be a free address of 10.0.0.0/24",
        )]);
    }
    Ok(())
}

fn node_ports(service: &mut Json, old: Option<&Json>, taken: &mut Taken) -> Result<(), Vec<FieldError>> {
    if !has_node_ports(service) {
        return Ok(());
    }
    let allocates = get(service, "spec.allocateLoadBalancerNodePorts") != Some(&Json::Bool(false));
    let own: Vec<i64> = old.map(numbers).unwrap_or_default();
    let mut errors = Vec::new();
    // Ports that differ only in their protocol share a node port.
    let mut given = BTreeMap::new();
    for (index, port) in list_mut(service, "spec.ports").enumerate() {
        let (number, asked) = (int(port, "port"), int(port, "nodePort").unwrap_or_default());
        let known = given.get(&number).copied();
        if asked == 0 {
            if let Some(node) = known.or_else(|| taken.next_port().filter(|_| allocates)) {
                set(port, "nodePort", node);
                given.insert(number, node);
            }
            continue;
        }
        given.insert(number, asked);
        let is_own = own.contains(&asked) || known == Some(asked);
        if !is_own && (!NODE_PORTS.contains(&asked) || !taken.node_ports.insert(asked)) {
            let field = format!("spec.ports[{index}].nodePort");
            errors.push(FieldError::invalid(
                field,
                asked,
                "must be a free port of 30000-32767",
            ));
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
                r#"spec.clusterIPs: Invalid value: ["10.0.0.2"]: must be a free address of 10.0.0.0/24"#,
            ),
            (
                json!({"spec": {"type": "NodePort", "ports": [{"port": 1, "nodePort": 30000}]}}),
                "spec.ports[0].nodePort: Invalid value: 30000: must be a free port of 30000-32767",
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
