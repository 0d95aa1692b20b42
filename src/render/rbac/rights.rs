//! The table of least privilege: which part of a description needs which right, and where.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::rbac::v1::PolicyRule;

use crate::model::{Description, Kind, LookIn, ObjectKind, Scope, StateKind, Webhooks};

/// All that an operator may do.
#[derive(Default)]
pub(super) struct Rights {
    /// In the whole cluster.
    pub cluster: Rules,
    /// In single namespaces.
    pub namespaces: BTreeMap<String, Rules>,
}

/// Rights in one place, each said once.
#[derive(Default)]
pub(super) struct Rules(BTreeMap<Target, BTreeSet<String>>);

/// What a right is for.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Target {
    group: String,
    /// With its subresource: `pods/exec`.
    resource: String,
    /// All objects, when empty.
    names: Vec<String>,
}

/// Where a right is needed.
enum Place<'a> {
    /// Objects that live in no namespace.
    Cluster,
    /// Objects of every namespace that the operator works in.
    Everywhere,
    /// Objects of this one.
    Namespace(&'a str),
}

impl Rights {
    /// The rights that a description needs.
    pub fn of(description: &Description) -> Self {
        let mut rights = Rights::default();
        for kind in &description.kinds {
            rights.add_kind(description, kind);
            rights.add_others(description, kind);
            rights.add_webhooks(description, &kind.webhooks);
        }
        rights.add_leases(description);
        rights
    }

