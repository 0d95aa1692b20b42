//! The rights that each part of a description needs, and their scopes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};

use crate::render::webhooks;

use crate::model::{
    Certificates, ChildDeletion, Description, Kind, LookIn, ObjectKind, Scope, StateKind, WatchBy,
};
use crate::names::VERBS;
use crate::policies::OPERATE;

/// All rights of an operator.
#[derive(Default)]
pub(crate) struct Permissions {
    /// In the whole cluster.
    pub cluster: Rules,
    /// In single namespaces.
    pub namespaces: BTreeMap<String, Rules>,
}

/// The verbs that are allowed for each target, in one scope.
#[derive(Default)]
pub(crate) struct Rules(pub(crate) BTreeMap<RuleTarget, BTreeSet<String>>);

/// The objects that a right applies to.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RuleTarget {
    pub group: String,
    /// The plural, with its subresource if any, such as `pods/exec`.
    pub resource: String,
    /// The name of the object, if the right is limited to one object.
    pub name: Option<String>,
}

/// The scope in which a right is needed.
#[derive(Clone, Copy)]
enum RuleScope<'a> {
    /// Objects without a namespace.
    Cluster,
    /// Objects in every namespace that the operator watches.
    Everywhere,
    /// Objects in this namespace.
    Namespace(&'a str),
}

impl RuleScope<'_> {
    /// The scope in which the rights on the objects of a kind are needed.
    fn of(kind: &Kind) -> Self {
        match kind.resource.scope.value {
            Scope::Cluster => RuleScope::Cluster,
            Scope::Namespaced => RuleScope::Everywhere,
        }
    }
}

impl Permissions {
    /// The rights that a description needs.
    pub fn of(description: &Description) -> Self {
        let mut rights = Permissions::default();
        rights.add_reviews();
        for kind in &description.kinds {
            rights.add_kind(description, kind);
            rights.add_others(description, kind);
        }
        rights.add_process(description);
        rights
    }

    /// The rights that `others` does not contain, in words: verbs and their targets.
    pub fn beyond(&self, others: &Permissions) -> Vec<String> {
        let namespaces = self.namespaces.iter().map(|(name, rules)| {
            let place = format!(" in the namespace `{name}`");
            (place, rules, others.namespaces.get(name))
        });
        let places = std::iter::once((String::new(), &self.cluster, Some(&others.cluster))).chain(namespaces);
        let rights = places.flat_map(|(place, rules, others)| {
            rules.0.iter().filter_map(move |(target, verbs)| {
                let known = others.and_then(|others| others.0.get(target));
                let is_new = |verb: &&String| !known.is_some_and(|known| known.contains(*verb));
                let verbs: Vec<String> = verbs
                    .iter()
                    .filter(is_new)
                    .map(|verb| format!("`{verb}`"))
                    .collect();
                let one = target
                    .name
                    .iter()
                    .map(|name| format!(" `{name}`"))
                    .collect::<String>();
                let (plural, below) = match target.resource.split_once('/') {
                    Some((plural, below)) => (plural, format!("/{below}")),
                    None => (target.resource.as_str(), String::new()),
                };
                let dot = if target.group.is_empty() { "" } else { "." };
                let resource = format!("{plural}{dot}{}{below}", target.group);
                (!verbs.is_empty()).then(|| format!("{} of `{resource}`{one}{place}", verbs.join(", ")))
            })
        });
        rights.collect()
    }

    fn add(&mut self, description: &Description, place: RuleScope<'_>, target: RuleTarget, verbs: &[&str]) {
        let namespaces: Vec<&str> = match place {
            RuleScope::Cluster => Vec::new(),
            RuleScope::Everywhere => description
                .deploy
                .namespaces
                .iter()
                .map(|name| name.as_str())
                .collect(),
            RuleScope::Namespace(name) => vec![name],
        };
        if namespaces.is_empty() {
            self.cluster.add(target, verbs);
            return;
        }
        for namespace in namespaces {
            self.namespaces
                .entry(namespace.to_owned())
                .or_default()
                .add(target.clone(), verbs);
        }
    }

    /// Reviews of tokens and of access, for readers of the metrics. These requests have no namespace.
    fn add_reviews(&mut self) {
        for (group, resource) in [
            ("authentication.k8s.io", "tokenreviews"),
            ("authorization.k8s.io", "subjectaccessreviews"),
        ] {
            self.cluster.add(RuleTarget::of(group, resource), &["create"]);
        }
    }

