//! The rights that an operator needs, and whether it has them.

use serde_json::{Value as Json, json};

use super::{Facts, Fault, Grant, Outcome, Right, Site};
use crate::model::Description;
use crate::observed::{Lookup, items, name};
use crate::render::rbac::rights::{Permissions, Rules};

const MANIFEST: &str = "deploy/rbac.yaml";

/// All rights of an operator that runs in a namespace: those of its ClusterRole, and those of a Role in each of several
/// namespaces.
pub(crate) fn needed(description: &Description, namespace: &str) -> Vec<(Option<String>, Vec<Right>)> {
    let permissions = Permissions::of(description);
    // The rights are generated for the namespace of the description, but the operator may be installed in another one.
    let moved = |name: &str| match name == description.namespace {
        true => namespace.to_owned(),
        false => name.to_owned(),
    };
    let rights = |rules: &Rules| {
        let targets = rules.0.iter();
        let rights = targets.flat_map(|(target, verbs)| {
            let name = target.name.as_deref().map(|name| match target.resource.as_str() {
                "namespaces" => moved(name),
                _ => name.to_owned(),
            });
            verbs.iter().map(move |verb| Right {
                group: target.group.clone(),
                resource: target.resource.clone(),
                name: name.clone(),
                verb: verb.clone(),
            })
        });
        rights.collect::<Vec<_>>()
    };
    let namespaces = permissions.namespaces.iter();
    let namespaces = namespaces.map(|(name, rules)| (Some(moved(name)), rights(rules)));
    std::iter::once((None, rights(&permissions.cluster)))
        .chain(namespaces)
        .collect()
}

impl Right {
    /// The SubjectAccessReview that checks whether the operator has this right.
    pub(crate) fn review(&self, site: &Site, namespace: Option<&str>) -> Json {
        let (resource, subresource) = self.resource.split_once('/').unwrap_or((&self.resource, ""));
        json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {
                "user": format!("system:serviceaccount:{}:{}", site.namespace, site.operator),
                "groups": ["system:serviceaccounts", format!("system:serviceaccounts:{}", site.namespace), "system:authenticated"],
                "resourceAttributes": {
                    "group": self.group,
                    "resource": resource,
                    "subresource": subresource,
                    "name": self.name.as_deref().unwrap_or_default(),
                    "namespace": namespace.unwrap_or_default(),
                    "verb": self.verb,
                },
            },
        })
    }
}

/// Whether the operator has all rights. A fault names the role or binding that should grant the missing ones.
pub(super) fn judge(site: &Site, facts: &Facts) -> Outcome {
    let mut faults = Vec::new();
    if facts.account == Lookup::Absent {
        let what = format!(
            "there is no ServiceAccount `{}` in the namespace `{}`",
            site.operator, site.namespace
        );
        faults.push(Fault::run(what, site.apply(MANIFEST)));
    }
    for grant in &facts.grants {
        let mut missing: Vec<&Right> = Vec::new();
        for (right, allowed) in &grant.rights {
            match allowed {
                Ok(true) => {}
                Ok(false) => missing.push(right),
                Err(why) => {
                    return Outcome::Skipped(format!("cannot determine the rights of the operator: {why}"));
                }
            }
        }
        if !missing.is_empty() {
            faults.push(Fault::run(why(site, grant, &missing), site.apply(MANIFEST)));
        }
    }
    Outcome::of(faults)
}

/// The reason why rights are missing.
fn why(site: &Site, grant: &Grant, missing: &[&Right]) -> String {
    let (kind, place) = match &grant.namespace {
        None => ("ClusterRole", String::new()),
        Some(namespace) => ("Role", format!(" in the namespace `{namespace}`")),
    };
    let operator = &site.operator;
    let is_bound = |binding: &Json| {
        let mut subjects = items(binding, "/subjects").iter();
        let names_us = |subject: &Json| {
            subject["kind"] == "ServiceAccount"
                && subject["name"] == **operator
                && subject["namespace"] == *site.namespace
        };
        subjects.any(names_us)
            && binding["roleRef"]["kind"] == kind
            && binding["roleRef"]["name"] == **operator
    };
    match (&grant.binding, &grant.role) {
        (Lookup::Absent, _) => format!(
            "the {kind}Binding `{operator}`{place} does not exist, so the operator has none of the rights of the {kind}"
        ),
        (Lookup::There(binding), _) if !is_bound(binding) => format!(
            "the {kind}Binding `{}`{place} does not bind the {kind} to the ServiceAccount `{operator}` of the namespace `{}`",
            name(binding),
            site.namespace
        ),
        (_, Lookup::Absent) => format!("the {kind} `{operator}`{place} does not exist"),
        _ => format!(
            "the {kind} `{operator}`{place} is outdated or was edited: it lacks {}",
            in_words(missing)
        ),
    }
}

/// Rights in the notation of kubectl's `auth can-i`: `create,update leases.coordination.k8s.io/moose-operator`.
fn in_words(rights: &[&Right]) -> String {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for right in rights {
        let group = if right.group.is_empty() {
            String::new()
        } else {
            format!(".{}", right.group)
        };
        let (resource, sub) = right
            .resource
            .split_once('/')
            .map_or((&*right.resource, String::new()), |(resource, sub)| {
                (resource, format!("/{sub}"))
            });
        let name = right
            .name
            .as_ref()
            .map_or(String::new(), |name| format!(" {name}"));
        let target = format!("{resource}{group}{sub}{name}");
        match groups.iter_mut().find(|(known, _)| *known == target) {
            Some((_, verbs)) => verbs.push(&right.verb),
            None => groups.push((target, vec![&right.verb])),
        }
    }
    let groups = groups
        .into_iter()
        .map(|(target, verbs)| format!("{} {target}", verbs.join(",")));
    groups.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_follow_an_operator_to_the_namespace_that_it_was_installed_in() {
        let text = "krator: 1\noperator: zoo\nresource: {group: example.com, version: v1, kind: Elk}\nspec: {a: string}\n\
                    machine: {initial: Rest}\nstates: {Rest: {kind: ready}}\ndeploy: {namespaces: [zoo]}\n";
        let description = crate::check("krator.yaml", text.as_bytes()).description;
        let needed = needed(&description.expect("it has no errors"), "elsewhere");
        let lease = |(_, rights): &&(_, Vec<Right>)| rights.iter().any(|right| right.resource == "leases");
        let of_lease = needed
            .iter()
            .find(lease)
            .and_then(|(namespace, _)| namespace.as_deref());
        assert_eq!(of_lease, Some("elsewhere"));
        assert!(
            needed
                .iter()
                .any(|(namespace, _)| namespace.as_deref() == Some("zoo"))
        );
    }
}
