//! Nobody grants what they do not have, after the storages `policybased` of `pkg/registry/rbac`: roles and bindings may only
//! be written by those who have the rules in them, or who may `escalate` or `bind` these roles.

use super::{Attributes, GROUP, Missing, Reference, Rule, about, authorize, rule, rules_of, rules_of_role};
use crate::{
    object::{at, set_meta},
    refusal::{About, Refusal},
    state::State,
    store::{Key, ResourceId},
    users::{MASTERS, User},
};
use serde_json::Value as Json;

/// A write of a role or a binding.
struct Write<'a> {
    state: &'a State,
    resource: &'a ResourceId,
    /// The namespace and the name in the request; the name is empty for a new object.
    key: &'a Key,
    user: &'a User,
}

/// Checks a new role or binding; other objects pass.
///
/// # Errors
///
/// If the user would grant more than it has.
pub(crate) fn check_create(
    state: &State,
    resource: &ResourceId,
    key: &Key,
    new: &Json,
    user: &User,
) -> Result<(), Refusal> {
    Write {
        state,
        resource,
        key,
        user,
    }
    .check(new, None)
}

/// Checks a changed role or binding; other objects pass, and so do changes that only let an object go.
///
/// # Errors
///
/// If the user would grant more than it has.
pub(crate) fn check_update(
    state: &State,
    resource: &ResourceId,
    key: &Key,
    (old, new): (&Json, &Json),
    user: &User,
) -> Result<(), Refusal> {
    Write {
        state,
        resource,
        key,
        user,
    }
    .check(new, Some(old))
}

impl Write<'_> {
    fn check(&self, new: &Json, old: Option<&Json>) -> Result<(), Refusal> {
        if self.resource.group != GROUP || !self.state.rbac || self.user.is_in(MASTERS) {
            return Ok(());
        }
        if old.is_some_and(|old| only_lets_go(old, new)) {
            return Ok(());
        }
        match self.resource.resource.as_str() {
            "roles" | "clusterroles" => self.check_role(new, old),
            "rolebindings" | "clusterrolebindings" => self.check_binding(new),
            _ => Ok(()),
        }
    }

    fn may(&self, verb: &str, resource: &str, name: &str) -> bool {
        let asked = Attributes {
            verb: verb.to_owned(),
            group: GROUP.to_owned(),
            resource: resource.to_owned(),
            namespace: self.key.namespace.clone(),
            name: name.to_owned(),
            ..Attributes::default()
        };
        authorize(self.state, self.user, &asked).allowed
    }

    fn check_role(&self, new: &Json, old: Option<&Json>) -> Result<(), Refusal> {
        if self.may("escalate", &self.resource.resource, &self.key.name) {
            return Ok(());
        }
        self.confirm(&Rule::all_of(new), new)?;
        // A role that gathers the rules of others may gather anything.
        if (aggregates(new) || old.is_some_and(aggregates)) && self.confirm(&Rule::everything(), new).is_err()
        {
            let why = "must have cluster-admin privileges to use the aggregationRule";
            return Err(Refusal::forbidden(about(&self.resource.resource, new), why));
        }
        Ok(())
    }

    fn check_binding(&self, new: &Json) -> Result<(), Refusal> {
        let role = Reference::of(new);
        if role
            .resource()
            .is_some_and(|resource| self.may("bind", resource, role.name))
        {
            return Ok(());
        }
        let namespace = &self.key.namespace;
        let rules = rules_of_role(self.state, &role, namespace).map_err(|Missing| match role.resource() {
            // The API server names the resource of the request here.
            Some(_) => Refusal::not_found(About::new(GROUP, &self.resource.resource, role.name)),
            None => Refusal {
                reason: "",
                message: format!("unsupported role reference kind: {:?}", role.kind),
                ..Refusal::internal("")
            },
        })?;
        self.confirm(&rules, new)
    }

    /// The user has to have all of the rules.
    fn confirm(&self, rules: &[Rule], new: &Json) -> Result<(), Refusal> {
        let granted = rules_of(self.state, self.user, &self.key.namespace);
        let own: Vec<Rule> = granted.rules.into_iter().map(|(_, rule)| rule).collect();
        let missing = rule::missing(&own, rules);
        if missing.is_empty() {
            return Ok(());
        }
        let User { name, groups, .. } = self.user;
        let mut why = format!(
            "user {name:?} (groups={}) is attempting to grant RBAC permissions not currently held:\n{}",
            rule::quoted(groups),
            missing.join("\n")
        );
        if !granted.errors.is_empty() {
            why = format!("{why}; resolution errors: [{}]", granted.errors.join(", "));
        }
        Err(Refusal::forbidden(about(&self.resource.resource, new), &why))
    }
}

fn aggregates(role: &Json) -> bool {
    at(role, &["aggregationRule", "clusterRoleSelectors"])
        .as_array()
        .is_some_and(|list| !list.is_empty())
}

/// Whether a change is only one of those by which the garbage collector lets objects go.
fn only_lets_go(old: &Json, new: &Json) -> bool {
    let mut same = new.clone();
    for key in ["ownerReferences", "finalizers", "managedFields"] {
        set_meta(&mut same, key, at(old, &["metadata", key]).clone());
    }
    same == *old
}
