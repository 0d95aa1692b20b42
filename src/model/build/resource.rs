//! The custom resource and what surrounds it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::bounds::is_quantity;
use super::keys::{Keys, Sink, boolean, count, duration, entries, list, name, named, text, word};
use super::paths::{Fields, Leaf};
use super::schema::kubernetes_reference;
use crate::finding::{Finding, Span, Spanned, shown};
use crate::model::{
    Access, Allow, Column, ColumnType, DeclaredCondition, Deploy, FailurePolicy, Grant, KindId, LookIn,
    MatchCondition, ObjectKind, Operation, Owned, PodResources, Resource, Scale, Scope, Watch, WatchBy,
    Webhook, Webhooks, kubernetes,
};
use crate::names::{
    Category, ColumnName, ConditionName, GroupName, KindName, LabelKey, NamespaceName, ResourceName, Verb,
    VersionName, plural,
};
use crate::rules::syntax::{
    INVALID_NAME, INVALID_SCHEMA, MISSING_KEY, UNKNOWN_KIND, WILDCARD_ACCESS, WRONG_TYPE,
};
use crate::spec::Node;

/// Reads `resource`, but for its paths, which need the schema.
pub(super) fn resource(node: &Node, sink: &mut Sink<'_>) -> Option<Resource> {
    let mut keys = Keys::of(node, "`resource`", sink)?;
    let group = keys
        .need("group", sink)
        .and_then(|node| name(node, "group", GroupName::parse, sink));
    let version = keys
        .need("version", sink)
        .and_then(|node| name(node, "version", VersionName::parse, sink));
    let kind = keys
        .need("kind", sink)
        .and_then(|node| name(node, "kind", KindName::parse, sink));
    if let Some(group) = &group {
        let is_protected =
            |domain: &str| group.as_str() == domain || group.as_str().ends_with(&format!(".{domain}"));
        if is_protected("k8s.io") || is_protected("kubernetes.io") {
            let message = format!("the group `{}` belongs to Kubernetes", group.value);
            let help = "groups under k8s.io and kubernetes.io need approval; use a domain of your own";
            sink.report(Finding::new(&INVALID_NAME, group.span, message).help(help));
        }
    }
    let plural_node = keys
        .get("plural", sink)
        .and_then(|node| name(node, "plural", ResourceName::parse, sink));
    let singular = keys
        .get("singular", sink)
        .and_then(|node| name(node, "singular", ResourceName::parse, sink));
    let mut texts = |key: &'static str| {
        keys.get(key, sink)
            .map(|node| list(node, "a list of names", sink))
            .unwrap_or_default()
    };
    let (short_nodes, category_nodes) = (texts("shortNames"), texts("categories"));
    let short_names = short_nodes
        .iter()
        .filter_map(|node| name(node, "short", ResourceName::parse, sink))
        .collect();
    let categories = category_nodes
        .iter()
        .filter_map(|node| name(node, "category", Category::parse, sink))
        .collect();
    let scope = keys.get("scope", sink).and_then(|node| {
        word(
            node,
            &[("Namespaced", Scope::Namespaced), ("Cluster", Scope::Cluster)],
            sink,
        )
    });
    // Read later, with the schema at hand.
    keys.entry("scale");
    keys.entry("selectableFields");
    let span = keys.span();
    keys.finish(sink);

    let kind = kind?;
    let default = |text: String| {
        // A kind of 63 letters has a plural that is too long to be one.
        ResourceName::parse(&text)
            .ok()
            .map(|name| Spanned::new(name, kind.span))
    };
    let plural = plural_node.or_else(|| default(plural(kind.as_str())));
    let singular = singular.or_else(|| default(kind.as_str().to_ascii_lowercase()));
    if plural.is_none() {
        sink.error(
            &MISSING_KEY,
            kind.span,
            "the kind is too long for a plural by default; give it one",
        );
    }
    Some(Resource {
        span,
        group: group?,
        version: version?,
        plural: plural?,
        singular: singular?,
        short_names,
        categories,
        scope: scope.unwrap_or(Spanned::new(Scope::Namespaced, kind.span)),
        scale: None,
        selectable_fields: Vec::new(),
        kind,
    })
}

