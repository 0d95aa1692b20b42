//! Every right in `deploy/rbac.yaml` is used, and no request lacks one: the requests in the audit log match the granted
//! rights, and the rights that the log cannot show are tested by removing them. The API server also demands the right
//! to set finalizers for references that block the deletion of an owner, as OpenShift does.

use crate::cluster::{self, Cluster, until, until_ok};
use crate::metrics::scrape;
use crate::operator::{Crate, OperatorProcess, ShownOnPanic, install};
use crate::probes::logged_address;
use crate::yaml::documents;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const DESCRIPTION: &str = "
krator: 1
operator: grantee
deploy: {namespaces: [it-rights]}
resource: {group: rights.example.com, version: v1, kind: Grant}
spec:
  secret: string
owns: [{kind: core/v1.ConfigMap}, {kind: core/v1.LimitRange, deletion: last}]
webhooks:
  validate: {failurePolicy: Ignore, timeout: 1s}
  mutate: {failurePolicy: Ignore, timeout: 1s}
watches:
  - {kind: core/v1.Secret, by: .spec.secret}
  - {kind: core/v1.ServiceAccount, label: grant}
  - {kind: core/v1.PersistentVolume, all: true}
machine: {initial: Making, deletion: Cleaning}
states:
  Making: {next: [Resting, Over], wait: {watch: [owned, watched]}}
  Resting: {kind: ready, next: [Making], wait: {poll: 1s}}
  Over: {kind: final}
  Cleaning: {next: [Gone]}
  Gone: {kind: final}
";

const MAKING: &str = r#"use super::{Making, Over, Resting};
use crate::grant::prelude::*;
use k8s_openapi::api::core::v1::{ConfigMap, LimitRange, Secret, ServiceAccount};

impl State for Making {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        let name = cx.name().to_owned();
        let kept: ConfigMap = cx.child(&name);
        cx.apply(&kept).await?;
        let extra: ConfigMap = cx.child(&format!("{name}-extra"));
        cx.delete(&*cx.apply(&extra).await?).await?;
        cx.owned::<ConfigMap>().await?;
        let last: LimitRange = cx.child(&name);
        cx.apply(&last).await?;
        cx.owned::<LimitRange>().await?;
        let found = cx.watched::<Secret>().is_some() && cx.watched::<ServiceAccount>().is_some();
        Ok(match (name.as_str(), found) {
            ("over", _) => Transition::to(Over),
            (_, true) => Transition::to(Resting),
            _ => Transition::stay(),
        })
    }
}
"#;

const RESTING: &str = r#"use super::{Making, Resting};
use crate::grant::prelude::*;

impl State for Resting {
    async fn next(self, cx: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(if cx.first_run() { Transition::stay() } else { Transition::to(Making) })
    }
}
"#;

const CLEANING: &str = r#"use super::{Cleaning, Gone};
use crate::grant::prelude::*;

impl State for Cleaning {
    async fn next(self, _: &mut Context<'_>) -> Result<Transition<Self>> {
        Ok(Transition::to(Gone))
    }
}
"#;

/// A verb that a role of the operator allows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Right {
    /// The namespace; empty for cluster-wide rights.
    place: String,
    group: String,
    /// With its subresource, if any.
    resource: String,
    /// The name of the only object that it applies to; empty for all.
    name: String,
    verb: String,
}

impl Right {
    /// Whether the right covers a request: its namespace, group, resource, name and verb.
    fn allows(&self, request: &cluster::audit::Request) -> bool {
        let namespace = request.namespace.as_deref().unwrap_or_default();
        (self.place.is_empty() || self.place == namespace)
            && (&self.group, &self.resource, &self.verb) == (&request.group, &request.resource, &request.verb)
            && (self.name.is_empty() || self.name == request.name)
    }

    fn short(&self) -> String {
        format!("{} {}", self.verb, self.resource)
    }
}

