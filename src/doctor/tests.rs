//! Each fault that is planted in the facts of a healthy operator is reported with its remedy, and nothing else is
//! reported.

use super::*;
use crate::observed::Lookup::{Absent, There};
use crate::render::{rbac, webhooks};
use base64::Engine as _;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

const DESCRIPTION: &str = "
krator: 1
operator: shop
resource: {group: example.com, version: v1, kind: Shop}
spec: {size: integer, host: string}
webhooks: {validate: {}}
machine: {initial: Open}
states: {Open: {kind: ready}}
versions:
  v1beta1: {changes: [{renamed: .spec.count, to: .spec.size}]}
";
const NOW: &str = "2026-06-01T00:00:10Z";

/// The certificate of an authority and one that it has signed, both in the encoding of the API server. They are valid
/// in these years.
fn certificates(years: (i32, i32), host: &str) -> (String, String) {
    let times = |params: &mut CertificateParams| {
        params.not_before = date_time_ymd(years.0, 1, 1);
        params.not_after = date_time_ymd(years.1, 1, 1);
    };
    let key = || KeyPair::generate().expect("a key");
    let encoded = |pem: String| base64::prelude::BASE64_STANDARD.encode(pem);
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    times(&mut authority);
    let authority_key = key();
    let bundle = authority
        .self_signed(&authority_key)
        .expect("a certificate")
        .pem();
    let mut leaf = CertificateParams::new([host.to_owned()]).expect("a name");
    times(&mut leaf);
    let issuer = Issuer::new(authority, authority_key);
    let leaf = leaf.signed_by(&key(), &issuer).expect("a certificate").pem();
    (encoded(bundle), encoded(leaf))
}

/// The facts about an operator, in which a fault can be planted.
struct Case {
    description: Description,
    site: Site,
    facts: Facts,
}

impl Case {
    fn healthy() -> Self {
        let description = crate::check("krator.yaml", DESCRIPTION.as_bytes()).description;
        let mut description = description.expect("it has no errors");
        description.namespace = "shop".to_owned();
        let site = Site {
            operator: "shop".to_owned(),
            namespace: "shop".to_owned(),
            is_ahead: false,
            former: None,
        };
        let (bundle, leaf) = certificates((2025, 2027), "shop-webhook.shop.svc");
        let mut definition = crate::crd::definition(&description, &description.kinds[0]);
        definition["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"] = bundle.clone().into();
        definition["status"] = json!({
            "conditions": [{"type": "Established", "status": "True"}],
            "storedVersions": ["v1"],
        });
        let manifests = rbac::rbac(&description);
        let manifest = |kind: &str, namespace: Option<&str>| {
            let mut all = manifests.iter();
            let found =
                all.find(|one| one["kind"] == kind && one["metadata"]["namespace"].as_str() == namespace);
            There(found.expect("it is generated").clone())
        };
        let grants = rights::needed(&description, "shop")
            .into_iter()
            .map(|(namespace, needed)| {
                let (role, binding) = match &namespace {
                    None => ("ClusterRole", "ClusterRoleBinding"),
                    Some(_) => ("Role", "RoleBinding"),
                };
                Grant {
                    role: manifest(role, namespace.as_deref()),
                    binding: manifest(binding, namespace.as_deref()),
                    rights: needed.into_iter().map(|right| (right, Ok(true))).collect(),
                    namespace,
                }
            });
        let configurations = webhooks::webhooks(&description).into_iter();
        let mut configuration = configurations.last().expect("a configuration");
        configuration["webhooks"][0]["clientConfig"]["caBundle"] = bundle.into();
        let deployment = json!({
            "metadata": {"name": "shop", "namespace": "shop", "generation": 1},
            "spec": {"replicas": 1},
            "status": {"observedGeneration": 1, "conditions": [{"type": "Available", "status": "True"}]},
        });
        let endpoints = Endpoints {
            service: There(json!({})),
            slices: There(
                json!([{"endpoints": [{"addresses": ["10.0.0.1"], "conditions": {"ready": true}}]}]),
            ),
        };
        let facts = Facts {
            namespace: There(json!({})),
            definitions: vec![There(definition)],
            account: manifest("ServiceAccount", Some("shop")),
            grants: grants.collect(),
            deployments: There(json!([deployment])),
            deployment: There(deployment),
            pods: There(json!([{
                "metadata": {"name": "shop-1"},
                "status": {"phase": "Running", "containerStatuses": [{"image": "shop:1", "state": {"running": {}}}]},
            }])),
            lease: There(
                json!({"spec": {"holderIdentity": "shop-1_0123456789abcdef", "renewTime": "2026-06-01T00:00:08Z"}}),
            ),
            readiness: BTreeMap::from([("shop-1".to_owned(), Probe::Ready)]),
            configurations: vec![("ValidatingWebhookConfiguration", There(configuration))],
            endpoints: BTreeMap::from([(("shop".to_owned(), "shop-webhook".to_owned()), endpoints)]),
            secret: There(json!({"data": {"tls.crt": leaf}})),
            ..Facts::unasked(Reached::At(NOW.parse().expect("a time")))
        };
        Case {
            description,
            site,
            facts,
        }
    }