/// Reads the paths of `resource`.
pub(super) fn resource_paths(
    node: &Node,
    resource: &mut Resource,
    fields: &Fields<'_, '_>,
    sink: &mut Sink<'_>,
) {
    // What else is under `resource` has been judged before.
    let Some(mut keys) = Keys::of(node, "`resource`", sink) else {
        return;
    };
    if let Some(scale) = keys.get("scale", sink)
        && let Some(mut keys) = Keys::of(scale, "`scale`", sink)
    {
        let counts = &[Leaf::Integer];
        let spec = keys
            .need("spec", sink)
            .and_then(|node| fields.path(node, counts, sink));
        let status = keys
            .need("status", sink)
            .and_then(|node| fields.path(node, counts, sink));
        let selector = keys
            .get("selector", sink)
            .and_then(|node| fields.path(node, &[Leaf::Text], sink));
        keys.finish(sink);
        resource.scale = spec.zip(status).map(|(spec, status)| Scale {
            spec,
            status,
            selector,
        });
    }
    if let Some(node) = keys.get("selectableFields", sink) {
        let simple = &[
            Leaf::Text,
            Leaf::Integer,
            Leaf::Boolean,
            Leaf::DateTime,
            Leaf::Duration,
        ];
        let paths = list(node, "a list of paths", sink);
        if paths.len() > 8 {
            sink.error(
                &WRONG_TYPE,
                node.span,
                "the API takes at most 8 selectable fields",
            );
        }
        resource.selectable_fields = paths
            .iter()
            .filter_map(|node| fields.path(node, simple, sink))
            .collect();
    }
}

/// Reads `columns`.
pub(super) fn columns(node: &Node, fields: &Fields<'_, '_>, sink: &mut Sink<'_>) -> Vec<Column> {
    const TYPES: [(&str, ColumnType); 5] = [
        ("string", ColumnType::String),
        ("integer", ColumnType::Integer),
        ("number", ColumnType::Number),
        ("boolean", ColumnType::Boolean),
        ("date", ColumnType::Date),
    ];
    let mut columns = Vec::new();
    for item in list(node, "a list of columns", sink) {
        let Some(mut keys) = Keys::of(item, "a column", sink) else {
            continue;
        };
        let head = keys
            .need("name", sink)
            .and_then(|node| name(node, "column", ColumnName::parse, sink));
        let path = keys
            .need("path", sink)
            .and_then(|node| fields.path_and_leaf(node, &[], sink));
        let column_type = keys.get("type", sink).and_then(|node| word(node, &TYPES, sink));
        let priority = keys.get("priority", sink).and_then(|node| count(node, 0, sink));
        let description = keys.get("description", sink).and_then(|node| text(node, sink));
        keys.finish(sink);
        let (Some(name), Some((path, leaf))) = (head, path) else {
            continue;
        };
        let follows = match leaf {
            Leaf::Integer => ColumnType::Integer,
            Leaf::Number => ColumnType::Number,
            Leaf::Boolean => ColumnType::Boolean,
            Leaf::DateTime => ColumnType::Date,
            Leaf::Text | Leaf::Duration | Leaf::IntOrString | Leaf::List | Leaf::Object | Leaf::Open => {
                ColumnType::String
            }
        };
        columns.push(Column {
            name,
            path,
            column_type: column_type.map_or(follows, |written| written.value),
            priority: priority.map_or(0, |priority| priority.value),
            description,
        });
    }
    columns
}

/// Reads `conditions` of a document.
pub(super) fn conditions(node: &Node, sink: &mut Sink<'_>) -> Vec<DeclaredCondition> {
    entries(node, "conditions by type", sink)
        .iter()
        .filter_map(|entry| {
            let name = named(
                &entry.key,
                entry.key_span,
                "condition",
                ConditionName::parse,
                sink,
            );
            let doc = text(&entry.value, sink);
            let name = name?;
            if is_standard_condition(name.as_str()) {
                let message = format!("the machine itself keeps the condition `{}`", name.value);
                sink.error(&WRONG_TYPE, name.span, message);
                return None;
            }
            Some(DeclaredCondition { name, doc: doc? })
        })
        .collect()
}

/// Whether the machine keeps the condition.
pub(super) fn is_standard_condition(name: &str) -> bool {
    matches!(name, "Ready" | "Reconciling" | "Stalled")
}

/// The kinds that references can mean: those of this file come first.
pub(super) struct Kinds<'m> {
    pub described: &'m [Resource],
}

