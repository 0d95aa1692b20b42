//! The faults that are planted in a cluster, as data.

use super::{CRD, Grocery, host_name};
use serde_json::{Value, json};

type Action = fn(&Grocery);

/// A fault: the action that plants it, the check that reports it, parts of the report, and the action that heals it.
pub struct Fault {
    pub plant: Action,
    pub check: &'static str,
    pub says: &'static [&'static str],
    pub heal: Action,
}

/// The index of a rule in a role.
fn rule_of(grocery: &Grocery, role: &[&str], resource: &str) -> usize {
    let role = grocery.cluster.kubectl(&[&["get", "-o=json"], role].concat());
    let role: Value = serde_json::from_str(&role).expect("kubectl writes JSON");
    let mut rules = role["rules"].as_array().expect("a role").iter();
    let has = |rule: &Value| rule["resources"].to_string().contains(resource);
    rules.position(has).expect("it is there")
}

fn definition(grocery: &Grocery, patch: &Value) {
    grocery.patch(&format!("crd/{CRD}"), "json", patch, &[]);
}

pub const FAULTS: &[Fault] = &[
    Fault {
        plant: |grocery| {
            let host = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/host";
            let required = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/required";
            definition(
                grocery,
                &json!([{"op": "remove", "path": host}, {"op": "remove", "path": required}]),
            );
        },
        check: "crd grocers.grocers.example.com",
        says: &[
            "older than krator.yaml",
            ".properties.spec.properties.host",
            "-f deploy/crd.yaml",
        ],
        heal: |grocery| grocery.apply("crd.yaml"),
    },
    Fault {
        plant: |grocery| {
            let at = rule_of(grocery, &["clusterrole", "grocer"], "grocers/status");
            let path = format!("/rules/{at}");
            grocery.patch(
                "clusterrole/grocer",
                "json",
                &json!([{"op": "remove", "path": path}]),
                &[],
            );
        },
        check: "rights",
        says: &[
            "the ClusterRole `grocer` is outdated",
            "patch grocers.grocers.example.com/status",
            "-f deploy/rbac.yaml",
        ],
        heal: |grocery| grocery.apply("rbac.yaml"),
    },
    Fault {
        plant: |grocery| grocery.kubectl(&["delete", "clusterrolebinding", "grocer"]),
        check: "rights",
        says: &[
            "the ClusterRoleBinding `grocer` does not exist",
            "-f deploy/rbac.yaml",
        ],
        heal: |grocery| grocery.apply("rbac.yaml"),
    },
    Fault {
        plant: |grocery| {
            let at = rule_of(grocery, &["role", "grocer", "-n=grocer-system"], "leases");
            let path = format!("/rules/{at}");
            grocery.patch(
                "role/grocer",
                "json",
                &json!([{"op": "remove", "path": path}]),
                &[],
            );
        },
        check: "rights",
        says: &[
            "the Role `grocer` in the namespace `grocer-system`",
            "leases.coordination.k8s.io grocer",
            "-f deploy/rbac.yaml",
        ],
        heal: |grocery| grocery.apply("rbac.yaml"),
    },
    Fault {
        plant: |grocery| grocery.serves_webhooks(false),
        check: "webhooks",
        says: &[
            "validate.grocers.grocers.example.com cannot be called",
            "has no ready pods",
            "kubectl get pods",
        ],
        heal: |grocery| grocery.serves_webhooks(true),
    },
    Fault {
        plant: |grocery| {
            let name = "/spec/conversion/webhook/clientConfig/service/name";
            definition(
                grocery,
                &json!([{"op": "replace", "path": name, "value": "gone"}]),
            );
        },
        check: "conversion of grocers.grocers.example.com",
        says: &[
            "requests in another version fail: there is no Service `gone`",
            "kubectl apply",
        ],
        heal: |grocery| grocery.apply("crd.yaml"),
    },
    Fault {
        plant: |grocery| {
            let served = "/spec/versions/1/served";
            definition(
                grocery,
                &json!([{"op": "replace", "path": served, "value": false}]),
            );
            let crd = format!("crd/{CRD}");
            grocery.status(&crd, &json!({"storedVersions": ["v1beta1", "v1"]}));
        },
        check: "stored versions of grocers.grocers.example.com",
        says: &["may be stored in v1beta1, which is not served", "krator migrate"],
        heal: |grocery| {
            grocery.status(&format!("crd/{CRD}"), &json!({"storedVersions": ["v1"]}));
            grocery.apply("crd.yaml");
        },
    },
    Fault {
        plant: |grocery| {
            let waiting = json!({"waiting": {"reason": "ErrImagePull", "message": "not found"}});
            let status = json!([{
                "name": "operator", "image": "grocer:0.1.0", "imageID": "", "ready": false, "restartCount": 0,
                "state": waiting,
            }]);
            grocery.status(
                &format!("pod/{}", host_name()),
                &json!({"containerStatuses": status}),
            );
        },
        check: "images",
        says: &[
            "the image grocer:0.1.0",
            "cannot be pulled: ErrImagePull: not found",
            "docker push grocer:0.1.0",
        ],
        heal: |grocery| {
            let status = json!([{
                "name": "operator", "image": "grocer:0.1.0", "imageID": "", "ready": true, "restartCount": 0,
                "state": {"running": {}},
            }]);
            grocery.status(
                &format!("pod/{}", host_name()),
                &json!({"containerStatuses": status}),
            );
        },
    },
    Fault {
        plant: |grocery| grocery.kubectl(&["delete", "crd", CRD]),
        check: "crd grocers.grocers.example.com",
        says: &[
            "grocers.grocers.example.com is not installed",
            "-f deploy/crd.yaml",
        ],
        heal: |grocery| grocery.apply("crd.yaml"),
    },
];