    /// The operator's own kind, its status, and the events about its objects.
    fn add_kind(&mut self, description: &Description, kind: &Kind) {
        let resource = &kind.resource;
        let (group, plural) = (resource.group.as_str(), resource.plural.as_str());
        let mut verbs = vec!["get", "list", "watch"];
        if kind.machine.deletion.is_some() {
            // The verb for the finalizer. The API has no narrower right for it.
            verbs.push("patch");
        }
        if ends_by_itself(kind) {
            verbs.push("delete");
        }
        if kind.admission.status.is_some() {
            verbs.push(OPERATE);
        }
        let place = RuleScope::of(kind);
        self.add(description, place, RuleTarget::of(group, plural), &verbs);
        let status = RuleTarget::of(group, &format!("{plural}/status"));
        self.add(description, place, status, &["patch"]);
        // The API server stores events about objects without a namespace in `default`.
        let place = match resource.scope.value {
            Scope::Cluster => RuleScope::Namespace("default"),
            Scope::Namespaced => RuleScope::Everywhere,
        };
        let events = RuleTarget::of("events.k8s.io", "events");
        self.add(description, place, events, &["create", "patch"]);
    }

    /// The rights of the process itself, which do not depend on its kinds.
    fn add_process(&mut self, description: &Description) {
        if description.deploy.leader_election.value {
            let operator = description.operator.as_str();
            let lease = RuleTarget::one("coordination.k8s.io", "leases", operator);
            // A PUT creates the Lease, because a plain create cannot be limited to a name.
            let verbs = ["get", "create", "update"];
            self.add(
                description,
                RuleScope::Namespace(&description.namespace),
                lease,
                &verbs,
            );
        }
        if description.has_webhooks() && description.deploy.certificates == Certificates::Own {
            self.add_certificates(description);
        }
        if description.deploy.migrate {
            self.add_migration(description);
        }
        // The operator checks at its start that its namespaces exist.
        for namespace in &description.deploy.namespaces {
            let name = namespace.as_str();
            let target = RuleTarget::one("", "namespaces", name);
            self.add(description, RuleScope::Namespace(name), target, &["get"]);
        }
    }

    /// The migration of the stored objects of all kinds with several versions: all objects in the namespaces of the
    /// operator.
    fn add_migration(&mut self, description: &Description) {
        for kind in description.kinds.iter().filter(|kind| !kind.versions.is_empty()) {
            let name = kind.resource.definition();
            let resource = "customresourcedefinitions";
            let definition = RuleTarget::one("apiextensions.k8s.io", resource, &name);
            let status = RuleTarget::one("apiextensions.k8s.io", &format!("{resource}/status"), &name);
            let objects = RuleTarget::of(kind.resource.group.as_str(), kind.resource.plural.as_str());
            self.cluster.add(definition, &["get", "patch"]);
            self.cluster.add(status, &["patch"]);
            self.cluster.add(objects, &["get", "list", "patch"]);
        }
    }

    /// The certificates of the webhooks, and the objects in which the API server finds the CA bundle.
    fn add_certificates(&mut self, description: &Description) {
        let operator = description.operator.as_str();
        let secret = RuleTarget::one("", "secrets", &crate::crd::webhook_service(operator));
        // An apply creates the Secret, because a plain create cannot be limited to a name.
        let verbs = ["list", "watch", "create", "patch", "update"];
        self.add(
            description,
            RuleScope::Namespace(&description.namespace),
            secret,
            &verbs,
        );
        for (_, resource) in webhooks::configurations(description) {
            let target = RuleTarget::one("admissionregistration.k8s.io", resource, operator);
            // OpenShift requires the right to delete an object before its owner may be set.
            let verbs = ["list", "watch", "patch", "delete"];
            self.add(description, RuleScope::Cluster, target, &verbs);
        }
        for kind in description.kinds.iter().filter(|kind| kind.converts()) {
            let name = kind.resource.definition();
            let target = RuleTarget::one("apiextensions.k8s.io", "customresourcedefinitions", &name);
            self.add(
                description,
                RuleScope::Cluster,
                target,
                &["list", "watch", "patch"],
            );
        }
        // The configurations are owned by the namespace, whose uid is read, so that they are deleted with it.
        let namespace = RuleTarget::one("", "namespaces", &description.namespace);
        self.add(description, RuleScope::Cluster, namespace, &["get"]);
    }

