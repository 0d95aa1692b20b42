//! Gathers the facts of `krator doctor`.

use std::collections::BTreeMap;

use http::Method;
use serde_json::Value as Json;

use super::{Cluster, Connection, NoKubeconfig, Request, look_at_lease, resource_path};
use crate::crd::webhook_service;
use crate::doctor::{Endpoints, Facts, Grant, Probe, Reached, Site, rights};
use crate::model::Description;
use crate::observed::development::Development;
use crate::observed::{Lookup, items, name, text};
use crate::render::webhooks::configurations;

/// The path of reviews of rights.
const REVIEWS: &str = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

/// The default port of the probes.
const PROBES: u64 = 8081;

/// The facts of a cluster about the operator of a description.
pub fn survey(connection: &Connection, description: &Description, site: &Site) -> Facts {
    let reached = Cluster::connect(connection).and_then(|cluster| {
        let answer = cluster.ask(Request::get("/version"))?;
        let time = answer.time;
        let time = time.ok_or_else(|| anyhow::anyhow!("its response has no valid `Date` header"))?;
        Ok((cluster, time))
    });
    let (cluster, time) = match reached {
        Ok(reached) => reached,
        Err(error) if error.is::<NoKubeconfig>() => {
            return Facts::unasked(Reached::Unconfigured(format!("{error:#}")));
        }
        Err(error) => return Facts::unasked(Reached::No(format!("{error:#}"))),
    };
    let Site {
        operator, namespace, ..
    } = site;
    let in_namespace = |group: &str, plural: &str| resource_path(group, "v1", plural, Some(namespace));
    let definitions = description.kinds.iter().map(|kind| {
        let path = resource_path("apiextensions.k8s.io", "v1", "customresourcedefinitions", None);
        cluster.find(format!("{path}/{}", kind.resource.definition()))
    });
    let development = Development::of(&cluster.find(Development::path()));
    if development.is_some() {
        return Facts {
            definitions: definitions.collect(),
            development,
            ..Facts::unasked(Reached::At(time))
        };
    }
    let configurations = configurations(description).into_iter().map(|(kind, plural)| {
        let path = resource_path("admissionregistration.k8s.io", "v1", plural, None);
        (kind, cluster.find(format!("{path}/{operator}")))
    });
    let deployments = resource_path("apps", "v1", "deployments", None);
    let mut facts = Facts {
        namespace: cluster.find(format!("/api/v1/namespaces/{namespace}")),
        definitions: definitions.collect(),
        account: cluster.find(format!("{}/{operator}", in_namespace("", "serviceaccounts"))),
        grants: grants(&cluster, description, site),
        deployment: cluster.find(format!("{}/{operator}", in_namespace("apps", "deployments"))),
        deployments: cluster.find_all(&format!("{deployments}?fieldSelector=metadata.name%3D{operator}")),
        configurations: configurations.collect(),
        ..Facts::unasked(Reached::At(time))
    };
    (facts.lease, facts.lease_later) = look_at_lease(&cluster, namespace, operator);
    if let Some(deployment) = facts.deployment.object() {
        let path = format!(
            "{}?labelSelector={}",
            in_namespace("", "pods"),
            selector(deployment)
        );
        facts.pods = cluster.find_all(&path);
        facts.readiness = probes(&cluster, namespace, facts.pods.objects());
    } else if facts.deployment == Lookup::Absent {
        facts.pods = Lookup::There(Json::Array(Vec::new()));
    }
    if description.has_webhooks() {
        facts.secret = cluster.find(format!(
            "{}/{}",
            in_namespace("", "secrets"),
            webhook_service(operator)
        ));
    }
    facts.endpoints = endpoints(&cluster, &facts);
    facts
}

/// The rights of the operator, as the API server judges them.
fn grants(cluster: &Cluster, description: &Description, site: &Site) -> Vec<Grant> {
    let operator = &site.operator;
    let granted = rights::needed(description, &site.namespace).into_iter();
    granted
        .map(|(namespace, rights)| {
            let prefix = if namespace.is_some() { "" } else { "cluster" };
            let find = |plural: &str| {
                let path = resource_path(
                    "rbac.authorization.k8s.io",
                    "v1",
                    &format!("{prefix}{plural}"),
                    namespace.as_deref(),
                );
                cluster.find(format!("{path}/{operator}"))
            };
            let reviews = rights.iter().map(|right| Request {
                method: Method::POST,
                path: REVIEWS.to_owned(),
                body: Some(right.review(site, namespace.as_deref())),
            });
            let answers = cluster
                .ask_all(reviews.collect())
                .into_iter()
                .map(|answer| match answer {
                    Ok(answer) if (200..300).contains(&answer.code) => {
                        Ok(answer.json()["status"]["allowed"] == true)
                    }
                    Ok(answer) => Err(answer.message()),
                    Err(error) => Err(format!("{error:#}")),
                });
            Grant {
                role: find("roles"),
                binding: find("rolebindings"),
                rights: rights.into_iter().zip(answers).collect(),
                namespace,
            }
        })
        .collect()
}