/// The roles of the operator in its manifests, without those for users.
fn roles(krate: &Crate) -> Vec<Value> {
    let rbac = documents(&fs::read(krate.dir().join("deploy/rbac.yaml")).expect("generated"));
    let bound: Vec<&Value> = rbac.iter().filter_map(|object| object.get("roleRef")).collect();
    let is_bound = |role: &&Value| {
        bound.iter().any(|reference| {
            reference["name"] == role["metadata"]["name"] && reference["kind"] == role["kind"]
        })
    };
    rbac.iter().filter(is_bound).cloned().collect()
}

fn rights(roles: &[Value]) -> BTreeSet<Right> {
    let texts = |value: &Value| -> Vec<String> {
        let texts = value.as_array().into_iter().flatten();
        texts
            .filter_map(|text| text.as_str().map(str::to_owned))
            .collect()
    };
    let mut rights = BTreeSet::new();
    for role in roles {
        let place = role["metadata"]["namespace"].as_str().unwrap_or_default();
        for rule in role["rules"].as_array().into_iter().flatten() {
            let mut names = texts(&rule["resourceNames"]);
            if names.is_empty() {
                names.push(String::new());
            }
            for group in texts(&rule["apiGroups"]) {
                for resource in texts(&rule["resources"]) {
                    for (name, verb) in names
                        .iter()
                        .flat_map(|name| texts(&rule["verbs"]).into_iter().map(move |verb| (name, verb)))
                    {
                        rights.insert(Right {
                            place: place.to_owned(),
                            group: group.clone(),
                            resource: resource.clone(),
                            name: name.clone(),
                            verb,
                        });
                    }
                }
            }
        }
    }
    rights
}

/// The roles without one right.
fn without(roles: &[Value], right: &Right) -> Vec<Value> {
    let mut roles = roles.to_vec();
    for rule in roles
        .iter_mut()
        .flat_map(|role| role["rules"].as_array_mut())
        .flatten()
    {
        let is_for = rule["resources"]
            .as_array()
            .is_some_and(|all| all.contains(&json!(right.resource)));
        if is_for && let Some(verbs) = rule["verbs"].as_array_mut() {
            verbs.retain(|verb| *verb != json!(right.verb));
        }
    }
    for rules in roles.iter_mut().filter_map(|role| role["rules"].as_array_mut()) {
        rules.retain(|rule| rule["verbs"] != json!([]));
    }
    roles
}

fn replace(cluster: &Cluster, objects: &[Value]) {
    for object in objects {
        let replaced = cluster.try_kubectl("admin", &["replace", "-f", "-"], &object.to_string());
        replaced.expect("a role");
    }
}

fn create(cluster: &Cluster, name: &str) {
    let grant = json!({
        "apiVersion": "rights.example.com/v1",
        "kind": "Grant",
        "metadata": {"name": name, "namespace": "it-rights"},
        "spec": {"secret": "key"},
    });
    cluster.apply(&grant.to_string(), &[]);
}

