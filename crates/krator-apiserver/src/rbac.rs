//! Roles and bindings, after `plugin/pkg/auth/authorizer/rbac` and `pkg/registry/rbac` of Kubernetes.
//!
//! Without the option `rbac`, all users may do everything. As in the API server, the group `system:masters` may always
//! do everything.

mod aggregation;
mod attributes;
mod bootstrap;
mod rule;

pub(crate) use aggregation::aggregate;
pub(crate) use attributes::Attributes;
pub(crate) use bootstrap::seed;
pub(crate) use rule::Rule;

use crate::{
    object::at,
    refusal::{About, Refusal},
    state::{State, id},
    store::{Key, Store},
    users::{MASTERS, SERVICE_ACCOUNT, User},
};
use serde_json::Value as Json;
use std::rc::Rc;

/// The API group of roles and bindings.
pub(crate) const GROUP: &str = "rbac.authorization.k8s.io";

/// Whether a request is allowed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Decision {
    pub allowed: bool,
    /// The binding that allows the request, or the errors of bindings; empty if there is nothing to report.
    pub reason: String,
}

/// Decides whether a user may do what the attributes describe.
pub(crate) fn authorize(state: &State, user: &User, asked: &Attributes) -> Decision {
    decide(&state.store, state.rbac, user, asked)
}

/// A copy of the roles and the bindings.
pub(crate) struct Roles {
    rbac: bool,
    store: Store,
}

impl Roles {
    pub fn of(state: &State) -> Self {
        let resources = ["roles", "rolebindings", "clusterroles", "clusterrolebindings"];
        let resources = if state.rbac { &resources[..] } else { &[] };
        let resources: Vec<_> = resources.iter().map(|resource| id(GROUP, resource)).collect();
        Self {
            rbac: state.rbac,
            store: state.store.copy_of(&resources),
        }
    }

    /// Decides whether a user may do what the attributes describe.
    pub fn decide(&self, user: &User, asked: &Attributes) -> Decision {
        decide(&self.store, self.rbac, user, asked)
    }
}

fn decide(store: &Store, rbac: bool, user: &User, asked: &Attributes) -> Decision {
    if !rbac || user.is_in(MASTERS) {
        return Decision {
            allowed: true,
            reason: String::new(),
        };
    }
    let granted = rules_of(store, user, &asked.namespace);
    match granted.rules.iter().find(|(_, rule)| rule.allows(asked)) {
        Some((source, _)) => Decision {
            allowed: true,
            reason: format!("RBAC: allowed by {source}"),
        },
        None => Decision {
            allowed: false,
            reason: match granted.errors.as_slice() {
                [] => String::new(),
                [one] => format!("RBAC: {one}"),
                all => format!("RBAC: [{}]", all.join(", ")),
            },
        },
    }
}

/// The refusal of a request that a user may not send.
pub(crate) fn forbidden(user: &User, asked: &Attributes, reason: &str) -> Refusal {
    let name = &user.name;
    let verb = &asked.verb;
    let mut why = if let Some(path) = &asked.path {
        format!("User {name:?} cannot {verb} path {path:?}")
    } else {
        let below = if asked.subresource.is_empty() { "" } else { "/" };
        let resource = format!("{}{below}{}", asked.resource, asked.subresource);
        let what = format!(
            "User {name:?} cannot {verb} resource {resource:?} in API group {:?}",
            asked.group
        );
        match asked.namespace.as_str() {
            "" => format!("{what} at the cluster scope"),
            namespace => format!("{what} in the namespace {namespace:?}"),
        }
    };
    // As in the API server, the message is escaped for HTML.
    why = why
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    if !reason.is_empty() {
        why = format!("{why}: {reason}");
    }
    Refusal::forbidden(About::new(&asked.group, &asked.resource, &asked.name), &why)
}

/// The rules that bindings grant to a user.
#[derive(Debug, Default)]
pub(crate) struct Granted {
    /// The rules, each with a description of the binding that grants it.
    pub rules: Vec<(Rc<str>, Rule)>,
    /// The errors of bindings to roles that do not exist.
    pub errors: Vec<String>,
}

/// The rules of a user in a namespace, or in the whole cluster if `namespace` is empty.
pub(crate) fn rules_of(store: &Store, user: &User, namespace: &str) -> Granted {
    let mut granted = Granted::default();
    for (key, binding) in store.list(&id(GROUP, "clusterrolebindings"), "") {
        grant(store, user, binding, key, "", &mut granted);
    }
    if !namespace.is_empty() {
        for (key, binding) in store.list(&id(GROUP, "rolebindings"), namespace) {
            grant(store, user, binding, key, namespace, &mut granted);
        }
    }
    granted
}

/// Adds the rules of a binding, if the user is one of its subjects.
fn grant(store: &Store, user: &User, binding: &Json, key: &Key, namespace: &str, into: &mut Granted) {
    let mut subjects = at(binding, &["subjects"]).as_array().into_iter().flatten();
    let Some(subject) = subjects.find(|subject| is_user(user, subject, namespace)) else {
        return;
    };
    let role = at(binding, &["roleRef"]);
    let (kind, role) = (text(role, "kind"), text(role, "name"));
    let Some(rules) = rules_of_role(store, kind, role, namespace) else {
        let missing = format!("{}.{GROUP} {role:?} not found", kind.to_lowercase());
        return into.errors.push(missing);
    };
    let name = match namespace {
        "" => format!("ClusterRoleBinding {:?}", key.name),
        namespace => format!("RoleBinding {:?}", format!("{}/{namespace}", key.name)),
    };
    let whom = described(subject, namespace);
    let source: Rc<str> = format!("{name} of {kind} {role:?} to {whom}").into();
    let rules = rules.into_iter().map(|rule| (Rc::clone(&source), rule));
    into.rules.extend(rules);
}

fn text<'a>(object: &'a Json, key: &str) -> &'a str {
    at(object, &[key]).as_str().unwrap_or_default()
}

fn is_user(user: &User, subject: &Json, namespace: &str) -> bool {
    let name = text(subject, "name");
    match text(subject, "kind") {
        "User" => user.name == name,
        "Group" => user.is_in(name),
        "ServiceAccount" => {
            let own = text(subject, "namespace");
            let namespace = if own.is_empty() { namespace } else { own };
            !namespace.is_empty() && user.name == format!("{SERVICE_ACCOUNT}{namespace}:{name}")
        }
        _ => false,
    }
}

fn described(subject: &Json, namespace: &str) -> String {
    let (kind, name) = (text(subject, "kind"), text(subject, "name"));
    match (kind, text(subject, "namespace")) {
        ("ServiceAccount", "") => format!("{kind} {:?}", format!("{name}/{namespace}")),
        ("ServiceAccount", own) => format!("{kind} {:?}", format!("{name}/{own}")),
        _ => format!("{kind} {name:?}"),
    }
}

/// The rules of a binding's role; none if the role does not exist. A `Role` is in the namespace of its binding.
fn rules_of_role(store: &Store, kind: &str, name: &str, namespace: &str) -> Option<Vec<Rule>> {
    let (resource, namespace) = match kind {
        "Role" => ("roles", namespace),
        "ClusterRole" => ("clusterroles", ""),
        _ => return None,
    };
    let object = store.get(&id(GROUP, resource), &Key::new(namespace, name))?;
    Some(Rule::all_of(object))
}

#[cfg(test)]
mod tests;