impl Kinds<'_> {
    /// `group/version.Kind` with the plural that stands beside it, if one does.
    fn reference(
        &self,
        node: &Node,
        plural_node: Option<&Node>,
        sink: &mut Sink<'_>,
    ) -> Option<Spanned<ObjectKind>> {
        let written = text(node, sink)?;
        if written.contains('*') {
            sink.report(
                Finding::new(
                    &WILDCARD_ACCESS,
                    written.span,
                    "`*` grants more than anybody can know",
                )
                .help("name each kind, verb and resource"),
            );
            return None;
        }
        let Some(reference) = kubernetes_reference(&written.value) else {
            let message = format!("`{}` is no reference to a kind", shown(&written.value));
            let help = "a kind is `group/version.Kind`, such as `core/v1.Service` or `apps/v1.Deployment`";
            sink.report(Finding::new(&INVALID_NAME, written.span, message).help(help));
            return None;
        };
        let plural_node = plural_node
            .and_then(|node| name(node, "plural", ResourceName::parse, sink))
            .map(|plural| plural.value);
        let kind = named(&reference.name, written.span, "kind", KindName::parse, sink)?.value;
        named(
            &reference.version,
            written.span,
            "version",
            VersionName::parse,
            sink,
        )?;
        let is_native = kubernetes::has_group(&reference.group);
        if !is_native {
            named(&reference.group, written.span, "group", GroupName::parse, sink)?;
        }
        let described = self.described.iter().position(|resource| {
            resource.group.as_str() == reference.group && resource.kind.as_str() == reference.name
        });
        if let Some(id) = described {
            let resource = &self.described[id];
            if resource.version.as_str() != reference.version {
                let message = format!(
                    "this file describes version `{}` of the kind",
                    resource.version.value
                );
                sink.report(
                    Finding::new(&UNKNOWN_KIND, written.span, message)
                        .related(resource.version.span, "described here"),
                );
            }
            return Some(written.map(|_| ObjectKind {
                group: reference.group,
                version: reference.version,
                kind,
                plural: resource.plural.value.clone(),
                scope: Some(resource.scope.value),
                described: Some(KindId(id)),
                has_type: false,
            }));
        }
        let known = kubernetes::resource(&reference.group, &reference.version, &reference.name);
        if known.is_none() && is_native && kubernetes::has_version(&reference.group, &reference.version) {
            let message = format!("Kubernetes has no kind `{}`", shown(&written.value));
            let candidates: Vec<String> = kubernetes::kinds().collect();
            let suggestion = sink
                .suggest(&written.value, candidates.iter().map(String::as_str))
                .map(str::to_owned);
            sink.report(
                Finding::new(&UNKNOWN_KIND, written.span, message).did_you_mean(suggestion.as_deref()),
            );
            return None;
        }
        let plural = match (plural_node, known) {
            (Some(plural), _) => plural,
            (None, Some((plural, _))) => ResourceName::parse(plural).ok()?,
            (None, None) => ResourceName::parse(&plural(kind.as_str())).ok()?,
        };
        let group = if reference.group == "core" {
            String::new()
        } else {
            reference.group
        };
        Some(written.map(|_| ObjectKind {
            group,
            version: reference.version,
            kind,
            plural,
            scope: known.map(|(_, scope)| scope),
            described: None,
            has_type: known.is_some(),
        }))
    }

    /// A kind where only the reference stands.
    pub fn kind(&self, node: &Node, sink: &mut Sink<'_>) -> Option<Spanned<ObjectKind>> {
        self.reference(node, None, sink)
    }

    /// Reads `owns`.
    pub fn owns(&self, node: &Node, sink: &mut Sink<'_>) -> Vec<Owned> {
        let mut owned: Vec<Owned> = Vec::new();
        let mut seen = BTreeMap::new();
        for item in list(node, "a list of kinds", sink) {
            let kind = if item.scalar().is_some() {
                self.kind(item, sink)
            } else {
                Keys::of(item, "an owned kind", sink).and_then(|mut keys| {
                    let kind = keys.need("kind", sink);
                    let plural = keys.get("plural", sink);
                    keys.finish(sink);
                    self.reference(kind?, plural, sink)
                })
            };
            let Some(kind) = kind else { continue };
            let key = (kind.group.clone(), kind.kind.clone());
            if let Some(first) = seen.get(&key) {
                let message = format!("`{}` is owned twice", kind.reference());
                sink.report(Finding::new(&WRONG_TYPE, kind.span, message).related(*first, "first here"));
                continue;
            }
            seen.insert(key, kind.span);
            owned.push(Owned { kind });
        }
        owned
    }

    /// Reads `watches`.
    pub fn watches(&self, node: &Node, fields: &Fields<'_, '_>, sink: &mut Sink<'_>) -> Vec<Watch> {
        let mut watches = Vec::new();
        for item in list(node, "a list of watched kinds", sink) {
            let Some(mut keys) = Keys::of(item, "a watched kind", sink) else {
                continue;
            };
            let kind_node = keys.need("kind", sink);
            let plural = keys.get("plural", sink);
            let kind = kind_node.and_then(|node| self.reference(node, plural, sink));
            let ways: Vec<&str> = ["by", "label", "all"]
                .into_iter()
                .filter(|key| keys.has(key))
                .collect();
            let head = keys.head();
            match ways[..] {
                [_] => {}
                [] => sink.report(
                    Finding::new(&MISSING_KEY, head, "a watched kind has no `by`")
                        .help("`by: PATH` for objects that a field names, `label: KEY`, or `all: true`"),
                ),
                _ => sink.error(
                    &WRONG_TYPE,
                    head,
                    format!("a watched kind has one of {}", ways.join(", ")),
                ),
            }
            let names = &[Leaf::Text, Leaf::Open];
            let by_path = keys
                .get("by", sink)
                .and_then(|node| watched_path(node, fields, names, sink))
                .map(WatchBy::Path);
            let by_label = keys
                .get("label", sink)
                .and_then(|node| name(node, "label", LabelKey::parse, sink))
                .map(WatchBy::Label);
            let all = keys.get("all", sink).and_then(|node| {
                let all = boolean(node, sink)?;
                if !all.value {
                    sink.error(&WRONG_TYPE, all.span, "`all` is `true` or absent");
                }
                Some(WatchBy::All)
            });
            let namespace = keys.get("namespace", sink).and_then(|node| {
                if node.scalar().is_some_and(|scalar| scalar.text.starts_with('.')) {
                    Some(watched_path(node, fields, names, sink)?.map(LookIn::Path))
                } else {
                    Some(name(node, "namespace", NamespaceName::parse, sink)?.map(LookIn::Name))
                }
            });
            keys.finish(sink);
            if let (Some(kind), Some(by)) = (kind, by_path.or(by_label).or(all)) {
                watches.push(Watch { kind, by, namespace });
            }
        }
        watches
    }

    /// Reads `access`.
    pub fn access(&self, node: &Node, sink: &mut Sink<'_>) -> Vec<Access> {
        let mut access = Vec::new();
        for item in list(node, "a list of rights", sink) {
            let Some(mut keys) = Keys::of(item, "a right", sink) else {
                continue;
            };
            let kind = keys.need("kind", sink).and_then(|node| self.kind(node, sink));
            let verbs: Vec<Spanned<Verb>> = keys
                .need("verbs", sink)
                .map(|node| list(node, "a list of verbs", sink))
                .unwrap_or_default()
                .iter()
                .filter_map(|node| verb(node, sink))
                .collect();
            let resource = keys.get("resource", sink).and_then(|node| grant(node, sink));
            keys.finish(sink);
            if let (Some(kind), false) = (kind, verbs.is_empty()) {
                access.push(Access {
                    kind,
                    verbs,
                    resource,
                });
            }
        }
        access
    }
}