    /// The kinds in `owns`, `watches` and `access`.
    fn add_others(&mut self, description: &Description, kind: &Kind) {
        for owned in &kind.owns {
            let place = place_of(kind, &owned.kind, None);
            let verbs = ["get", "list", "watch", "create", "patch", "delete"];
            self.add(description, place, RuleTarget::all(&owned.kind), &verbs);
        }
        let mut owns = kind.owns.iter();
        if owns.any(|owned| owned.deletion.value == ChildDeletion::Owner) {
            // An owner reference that blocks the deletion of the owner requires the right to set finalizers if the
            // admission plugin OwnerReferencesPermissionEnforcement is on, as on OpenShift.
            let resource = &kind.resource;
            let finalizers = format!("{}/finalizers", resource.plural.as_str());
            let target = RuleTarget::of(resource.group.as_str(), &finalizers);
            self.add(description, RuleScope::of(kind), target, &["update"]);
        }
        for watch in &kind.watches {
            let look_in = watch.namespace.as_ref().map(|look_in| &look_in.value);
            let place = place_of(kind, &watch.kind, look_in);
            let verbs: &[&str] = match watch.by {
                WatchBy::All => &["list", "watch"],
                // Only metadata is watched, and objects that handlers need are read.
                WatchBy::Path(_) | WatchBy::Label(_) => &["get", "list", "watch"],
            };
            self.add(description, place, RuleTarget::all(&watch.kind), verbs);
        }
        for access in &kind.access {
            let mut target = RuleTarget::all(&access.kind);
            if let Some(grant) = &access.resource {
                target.resource = match &grant.subresource {
                    Some(subresource) => format!("{}/{subresource}", grant.plural),
                    None => grant.plural.to_string(),
                };
            }
            let verbs: Vec<&str> = access.verbs.iter().map(|verb| verb.as_str()).collect();
            self.add(description, place_of(kind, &access.kind, None), target, &verbs);
        }
    }
}

/// Whether the runtime deletes objects, which it does in final states outside of the deletion path.
fn ends_by_itself(kind: &Kind) -> bool {
    kind.states
        .iter()
        .any(|state| state.kind.value == StateKind::Final && !state.on_deletion_path)
}

/// The scope in which the rights to another kind are needed. An unknown scope is assumed to be that of the kind that
/// refers to it.
fn place_of<'a>(kind: &Kind, other: &ObjectKind, look_in: Option<&'a LookIn>) -> RuleScope<'a> {
    match look_in {
        _ if other.scope.unwrap_or(kind.resource.scope.value) == Scope::Cluster => RuleScope::Cluster,
        Some(LookIn::Name(namespace)) => RuleScope::Namespace(namespace.as_str()),
        Some(LookIn::Path(_)) | None => RuleScope::Everywhere,
    }
}

impl RuleTarget {
    fn of(group: &str, resource: &str) -> Self {
        RuleTarget {
            group: group.to_owned(),
            resource: resource.to_owned(),
            name: None,
        }
    }

    fn one(group: &str, resource: &str, name: &str) -> Self {
        RuleTarget {
            name: Some(name.to_owned()),
            ..RuleTarget::of(group, resource)
        }
    }

    fn all(kind: &ObjectKind) -> Self {
        RuleTarget::of(&kind.group, kind.plural.as_str())
    }
}

impl Rules {
    fn add(&mut self, target: RuleTarget, verbs: &[&str]) {
        self.0
            .entry(target)
            .or_default()
            .extend(verbs.iter().map(|verb| (*verb).to_owned()));
    }

    /// The rules of a role. Resources of the same group with the same verbs share one rule.
    pub fn policy(&self) -> Vec<Json> {
        /// Group, name and verbs.
        type Right<'a> = (&'a str, Option<&'a str>, Vec<&'a str>);
        let mut rules: BTreeMap<Right<'_>, Vec<String>> = BTreeMap::new();
        for (target, verbs) in &self.0 {
            let mut verbs: Vec<&str> = verbs.iter().map(String::as_str).collect();
            verbs.sort_by_key(|verb| (order(verb), *verb));
            rules
                .entry((&target.group, target.name.as_deref(), verbs))
                .or_default()
                .push(target.resource.clone());
        }
        let rule = |((group, name, verbs), resources): (Right<'_>, _)| match name {
            Some(name) => {
                json!({"apiGroups": [group], "resourceNames": [name], "resources": resources, "verbs": verbs})
            }
            None => json!({"apiGroups": [group], "resources": resources, "verbs": verbs}),
        };
        rules.into_iter().map(rule).collect()
    }
}

/// The position of a verb among [`VERBS`]. Other verbs come last.
fn order(verb: &str) -> usize {
    VERBS
        .iter()
        .position(|known| *known == verb)
        .unwrap_or(VERBS.len())
}