#[test]
fn every_right_is_used_and_no_request_lacks_one() {
    let Some(cluster) = &cluster::own(&["OwnerReferencesPermissionEnforcement"]) else {
        return;
    };
    let krate = Crate::generate(DESCRIPTION, |dir: &Path| {
        for (state, text) in [("making", MAKING), ("resting", RESTING), ("cleaning", CLEANING)] {
            fs::write(dir.join(format!("src/grant/states/{state}.rs")), text).expect("a generated folder");
        }
    });
    let namespace = cluster.namespace("rights");
    install(&krate, cluster);
    let binary = cluster.dir().join("grantee");
    krate.build_with_faults(&binary);
    let here = ["--namespace", namespace.as_str()];
    cluster.kubectl(&[&["create", "secret", "generic", "key"], &here[..]].concat());
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "one", "labels": {"grant": "one"}}});
    cluster.apply(&account.to_string(), &here);
    let token = cluster.kubectl(&[&["create", "token", "one"], &here[..]].concat());

    let log = cluster.dir().join("grantee.log");
    let _log = ShownOnPanic(&log);
    let start = || {
        let args = [
            "--namespace=it-rights",
            "--leader-elect",
            "--leader-elect-resource-namespace=grantee-system",
            "--metrics-bind-address=127.0.0.1:0",
            "--webhook-bind-address=127.0.0.1:0",
            // So that certificates are renewed during the test.
            "--webhook-cert-lifetime=60s",
        ];
        // After a conflict the operator reads its object, which needs another right.
        let faults = [("KRATOR_FAULTS", r#"{"seed": 1, "conflict": 300}"#)];
        OperatorProcess::start_with(cluster, &binary, &args, &log, &faults)
    };
    let operator = start();
    create(cluster, "one");
    create(cluster, "over");
    let logged = || fs::read_to_string(&log).unwrap_or_default();
    let address = logged_address(logged, "serving metrics");
    // The token is reviewed and the request refused, because the role for readers of metrics is not bound.
    scrape(cluster, &address, "/metrics", Some(token.trim())).expect_err("no right to read metrics");
    // A repeated transition is an event with a count, which is patched.
    let roles = roles(&krate);
    let granted = rights(&roles);
    let unused = |granted: &BTreeSet<Right>| -> Vec<Right> {
        let requests = cluster.requests_everywhere();
        let is_unused = |right: &&Right| !requests.iter().any(|request| right.allows(request));
        granted.iter().filter(is_unused).cloned().collect()
    };
    // Rights that the audit log does not show, because they are checked within requests with another verb.
    let asked_within = [
        "create leases",
        "create secrets",
        "delete mutatingwebhookconfigurations",
        "delete validatingwebhookconfigurations",
        "create configmaps",
        "create limitranges",
        "update grants/finalizers",
    ];
    let mut changes = 0;
    until_ok("all other rights are used", || {
        // A child is read after another client has changed it.
        changes += 1;
        let annotation = format!("changes={changes}");
        for kind in ["configmap", "limitrange"] {
            // This fails if the operator has not created the child at this time.
            let annotate = [&["annotate", "--overwrite", kind, "one", &annotation], &here[..]].concat();
            let _ = cluster.try_kubectl("admin", &annotate, "");
        }
        let mut rest: Vec<String> = unused(&granted).iter().map(Right::short).collect();
        rest.retain(|right| !asked_within.contains(&right.as_str()));
        if rest.is_empty() { Ok(()) } else { Err(rest) }
    });
    let rest = unused(&granted);
    assert_eq!(rest.len(), asked_within.len(), "{rest:?}");
    for request in cluster.requests_everywhere() {
        assert_ne!(request.code, 403, "{request:?}");
        // Every user may read the version of the server.
        let is_public = request.uri.starts_with("/version");
        assert!(
            is_public || granted.iter().any(|right| right.allows(&request)),
            "no right is for {request:?}"
        );
    }

    let refused = |resource: &str, since: usize| {
        let mut requests = cluster.requests_everywhere().into_iter().skip(since);
        requests.any(|request| request.code == 403 && request.resource == resource)
    };
    let mut number = 0;
    let of_objects = ["configmaps", "limitranges", "grants/finalizers"];
    for right in rest.iter().filter(|right| of_objects.contains(&&*right.resource)) {
        replace(cluster, &without(&roles, right));
        let since = cluster.requests_everywhere().len();
        until(&format!("without `{}` a child is refused", right.short()), || {
            number += 1;
            create(cluster, &format!("other-{number}"));
            // Both owned kinds are in one rule, and this kind is applied first.
            refused("configmaps", since).then_some(())
        });
        replace(cluster, &roles);
    }
    assert!(operator.terminate().success());
    for (resource, name) in [("leases", "grantee"), ("secrets", "grantee-webhook")] {
        let mut of_process = rest.iter().filter(|right| right.resource == resource);
        replace(cluster, &without(&roles, of_process.next().expect("one of them")));
        cluster.kubectl(&["delete", resource, name, "--namespace=grantee-system"]);
        let since = cluster.requests_everywhere().len();
        let operator = start();
        until(
            &format!("without the right to create it, {name} is refused"),
            || refused(resource, since).then_some(()),
        );
        assert!(operator.terminate().success());
        replace(cluster, &roles);
    }
}