/// A path into `.spec`, `.status` or `.metadata.labels`.
fn watched_path(
    node: &Node,
    fields: &Fields<'_, '_>,
    wanted: &[Leaf],
    sink: &mut Sink<'_>,
) -> Option<Spanned<crate::model::FieldPath>> {
    let path = fields.path(node, wanted, sink)?;
    if path.root == crate::model::PathRoot::Metadata {
        sink.error(
            &WRONG_TYPE,
            path.span,
            "only `.spec`, `.status` and `.metadata.labels` name other objects",
        );
        return None;
    }
    Some(path)
}

fn verb(node: &Node, sink: &mut Sink<'_>) -> Option<Spanned<Verb>> {
    const KNOWN: [&str; 13] = [
        "get",
        "list",
        "watch",
        "create",
        "update",
        "patch",
        "delete",
        "deletecollection",
        "bind",
        "escalate",
        "impersonate",
        "use",
        "approve",
    ];
    if node.scalar().is_some_and(|scalar| scalar.text.contains('*')) {
        sink.report(
            Finding::new(
                &WILDCARD_ACCESS,
                node.span,
                "`*` grants more than anybody can know",
            )
            .help("name each verb"),
        );
        return None;
    }
    let verb = name(node, "verb", Verb::parse, sink)?;
    // Other verbs exist (`sign`, `attest`); a slip of one of these does not.
    if !KNOWN.contains(&verb.as_str())
        && let Some(suggestion) = sink.suggest(verb.as_str(), KNOWN)
    {
        let message = format!("`{}` is no verb", verb.value);
        sink.report(Finding::new(&WRONG_TYPE, verb.span, message).did_you_mean(Some(suggestion)));
    }
    Some(verb)
}