/// The label selector of a Deployment, as a parameter.
fn selector(deployment: &Json) -> String {
    let labels = deployment["spec"]["selector"]["matchLabels"].as_object();
    let pairs = labels.into_iter().flatten().filter_map(|(key, value)| {
        let key = key.replace('/', "%2F");
        Some(format!("{key}%3D{}", value.as_str()?))
    });
    pairs.collect::<Vec<_>>().join("%2C")
}

/// The responses of running pods at `/readyz`, through the API server.
fn probes(cluster: &Cluster, namespace: &str, pods: &[Json]) -> BTreeMap<String, Probe> {
    let is_running = |pod: &&Json| text(pod, "/status/phase") == "Running";
    let running: Vec<&Json> = pods.iter().filter(is_running).collect();
    let requests = running.iter().map(|pod| {
        let path = format!(
            "/api/v1/namespaces/{namespace}/pods/{}:{}/proxy/readyz",
            name(pod),
            port(pod)
        );
        Request::get(path)
    });
    let answers = cluster.ask_all(requests.collect());
    let probe = |answer: anyhow::Result<super::Response>| match answer {
        Ok(answer) if answer.code == 200 => Probe::Ready,
        // An error of the API server itself is a Status, and a response of the operator is plain text.
        Ok(answer) if answer.json()["kind"] != "Status" => Probe::Unready(answer.body),
        Ok(answer) if answer.code == 403 => Probe::Unknown(answer.message()),
        Ok(answer) => Probe::Unreachable(answer.message()),
        Err(error) => Probe::Unknown(format!("{error:#}")),
    };
    running
        .iter()
        .zip(answers)
        .map(|(pod, answer)| (name(pod).to_owned(), probe(answer)))
        .collect()
}

/// The port of the probes of a pod: that of its readiness probe, by number or by name.
fn port(pod: &Json) -> u64 {
    let containers = items(pod, "/spec/containers").iter();
    let ports = containers.filter_map(|container| {
        let port = container.pointer("/readinessProbe/httpGet/port")?;
        let named = items(container, "/ports")
            .iter()
            .find(|named| named["name"] == *port);
        port.as_u64().or_else(|| named?["containerPort"].as_u64())
    });
    ports.into_iter().next().unwrap_or(PROBES)
}

/// The endpoints of the Services that the API server calls.
fn endpoints(cluster: &Cluster, facts: &Facts) -> BTreeMap<(String, String), Endpoints> {
    let webhooks = facts
        .configurations
        .iter()
        .filter_map(|(_, found)| found.object());
    let webhooks = webhooks.flat_map(|configuration| items(configuration, "/webhooks"));
    let of_webhooks = webhooks.map(|webhook| &webhook["clientConfig"]);
    let definitions = facts.definitions.iter().filter_map(Lookup::object);
    let of_definitions =
        definitions.map(|definition| &definition["spec"]["conversion"]["webhook"]["clientConfig"]);
    let services = of_webhooks
        .chain(of_definitions)
        .filter_map(|config| config.get("service"));
    let keys = services.map(|service| {
        (
            text(service, "/namespace").to_owned(),
            text(service, "/name").to_owned(),
        )
    });
    let keys: std::collections::BTreeSet<_> = keys.collect();
    keys.into_iter()
        .map(|(namespace, name)| {
            let service = cluster.find(format!(
                "{}/{name}",
                resource_path("", "v1", "services", Some(&namespace))
            ));
            let slices = resource_path("discovery.k8s.io", "v1", "endpointslices", Some(&namespace));
            let slices = cluster.find_all(&format!(
                "{slices}?labelSelector=kubernetes.io%2Fservice-name%3D{name}"
            ));
            ((namespace, name), Endpoints { service, slices })
        })
        .collect()
}