    fn definition(&mut self) -> &mut Json {
        object(&mut self.facts.definitions[0])
    }

    fn diagnosis(&self) -> Diagnosis {
        diagnose(&self.description, &self.site, &self.facts)
    }

    /// Takes a right away, in the namespace or everywhere.
    fn forbid(&mut self, resource: &str, verb: &str) {
        for (right, allowed) in self.facts.grants.iter_mut().flat_map(|grant| &mut grant.rights) {
            if right.resource == resource && right.verb == verb {
                *allowed = Ok(false);
            }
        }
    }
}

fn object(found: &mut Lookup) -> &mut Json {
    match found {
        There(object) => object,
        other => panic!("{other:?}"),
    }
}

#[test]
fn nothing_is_reported_of_a_healthy_operator() {
    let diagnosis = Case::healthy().diagnosis();
    let names: Vec<&str> = diagnosis.checks.iter().map(|check| &*check.name).collect();
    assert_eq!(
        names,
        [
            "cargo",
            "cluster",
            "namespace",
            "crd shops.example.com",
            "stored versions of shops.example.com",
            "conversion of shops.example.com",
            "rights",
            "deployment",
            "images",
            "lease",
            "readiness",
            "webhooks",
            "certificates"
        ]
    );
    let text = diagnosis.to_text();
    assert!(
        diagnosis.checks.iter().all(|check| check.outcome == Outcome::Ok),
        "{text}"
    );
}

type Plant = fn(&mut Case);