fn grant(node: &Node, sink: &mut Sink<'_>) -> Option<Spanned<Grant>> {
    let written = text(node, sink)?;
    if written.contains('*') {
        sink.report(
            Finding::new(
                &WILDCARD_ACCESS,
                node.span,
                "`*` grants more than anybody can know",
            )
            .help("name each resource"),
        );
        return None;
    }
    let (plural, subresource) = match written.split_once('/') {
        Some((plural, subresource)) => (plural, Some(subresource)),
        None => (written.as_str(), None),
    };
    let plural = named(plural, written.span, "resource", ResourceName::parse, sink)?.value;
    let subresource = match subresource {
        Some(subresource) => Some(
            named(
                subresource,
                written.span,
                "subresource",
                ResourceName::parse,
                sink,
            )?
            .value,
        ),
        None => None,
    };
    Some(written.map(|_| Grant { plural, subresource }))
}

/// Reads `webhooks`.
pub(super) fn webhooks(node: &Node, sink: &mut Sink<'_>) -> Webhooks {
    let Some(mut keys) = Keys::of(node, "`webhooks`", sink) else {
        return Webhooks::default();
    };
    let validate = keys.get("validate", sink).and_then(|node| webhook(node, sink));
    let mutate = keys.get("mutate", sink).and_then(|node| webhook(node, sink));
    keys.finish(sink);
    Webhooks { validate, mutate }
}

fn webhook(node: &Node, sink: &mut Sink<'_>) -> Option<Webhook> {
    let by_default = |operation| Spanned::new(operation, node.span);
    let mut webhook = Webhook {
        span: node.span,
        operations: vec![by_default(Operation::Create), by_default(Operation::Update)],
        failure_policy: FailurePolicy::Fail,
        timeout: Duration::from_secs(10),
        match_conditions: Vec::new(),
    };
    if node.scalar().is_some() {
        return boolean(node, sink)?.value.then_some(webhook);
    }
    let mut keys = Keys::of(node, "a webhook", sink)?;
    if let Some(node) = keys.get("operations", sink) {
        const OPERATIONS: [(&str, Operation); 6] = [
            ("CREATE", Operation::Create),
            ("UPDATE", Operation::Update),
            ("DELETE", Operation::Delete),
            ("create", Operation::Create),
            ("update", Operation::Update),
            ("delete", Operation::Delete),
        ];
        let mut operations: Vec<Spanned<Operation>> = Vec::new();
        for item in list(node, "a list of operations", sink) {
            let Some(operation) = word(item, &OPERATIONS, sink) else {
                continue;
            };
            if !operations.iter().any(|other| other.value == operation.value) {
                operations.push(operation);
            }
        }
        if operations.is_empty() {
            sink.error(
                &WRONG_TYPE,
                node.span,
                "a webhook is called for at least one operation",
            );
        } else {
            webhook.operations = operations;
        }
    }
    let policies = [("Fail", FailurePolicy::Fail), ("Ignore", FailurePolicy::Ignore)];
    if let Some(policy) = keys
        .get("failurePolicy", sink)
        .and_then(|node| word(node, &policies, sink))
    {
        webhook.failure_policy = policy.value;
    }
    if let Some(timeout) = keys.get("timeout", sink).and_then(|node| duration(node, sink)) {
        if timeout.subsec_nanos() != 0 || !(1..=30).contains(&timeout.as_secs()) {
            sink.error(
                &WRONG_TYPE,
                timeout.span,
                "the API server waits for 1 to 30 whole seconds",
            );
        } else {
            webhook.timeout = timeout.value;
        }
    }
    if let Some(node) = keys.get("matchConditions", sink) {
        for item in list(node, "a list of conditions", sink) {
            let Some(mut keys) = Keys::of(item, "a match condition", sink) else {
                continue;
            };
            let name = keys
                .need("name", sink)
                .and_then(|node| name(node, "match condition", LabelKey::parse, sink));
            let expression = keys.need("expression", sink).and_then(|node| text(node, sink));
            keys.finish(sink);
            if let Some((written, slip)) = expression
                .as_ref()
                .and_then(|text| Some((text, super::cel::slip(text)?)))
            {
                sink.report(Finding::new(&INVALID_SCHEMA, written.span, "this is no CEL").label(slip));
            }
            if let (Some(name), Some(expression)) = (name, expression) {
                webhook.match_conditions.push(MatchCondition { name, expression });
            }
        }
    }
    keys.finish(sink);
    Some(webhook)
}