    fn add(&mut self, description: &Description, place: Place<'_>, target: Target, verbs: &[&str]) {
        let namespaces: Vec<&str> = match place {
            Place::Cluster => Vec::new(),
            Place::Everywhere => description
                .deploy
                .namespaces
                .iter()
                .map(|name| name.as_str())
                .collect(),
            Place::Namespace(name) => vec![name],
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

    /// The operator's own kind, its status, and the events about its objects.
    fn add_kind(&mut self, description: &Description, kind: &Kind) {
        let resource = &kind.resource;
        let is_cluster = resource.scope.value == Scope::Cluster;
        let place = || {
            if is_cluster {
                Place::Cluster
            } else {
                Place::Everywhere
            }
        };
        let (group, plural) = (resource.group.as_str(), resource.plural.as_str());
        let mut verbs = vec!["get", "list", "watch"];
        if kind.machine.deletion.is_some() {
            // The finalizer. The API has no narrower right for it.
            verbs.push("patch");
        }
        if ends_by_itself(kind) {
            verbs.push("delete");
        }
        self.add(description, place(), Target::of(group, plural), &verbs);
        self.add(
            description,
            place(),
            Target::of(group, &format!("{plural}/status")),
            &["patch"],
        );
        // Events about objects without a namespace are kept in `default`.
        let events = if is_cluster {
            Place::Namespace("default")
        } else {
            Place::Everywhere
        };
        self.add(
            description,
            events,
            Target::of("events.k8s.io", "events"),
            &["create", "patch"],
        );
    }

    /// Kinds that are created, looked at, or named by `access`.
    fn add_others(&mut self, description: &Description, kind: &Kind) {
        for owned in &kind.owns {
            let place = place_of(kind, &owned.kind, None);
            let verbs = ["get", "list", "watch", "create", "patch", "delete"];
            self.add(description, place, Target::all(&owned.kind), &verbs);
        }
        for watch in &kind.watches {
            let place = place_of(
                kind,
                &watch.kind,
                watch.namespace.as_ref().map(|look_in| &look_in.value),
            );
            self.add(description, place, Target::all(&watch.kind), &["list", "watch"]);
        }
        for access in &kind.access {
            let mut target = Target::all(&access.kind);
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

    /// Certificates that the operator makes itself: where the API server learns of them, and where they are kept.
    fn add_webhooks(&mut self, description: &Description, webhooks: &Webhooks) {
        const GROUP: &str = "admissionregistration.k8s.io";
        let operator = description.operator.as_str();
        let configurations = [
            (webhooks.validate.is_some(), "validatingwebhookconfigurations"),
            (webhooks.mutate.is_some(), "mutatingwebhookconfigurations"),
        ];
        for (_, resource) in configurations.into_iter().filter(|(is_wanted, _)| *is_wanted) {
            let target = Target::of(GROUP, resource).named(vec![operator.to_owned()]);
            self.add(description, Place::Cluster, target, &["get", "patch"]);
        }
        if configurations.iter().any(|(is_wanted, _)| *is_wanted) {
            let target = Target::of("", "secrets").named(vec![format!("{operator}-webhook")]);
            self.add(
                description,
                Place::Namespace(operator),
                target,
                &["get", "create", "update"],
            );
        }
    }

    /// The Leases of a leader or of shards, in the operator's own namespace.
    fn add_leases(&mut self, description: &Description) {
        let operator = description.operator.as_str();
        let deploy = &description.deploy;
        let names = if let Some(shards) = &deploy.shards {
            let count = shards.value;
            (0..count)
                .map(|shard| format!("{operator}-{shard}-of-{count}"))
                .collect()
        } else if deploy.leader_election.as_ref().is_some_and(|wanted| wanted.value) {
            vec![operator.to_owned()]
        } else {
            return;
        };
        let target = Target::of("coordination.k8s.io", "leases").named(names);
        self.add(
            description,
            Place::Namespace(operator),
            target,
            &["get", "create", "update"],
        );
    }
}

/// Whether the runtime deletes objects: a final state that ordinary life, and not deletion, leads to.
fn ends_by_itself(kind: &Kind) -> bool {
    kind.states
        .iter()
        .any(|state| state.kind.value == StateKind::Final && !state.on_deletion_path)
}

/// Where the rights to another kind are needed. One of unknown scope is taken to live where objects of the kind that
/// names it can find it.
fn place_of<'a>(kind: &Kind, other: &ObjectKind, look_in: Option<&'a LookIn>) -> Place<'a> {
    let is_cluster = match other.scope {
        Some(scope) => scope == Scope::Cluster,
        None => kind.resource.scope.value == Scope::Cluster && look_in.is_none(),
    };
    match look_in {
        _ if is_cluster => Place::Cluster,
        Some(LookIn::Name(namespace)) => Place::Namespace(namespace.as_str()),
        Some(LookIn::Path(_)) | None => Place::Everywhere,
    }
}

impl Target {
    fn of(group: &str, resource: &str) -> Self {
        Target {
            group: group.to_owned(),
            resource: resource.to_owned(),
            names: Vec::new(),
        }
    }

    fn all(kind: &ObjectKind) -> Self {
        Target::of(&kind.group, kind.plural.as_str())
    }

    fn named(self, names: Vec<String>) -> Self {
        Target { names, ..self }
    }
}

impl Rules {
    fn add(&mut self, target: Target, verbs: &[&str]) {
        self.0
            .entry(target)
            .or_default()
            .extend(verbs.iter().map(|verb| (*verb).to_owned()));
    }

    /// Whether nothing is allowed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One rule for all resources of a group with the same verbs.
    pub fn policy(&self) -> Vec<PolicyRule> {
        /// Group, names and verbs.
        type Right<'a> = (&'a str, &'a [String], Vec<&'a str>);
        let mut rules: BTreeMap<Right<'_>, Vec<String>> = BTreeMap::new();
        for (target, verbs) in &self.0 {
            let mut verbs: Vec<&str> = verbs.iter().map(String::as_str).collect();
            verbs.sort_by_key(|verb| (order(verb), *verb));
            rules
                .entry((&target.group, &target.names, verbs))
                .or_default()
                .push(target.resource.clone());
        }
        let rule = |((group, names, verbs), resources): (Right<'_>, _)| PolicyRule {
            api_groups: Some(vec![group.to_owned()]),
            resources: Some(resources),
            resource_names: (!names.is_empty()).then(|| names.to_vec()),
            verbs: verbs.into_iter().map(str::to_owned).collect(),
            non_resource_urls: None,
        };
        rules.into_iter().map(rule).collect()
    }
}

/// Verbs in the order in which Kubernetes' own roles name them; others behind, by name.
fn order(verb: &str) -> usize {
    const ORDER: [&str; 8] = [
        "get",
        "list",
        "watch",
        "create",
        "update",
        "patch",
        "delete",
        "deletecollection",
    ];
    ORDER
        .iter()
        .position(|known| *known == verb)
        .unwrap_or(ORDER.len())
}
