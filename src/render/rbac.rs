//! Who the operator is and what it may do: the least that its description needs, and no wildcard.

mod rights;

use k8s_openapi::api::core::v1::ServiceAccount;
use k8s_openapi::api::rbac::v1::{
    ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::Value as Json;

use super::yaml;
use crate::model::Description;
use rights::Rights;

/// `deploy/rbac.yaml`: the ServiceAccount, and the roles that it is bound to.
pub fn rbac(description: &Description) -> String {
    let operator = description.operator.as_str();
    let rights = Rights::of(description);
    let mut documents = vec![yaml::value(&ServiceAccount {
        metadata: named(operator, Some(operator)),
        ..ServiceAccount::default()
    })];
    if !rights.cluster.is_empty() {
        documents.extend(cluster_role(operator, rights.cluster.policy()));
    }
    for (namespace, rules) in &rights.namespaces {
        documents.extend(role(operator, namespace, rules.policy()));
    }
    format!("{}{}", yaml::HEADER, yaml::documents(&documents))
}

fn cluster_role(operator: &str, rules: Vec<PolicyRule>) -> [Json; 2] {
    let role = ClusterRole {
        metadata: named(operator, None),
        rules: Some(rules),
        aggregation_rule: None,
    };
    let binding = ClusterRoleBinding {
        metadata: named(operator, None),
        role_ref: reference("ClusterRole", operator),
        subjects: Some(vec![subject(operator)]),
    };
    [yaml::value(&role), yaml::value(&binding)]
}

fn role(operator: &str, namespace: &str, rules: Vec<PolicyRule>) -> [Json; 2] {
    let role = Role {
        metadata: named(operator, Some(namespace)),
        rules: Some(rules),
    };
    let binding = RoleBinding {
        metadata: named(operator, Some(namespace)),
        role_ref: reference("Role", operator),
        subjects: Some(vec![subject(operator)]),
    };
    [yaml::value(&role), yaml::value(&binding)]
}

fn named(name: &str, namespace: Option<&str>) -> ObjectMeta {
    ObjectMeta {
        name: Some(name.to_owned()),
        namespace: namespace.map(str::to_owned),
        ..ObjectMeta::default()
    }
}

fn reference(kind: &str, name: &str) -> RoleRef {
    RoleRef {
        api_group: Some("rbac.authorization.k8s.io".to_owned()),
        kind: kind.to_owned(),
        name: name.to_owned(),
    }
}

fn subject(operator: &str) -> Subject {
    Subject {
        kind: "ServiceAccount".to_owned(),
        name: operator.to_owned(),
        namespace: Some(operator.to_owned()),
        api_group: None,
    }
}