/// Each fault: how it is planted, the checks that report it, the text of the first of them, and a part of the remedy.
const FAULTS: &[(Plant, &[&str], &str, &str)] = &[
    (
        |case| case.facts.definitions[0] = Absent,
        &["crd shops.example.com"],
        "shops.example.com is not installed",
        "kubectl apply --server-side --force-conflicts -f deploy/crd.yaml",
    ),
    (
        |case| {
            let pointer = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties";
            let properties = case.definition().pointer_mut(pointer).expect("it is there");
            properties.as_object_mut().expect("an object").remove("host");
        },
        &["crd shops.example.com"],
        "is older than krator.yaml: it lacks\n  .spec.versions[v1].schema.openAPIV3Schema.properties.spec.properties.host",
        "-f deploy/crd.yaml",
    ),
    (
        |case| {
            case.site.is_ahead = true;
            case.definition()["spec"]["names"]["shortNames"] = json!(["sh"]);
        },
        &["crd shops.example.com"],
        "is newer than krator.yaml, which lacks\n  .spec.names.shortNames",
        "krator gen && kubectl apply",
    ),
    (
        |case| case.forbid("shops/status", "patch"),
        &["rights"],
        "the ClusterRole `shop` is outdated or was edited: it lacks patch shops.example.com/status",
        "-f deploy/rbac.yaml",
    ),
    (
        |case| {
            for (_, allowed) in &mut case.facts.grants[0].rights {
                *allowed = Ok(false);
            }
            case.facts.grants[0].binding = Absent;
        },
        &["rights"],
        "the ClusterRoleBinding `shop` does not exist",
        "-f deploy/rbac.yaml",
    ),
    (
        |case| case.forbid("leases", "update"),
        &["rights"],
        "the Role `shop` in the namespace `shop` is outdated or was edited: it lacks update leases.coordination.k8s.io shop",
        "-f deploy/rbac.yaml",
    ),
    (
        |case| {
            let binding = object(&mut case.facts.grants[1].binding);
            binding["subjects"][0]["namespace"] = "elsewhere".into();
            case.forbid("leases", "get");
        },
        &["rights"],
        "the RoleBinding `shop` in the namespace `shop` does not bind the Role to the ServiceAccount `shop`",
        "-f deploy/rbac.yaml",
    ),
    (
        |case| object(&mut case.facts.lease)["spec"]["holderIdentity"] = "other-7_0123456789abcdef".into(),
        &["lease"],
        "another operator holds the Lease `shop`: other-7_0123456789abcdef",
        "stop that process",
    ),
    (
        |case| {
            object(&mut case.facts.lease)["spec"]["renewTime"] = "2026-05-31T23:00:00Z".into();
            case.facts.lease_later = case.facts.lease.object().cloned();
        },
        &["lease"],
        "the Lease `shop` is not renewed: shop-1_0123456789abcdef renewed it last, 1h ago",
        "kubectl logs -n shop deployment/shop",
    ),
    (
        |case| {
            let lacks = Probe::Unready("secrets: forbidden\nthe lease: not seen yet\n".to_owned());
            case.facts.readiness.insert("shop-1".to_owned(), lacks);
        },
        &["readiness"],
        "the pod shop-1 is not ready. It waits for\n  secrets: forbidden\n  the lease: not seen yet",
        "kubectl logs -n shop shop-1",
    ),
    (
        |case| {
            case.facts.deployment = Absent;
            case.facts.pods = There(json!([]));
            object(&mut case.facts.deployments)[0]["metadata"]["namespace"] = "default".into();
        },
        &["deployment", "lease"],
        "the Deployment `shop` is in the namespace `default`, and the manifests are for `shop`",
        "krator doctor --namespace default",
    ),
    (
        |case| {
            case.facts.namespace = Absent;
            object(&mut case.facts.deployments)[0]["metadata"]["namespace"] = "default".into();
        },
        &["namespace"],
        "the Deployment `shop` is in the namespace `default`, and the manifests are for `shop`",
        "krator doctor --namespace default",
    ),
    (
        |case| case.facts.reached = Reached::No("connection refused".to_owned()),
        &["cluster"],
        "the cluster does not answer: connection refused",
        "kubectl cluster-info",
    ),
    (
        |case| case.facts.cargo = Some("No such file or directory".to_owned()),
        &["cargo"],
        "cannot run cargo",
        "https://rustup.rs",
    ),
    (
        |case| {
            case.definition()["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["name"] =
                "gone".into();
            let endpoints = case.facts.endpoints.values().next().expect("one").clone();
            let key = ("shop".to_owned(), "gone".to_owned());
            case.facts.endpoints.insert(
                key,
                Endpoints {
                    service: Absent,
                    ..endpoints
                },
            );
        },
        &["conversion of shops.example.com", "crd shops.example.com"],
        "requests in another version fail: there is no Service `gone` in the namespace `shop`",
        "-f deploy/webhooks.yaml",
    ),
    (
        |case| {
            let endpoints = case.facts.endpoints.values_mut().next().expect("one");
            object(&mut endpoints.slices)[0]["endpoints"][0]["conditions"]["ready"] = false.into();
        },
        &["webhooks", "conversion of shops.example.com"],
        "the webhook validate.shops.example.com cannot be called: the Service `shop-webhook`",
        "kubectl get pods -n shop",
    ),
    (
        |case| {
            let (_, leaf) = certificates((2024, 2026), "shop-webhook.shop.svc");
            object(&mut case.facts.secret)["data"]["tls.crt"] = leaf.into();
        },
        &["certificates"],
        "the certificate in the Secret `shop-webhook` has expired at 2026-01-01T00:00:00Z",
        "kubectl delete secret/shop-webhook -n shop",
    ),
    (
        |case| {
            let (_, leaf) = certificates((2025, 2027), "shop-webhook.shop.svc");
            object(&mut case.facts.secret)["data"]["tls.crt"] = leaf.into();
        },
        &["certificates"],
        "the certificate of the operator was signed by another authority",
        "kubectl delete secret/shop-webhook -n shop",
    ),
    (
        |case| {
            let (bundle, _) = certificates((2024, 2026), "shop-webhook.shop.svc");
            let configuration = object(&mut case.facts.configurations[0].1);
            configuration["webhooks"][0]["clientConfig"]["caBundle"] = bundle.into();
        },
        &["certificates"],
        "the caBundle of the ValidatingWebhookConfiguration does not verify the operator: the certificate in it has expired at 2026-01-01T00:00:00Z",
        "kubectl delete secret/shop-webhook -n shop",
    ),
    (
        |case| {
            let (bundle, leaf) = certificates((2025, 2027), "shop-webhook.elsewhere.svc");
            object(&mut case.facts.secret)["data"]["tls.crt"] = leaf.into();
            let configuration = object(&mut case.facts.configurations[0].1);
            configuration["webhooks"][0]["clientConfig"]["caBundle"] = bundle.clone().into();
            case.definition()["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"] = bundle.into();
        },
        &["certificates"],
        "the certificate of the operator is not for shop-webhook.shop.svc",
        "kubectl delete secret/shop-webhook -n shop",
    ),
    (
        |case| {
            let definition = case.definition();
            definition["spec"]["versions"][1]["served"] = false.into();
            definition["status"]["storedVersions"] = json!(["v1beta1", "v1"]);
        },
        &["stored versions of shops.example.com", "crd shops.example.com"],
        "objects of shops.example.com may be stored in v1beta1, which is not served",
        "krator migrate",
    ),
    (
        |case| {
            let status = &mut object(&mut case.facts.pods)[0]["status"]["containerStatuses"][0];
            status["state"] = json!({"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}});
        },
        &["images"],
        "the image shop:1 of the pod shop-1 cannot be pulled: ImagePullBackOff: no such image",
        "docker push shop:1",
    ),
    (
        |case| object(&mut case.facts.deployment)["status"]["conditions"][0]["status"] = "False".into(),
        &["deployment"],
        "the Deployment is not available: 0 of 1 pods are ready",
        "kubectl describe deployment/shop -n shop",
    ),
];

#[test]
fn each_planted_fault_is_named_alone_with_what_to_do() {
    for (plant, checks, what, remedy) in FAULTS {
        let mut case = Case::healthy();
        plant(&mut case);
        let diagnosis = case.diagnosis();
        let text = diagnosis.to_text();
        let failed: std::collections::BTreeSet<&str> = diagnosis
            .checks
            .iter()
            .filter(|check| matches!(check.outcome, Outcome::Failed(_)))
            .map(|check| &*check.name)
            .collect();
        assert_eq!(failed, checks.iter().copied().collect(), "{what}:\n{text}");
        let first = diagnosis.checks.iter().find(|check| check.name == checks[0]);
        let Some(Outcome::Failed(faults)) = first.map(|check| &check.outcome) else {
            panic!("{what}:\n{text}");
        };
        let said = format!("{} {:?}", faults[0].what, faults[0].remedy);
        assert!(
            said.contains(what) && said.contains(remedy),
            "{what}, {remedy}:\n{said}"
        );
    }
}

#[test]
fn what_cannot_be_read_is_no_fault() {
    let mut case = Case::healthy();
    let forbidden = || Lookup::Unknown("secrets is forbidden".to_owned());
    (case.facts.secret, case.facts.lease, case.facts.pods) = (forbidden(), forbidden(), forbidden());
    let diagnosis = case.diagnosis();
    assert!(diagnosis.is_sound());
    assert!(
        diagnosis
            .to_text()
            .contains("skipped  lease: the Lease cannot be read: secrets is forbidden\n"),
        "{}",
        diagnosis.to_text()
    );
}