/// What holds without `deploy`.
pub(super) fn default_deploy(span: Span) -> Deploy {
    Deploy {
        replicas: Spanned::new(1, span),
        leader_election: None,
        shards: None,
        namespaces: Vec::new(),
        resources: PodResources::default(),
    }
}

/// Reads `deploy`.
pub(super) fn deploy(node: &Node, sink: &mut Sink<'_>) -> Deploy {
    let mut deploy = default_deploy(node.span);
    let Some(mut keys) = Keys::of(node, "`deploy`", sink) else {
        return deploy;
    };
    if let Some(replicas) = keys.get("replicas", sink).and_then(|node| count(node, 1, sink)) {
        deploy.replicas = replicas;
    }
    deploy.leader_election = keys
        .get("leaderElection", sink)
        .and_then(|node| boolean(node, sink));
    deploy.shards = keys.get("shards", sink).and_then(|node| count(node, 1, sink));
    if let Some(node) = keys.get("namespaces", sink) {
        let mut seen = BTreeSet::new();
        for item in list(node, "a list of namespaces", sink) {
            let Some(namespace) = name(item, "namespace", NamespaceName::parse, sink) else {
                continue;
            };
            if seen.insert(namespace.value.clone()) {
                deploy.namespaces.push(namespace);
            }
        }
    }
    if let Some(node) = keys.get("resources", sink)
        && let Some(mut keys) = Keys::of(node, "`resources`", sink)
    {
        deploy.resources.requests = keys
            .get("requests", sink)
            .map(|node| quantities(node, sink))
            .unwrap_or_default();
        deploy.resources.limits = keys
            .get("limits", sink)
            .map(|node| quantities(node, sink))
            .unwrap_or_default();
        keys.finish(sink);
    }
    keys.finish(sink);
    deploy
}

fn quantities(node: &Node, sink: &mut Sink<'_>) -> Vec<(LabelKey, Spanned<String>)> {
    entries(node, "quantities by resource", sink)
        .iter()
        .filter_map(|entry| {
            let resource = named(&entry.key, entry.key_span, "resource", LabelKey::parse, sink)?;
            let quantity = text(&entry.value, sink)?;
            if !is_quantity(&quantity.value) {
                let message = format!("`{}` is no quantity", shown(&quantity.value));
                sink.error(&WRONG_TYPE, quantity.span, message);
                return None;
            }
            Some((resource.value, quantity))
        })
        .collect()
}

/// Reads `allow`, of a document or a state.
pub(super) fn allow(node: &Node, sink: &mut Sink<'_>) -> Vec<Allow> {
    let mut allowed = Vec::new();
    for entry in entries(node, "reasons by rule", sink) {
        let Some(rule) = crate::rules::named(&entry.key) else {
            let message = format!("there is no rule `{}`", shown(&entry.key));
            let suggestion = sink.suggest(&entry.key, crate::rules::all().map(|rule| rule.name));
            sink.report(
                Finding::new(&crate::rules::syntax::UNKNOWN_KEY, entry.key_span, message)
                    .did_you_mean(suggestion),
            );
            continue;
        };
        if rule.severity == crate::finding::Severity::Error {
            let message = format!("`{}` is an error, which `allow` does not silence", rule.name);
            sink.error(&WRONG_TYPE, entry.key_span, message);
            continue;
        }
        let reason = if entry.value.is_null() {
            None
        } else {
            text(&entry.value, sink)
        };
        match reason.filter(|reason| !reason.trim().is_empty()) {
            Some(reason) => allowed.push(Allow {
                rule: Spanned::new(entry.key.clone(), entry.key_span),
                reason,
            }),
            None => sink.error(
                &MISSING_KEY,
                entry.key_span,
                format!("`{}` is allowed without a reason", rule.name),
            ),
        }
    }
    allowed
}
